#include "hilo/core/memory.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "hilo/core/error.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

// What a system says of its memory, as files.
class System {
 public:
  System& says(const std::string& file, const std::string& text) {
    fs::create_directories((folder_.path() / file).parent_path());
    folder_.write(file, text);
    return *this;
  }
  std::optional<std::uint64_t> available() const { return available_memory(folder_.path()); }

 private:
  TemporaryFolder folder_;
};

constexpr const char* kMeminfo = "MemTotal: 2000 kB\nMemFree: 1 kB\nMemAvailable:    1000 kB\n";

TEST(Memory, UnknownIsNotNothing) { EXPECT_EQ(System().available(), std::nullopt); }

TEST(Memory, OfTheMachine) {
  EXPECT_EQ(System().says("proc/meminfo", kMeminfo).available(), 1000U * 1024);
}

TEST(Memory, OfTheProcessesGroupAndAllAboveIt) {
  System system;
  system.says("proc/meminfo", kMeminfo).says("proc/self/cgroup", "0::/user/job\n");
  system.says("sys/fs/cgroup/user/job/memory.max", "max\n");
  system.says("sys/fs/cgroup/user/job/memory.current", "5000\n");
  EXPECT_EQ(system.available(), 1000U * 1024);
  system.says("sys/fs/cgroup/user/memory.max", "9000\n");
  system.says("sys/fs/cgroup/user/memory.current", "6000\n");
  EXPECT_EQ(system.available(), 3000U);
  // Files in memory count as used, but go where room is needed.
  system.says("sys/fs/cgroup/user/memory.stat", "anon 1\ninactive_file 500\nslab 7\n");
  EXPECT_EQ(system.available(), 3500U);
  system.says("sys/fs/cgroup/user/memory.current", "9600\n");
  EXPECT_EQ(system.available(), 0U);  // known to be full
}

TEST(Memory, OfAGroupOfVersion1) {
  System system;
  system.says("proc/meminfo", kMeminfo);
  system.says("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/job\n1:name=systemd:/b\n");
  system.says("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9000\n");
  system.says("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "6000\n");
  system.says("sys/fs/cgroup/memory/job/memory.stat", "total_inactive_file 100\n");
  EXPECT_EQ(system.available(), 3100U);
}

TEST(Memory, WhatDoesNotFitIsRefusedWithNumbersUnlessTold) {
  testing::expect_error([] { require_memory(1e15, 1); }, Errc::usage,
                        {"1000000.0 GB", "are left", "HILO_IGNORE_MEMORY"});
  testing::expect_error([] { require_memory(1e15, 4); }, Errc::usage, {"on each of 4 threads"});
  EXPECT_NO_THROW(require_memory(1, 4));
  ::setenv("HILO_IGNORE_MEMORY", "1", 1);
  EXPECT_NO_THROW(require_memory(1e15, 1));
  ::unsetenv("HILO_IGNORE_MEMORY");
}

}  // namespace
}  // namespace hilo
