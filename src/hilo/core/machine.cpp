#include "hilo/core/machine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

namespace hilo {

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

namespace {

std::string read_machine_name() {
  std::ifstream in("/proc/cpuinfo");
  std::string line;
  std::string processor = "unknown processor";
  while (std::getline(in, line))
    if (line.starts_with("model name")) {
      processor = line.substr(std::min(line.size(), line.find(':') + 2));
      break;
    }
  return fmt::format("{}, {} threads", processor, std::thread::hardware_concurrency());
}

}  // namespace

std::string machine_name() {
  static const std::string name = read_machine_name();
  return name;
}

namespace {

// The first number of a file, 0 if there is none.
std::uint64_t number_in(const char* file) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  return in >> value ? value : 0;
}

}  // namespace

std::uint64_t available_memory() {
  std::uint64_t bytes = 0;
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("MemAvailable:")) bytes = std::stoull(line.substr(13)) * 1024;
  // "max" where there is no limit, which is no number.
  const std::uint64_t limit = number_in("/sys/fs/cgroup/memory.max");
  const std::uint64_t used = number_in("/sys/fs/cgroup/memory.current");
  if (limit > 0) bytes = std::min(bytes, limit > used ? limit - used : 0);
  return bytes;
}

}  // namespace hilo
