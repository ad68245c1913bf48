#include "hilo/core/process_group.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace hilo {

// /proc/PID/stat is "PID (name) state parent group ...". A name may have blanks and brackets.
std::vector<int> processes_of_group(int group) {
  std::vector<int> found;
  for (const std::filesystem::directory_entry& entry :
       std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "stat");
    std::string text;
    std::getline(in, text);
    const std::size_t after_name = text.rfind(')');
    if (after_name == std::string::npos) continue;
    std::istringstream rest(text.substr(after_name + 1));
    std::string state;
    int parent = 0;
    int its_group = 0;
    if (rest >> state >> parent >> its_group && its_group == group && state != "Z" && state != "X")
      found.push_back(std::stoi(pid));
  }
  return found;
}

std::uint64_t memory_of_group(int group) {
  std::uint64_t pages = 0;
  for (const int pid : processes_of_group(group)) {
    std::ifstream in(fmt::format("/proc/{}/statm", pid));
    std::uint64_t all = 0;
    std::uint64_t resident = 0;
    if (in >> all >> resident) pages += resident;
  }
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace hilo
