#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hilo/core/stopwatch.hpp"
#include "hilo/experiment/records.hpp"

// For the sources of this folder only: the saved state of a learn run.
namespace hilo {

// What had been spent on episodes that were learnt from, when another was allowed to start.
struct Allowed {
  double cost = 0, steps = 0;
};

struct LearnCheckpoint {
  std::string identity;  // hash of the run's identity
  std::uint64_t seed = 0;
  std::uint64_t episodes = 0;  // training episodes that it has learnt from or passed over
  std::int64_t digest = 0;     // of these, in the journal
  std::vector<std::byte> run;  // SingleRun::save
  std::vector<Measurement> findings;
  // With a lag: what was decided about the next episodes, for this budget.
  std::string budget;
  std::uint64_t training_until = 0;
  bool training_closed = false;
  std::uint64_t failed_in_a_row = 0;
  std::vector<std::pair<std::uint64_t, Allowed>> allowed;
};

// Written as a whole or not at all. Errors are ignored: a checkpoint only saves time.
class LearnCheckpointFile {
 public:
  LearnCheckpointFile(std::filesystem::path file, double every)
      : file_(std::move(file)), every_(every) {}

  // Nothing if there is none, or if it is damaged.
  std::optional<LearnCheckpoint> find() const;
  // If it is due, or `now`. It is due at most a fiftieth of the time.
  void keep(bool now, const std::function<LearnCheckpoint()>& make);

 private:
  std::filesystem::path file_;
  double every_;
  SteadyClock::time_point last_ = SteadyClock::now();
  double took_ = 0;  // seconds, for the last one
};

}  // namespace hilo
