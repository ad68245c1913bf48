#include "hilo/core/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

// Empty if the file is missing or does not start with a number, as with "max" where there is no
// limit.
std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

// The number after a word at the start of a line, as in "MemAvailable:  1024 kB".
std::optional<std::uint64_t> number_after(const fs::path& file, std::string_view name) {
  std::ifstream in(file);
  std::string word;
  std::uint64_t value = 0;
  for (std::string rest; in >> word; std::getline(in, rest))
    if (word == name && in >> value) return value;
  return std::nullopt;
}

// File and key names for the same quantities in the two versions of control groups.
struct GroupFiles {
  const char *limit, *used, *reclaimable;
};
constexpr GroupFiles kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                  "total_inactive_file"};
constexpr GroupFiles kVersion2 = {"memory.max", "memory.current", "inactive_file"};

// The bytes that a group's limit leaves. Cached file contents count as used, but can be freed.
std::optional<std::uint64_t> left_in_group(const fs::path& folder, const GroupFiles& files) {
  const auto limit = number_in(folder / files.limit);
  const auto used = number_in(folder / files.used);
  if (!limit || !used) return std::nullopt;
  const std::uint64_t freed = number_after(folder / "memory.stat", files.reclaimable).value_or(0);
  const std::uint64_t held = *used > freed ? *used - freed : 0;
  return *limit > held ? *limit - held : 0;
}

// Visits the folders of the process's group and of all groups above it: each may have a limit.
template <class Visit>
void for_each_group(const fs::path& root, Visit&& visit) {
  const fs::path groups = root / "sys/fs/cgroup";
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool is_version2 = controllers.empty();
    if (!is_version2 && ("," + controllers + ",").find(",memory,") == std::string::npos) continue;
    const fs::path top = is_version2 ? groups : groups / "memory";
    for (fs::path group = fs::path(line.substr(second + 1)).relative_path();;
         group = group.parent_path()) {
      visit(top / group, is_version2 ? kVersion2 : kVersion1);
      if (group.empty()) break;
    }
  }
}

// The bytes of address space that `ulimit -v` leaves.
std::optional<std::uint64_t> left_of_address_space(const fs::path& root) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const std::uint64_t used = number_in(root / "proc/self/statm").value_or(0) *
                             static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

bool is_to_be_ignored() {
  const char* set = std::getenv("HILO_IGNORE_MEMORY");
  return set != nullptr && std::string_view(set) == "1";
}

}  // namespace

std::optional<std::uint64_t> available_memory(const fs::path& root) {
  std::optional<std::uint64_t> least;
  const auto take = [&](std::optional<std::uint64_t> bytes) {
    if (bytes && (!least || *bytes < *least)) least = bytes;
  };
  if (const auto kilobytes = number_after(root / "proc/meminfo", "MemAvailable:"))
    take(*kilobytes * 1024);
  for_each_group(root, [&](const fs::path& folder, const GroupFiles& files) {
    take(left_in_group(folder, files));
  });
  take(left_of_address_space(root));
  return least;
}

void require_memory(double bytes_each, double workers) {
  const auto available = available_memory();
  if (!available || is_to_be_ignored()) return;
  const auto there = static_cast<double>(*available);
  if (bytes_each * workers <= there) return;
  throw Error(
      Errc::usage,
      fmt::format(
          "this needs about {:.1f} GB{}, but {:.1f} GB of memory are left{}; HILO_IGNORE_MEMORY=1 "
          "in the environment (hilo run: --ignore-memory) runs it all the same",
          bytes_each / 1e9, workers > 1 ? fmt::format(" on each of {} threads", workers) : "",
          there / 1e9,
          workers > 1 && bytes_each <= there
              ? fmt::format(" (enough for {} threads)",
                            std::max(1.0, std::floor(there / bytes_each)))
              : ""));
}

}  // namespace hilo
