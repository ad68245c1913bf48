#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hilo/core/child_process.hpp"
#include "hilo/env/program/protocol.hpp"
#include "hilo/env/step_source.hpp"

namespace hilo {

// How a program is run.
struct ProgramOptions {
  std::string command;
  std::string directory = {};  // "{worker}" in it is the number of the instance; empty: the current
  double timeout_start = 60;   // seconds until it answers `hello`
  double timeout_step = 600;   // until it answers any other request; 0: for ever
  double timeout_episode = 0;  // for a whole path; 0: for ever
  std::uint64_t restart_every = 0;  // paths, after which it is started anew; 0: never
  std::uint64_t memory_mb = 0;      // limit of its address space; 0: none
  std::uint32_t worker = 0;         // number of the instance, in HILO_WORKER
  int most_tries = 30;              // of a start that ends with exit code 75: no licence now
};

// A program as a step source (docs/programs.md). It is started when it is first needed. After a
// time-out, a crash or an answer that cannot be understood it is ended with all of its processes
// and started anew for the next path; an `error` only ends the path. Messages have its last words.
class ProgramSource final : public StepSource {
 public:
  // Starts the program to ask it what it is. Throws Errc::simulator if it does not answer well.
  static std::shared_ptr<ProgramSource> start(const ProgramOptions& options);
  // Another instance of a program that is known; it is started when it is needed.
  ProgramSource(ProgramOptions options, ProgramFacts facts);

  const ProgramFacts& facts() const { return facts_; }
  const ProgramOptions& options() const { return options_; }

  void reset(std::uint32_t seed, Points& out) override;
  SourceStep step(const Point& action, Points& out) override;
  bool put(const Point& observation, std::uint32_t seed) override;
  double reward(const Point& observation, const Point& action, const Point& next) override;
  // Found out by asking for the reward of a step that was just made.
  bool tells_rewards() override;

  // The following are for tests and checks.
  //
  // The process group of the program, 0 if it does not run.
  int group() const { return process_ ? process_->group() : 0; }
  // Sends a line as it is and returns the answer.
  std::string ask_plainly(const std::string& line);
  // Whether the program and all that it started end by themselves within some seconds, at the end
  // of their input or by SIGTERM. It is not there afterwards.
  bool ends_without_input(double patience);
  bool ends_by_sigterm(double patience);
  void stop() { process_.reset(); }
  void begin_to_end() noexcept override {
    if (process_) process_->begin_to_end();
  }

 private:
  void run();  // starts the program unless it runs
  void begin_path();
  std::string_view ask(const std::string& line);
  bool group_ends(double patience);
  [[noreturn]] void give_up(const std::string& line, const std::string& what);
  template <class Parse>
  auto parsed(const std::string& line, Parse&& parse);

  ProgramOptions options_;
  ProgramFacts facts_;
  std::unique_ptr<ChildProcess> process_;
  std::uint64_t paths_ = 0;  // of this process
  SteadyClock::time_point path_began_;
  std::string line_;
  Points at_;                           // the current observation
  std::optional<double> pending_cost_;  // of a reset, charged to the first step
  std::optional<bool> tells_rewards_;
};

}  // namespace hilo
