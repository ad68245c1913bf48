#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hilo/env/program/program_source.hpp"

namespace hilo {

enum class Verdict : std::uint8_t { good, bad, skipped };

// One check of a simulator. `means` says what a failure does to learning, and `mend` what to do.
struct Finding {
  std::string check;  // a short name
  Verdict verdict = Verdict::good;
  std::string found = {};
  std::string means = {}, mend = {};
};

struct SimulatorCheckOptions {
  std::uint32_t max_steps = 10'000;
  std::uint32_t episodes = 100;  // to watch the memory
  std::uint32_t seed = 1;
  std::function<void(const Finding&)> on_finding = {};  // told of each as it is found
};

struct SimulatorCheck {
  ProgramFacts facts;
  std::vector<Finding> findings;
  // Seconds of a step and of an episode: 5, 50 and 95 %.
  double step_seconds[3] = {}, episode_seconds[3] = {};
  double mean_length = 0;

  bool is_good() const;
};

// What a check needs of a simulator: new instances of it, which are programs or objects in Python.
struct CheckedSimulator {
  std::function<std::shared_ptr<StepSource>()> start;
  ProgramFacts facts;
};

// Looks whether a simulator behaves as one should. Never throws because of the simulator: what it
// does wrong is a finding.
SimulatorCheck check_simulator(const CheckedSimulator& simulator,
                               const SimulatorCheckOptions& options = {});
SimulatorCheck check_program(const ProgramOptions& program,
                             const SimulatorCheckOptions& options = {});

}  // namespace hilo
