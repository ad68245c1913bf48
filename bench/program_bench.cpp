// The round trip of a step through the pipe to a C program, beside a bare ping-pong of lines with
// another C program in the same run.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "hilo/env/program/program_source.hpp"

namespace {

constexpr const char* kEcho = R"(
#include <unistd.h>
int main(void) {
  char line[256];
  for (ssize_t n; (n = read(0, line, sizeof line)) > 0;)
    if (write(1, line, n) != n) return 1;
  return 0;
}
)";

std::string compiled(const std::string& name, const std::string& source) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "hilo-bench";
  std::filesystem::create_directories(folder);
  const std::string program = (folder / name).string();
  if (std::system(fmt::format("cc -O2 -o {} {}", program, source).c_str()) != 0) std::abort();
  return program;
}

void PingPong(benchmark::State& state) {
  const std::string source = (std::filesystem::temp_directory_path() / "hilo-echo.c").string();
  std::ofstream(source) << kEcho;
  const std::string echo = compiled("echo", source);
  int to[2];
  int from[2];
  if (::pipe(to) != 0 || ::pipe(from) != 0) std::abort();
  if (::fork() == 0) {
    ::dup2(to[0], 0);
    ::dup2(from[1], 1);
    for (const int end : {to[0], to[1], from[0], from[1]}) ::close(end);
    ::execl(echo.c_str(), echo.c_str(), nullptr);
    ::_exit(1);
  }
  ::close(to[0]);
  ::close(from[1]);
  char line[64];
  for (auto _ : state) {
    if (::write(to[1], "step 1\n", 7) != 7 || ::read(from[0], line, sizeof line) != 7) std::abort();
    benchmark::DoNotOptimize(line[0]);
  }
  ::close(to[1]);
  ::close(from[0]);
}
BENCHMARK(PingPong)->UseRealTime();

void ProgramStep(benchmark::State& state) {
  const std::string river = compiled("river", HILO_SOURCE_DIR "/examples/programs/river.c");
  const auto source = hilo::ProgramSource::start({.command = river + " 1"});  // never ends
  hilo::Points seen(source->observation_space());
  source->reset(1, seen);
  for (auto _ : state) {
    seen.clear();
    benchmark::DoNotOptimize(source->step(hilo::Point(1), seen).reward);
  }
}
BENCHMARK(ProgramStep)->UseRealTime();

}  // namespace
