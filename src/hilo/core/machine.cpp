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

}  // namespace hilo
