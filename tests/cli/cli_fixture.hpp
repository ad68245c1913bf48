#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "support/program.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {

using testing::Finished;

// Runs the program in a folder of its own.
class Cli : public ::testing::Test {
 protected:
  Finished hilo(const std::vector<std::string>& arguments, testing::ProgramOptions options = {}) {
    return testing::run_program(HILO_PROGRAM, arguments, folder_.path(), options);
  }

  void write(const std::string& name, const std::string& text) { folder_.write(name, text); }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

  // The export of a store without the lines that hold times.
  std::string export_of(const std::string& store) {
    const Finished f = hilo({"export", store});
    EXPECT_EQ(f.code, 0) << f.err;
    std::istringstream lines(f.out);
    std::string line, out;
    while (std::getline(lines, line))
      if (line.find(",seconds,") == std::string::npos) out += line + "\n";
    return out;
  }

  // Runs and expects this exit code, one line on stderr that holds every part, and no output.
  void expect_failure(const std::vector<std::string>& arguments, int code,
                      const std::vector<std::string>& parts, testing::ProgramOptions options = {}) {
    const Finished f = hilo(arguments, options);
    EXPECT_EQ(f.code, code) << f.err << f.out;
    EXPECT_EQ(std::ranges::count(f.err, '\n'), 1) << f.err;
    for (const std::string& part : parts)
      EXPECT_NE(f.err.find(part), std::string::npos) << "'" << part << "' is not in: " << f.err;
  }

  // Until a program that was started has got so far, and a moment longer; ten seconds at most.
  void wait_for_file(const std::string& name) const {
    for (int i = 0; i < 1000 && !std::filesystem::exists(path(name)); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }

  testing::TemporaryFolder folder_;
};

}  // namespace hilo
