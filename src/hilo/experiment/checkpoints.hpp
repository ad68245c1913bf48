#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "hilo/experiment/records.hpp"

namespace hilo {

class ResumableRun;

// Saved states of unfinished runs, one file for each run in a folder of their own, so that an
// interrupted run continues where it stopped. They only save time and do not affect results: if
// anything is wrong with a checkpoint, the run starts from the beginning.
class Checkpoints {
 public:
  // Seconds between checkpoints. A run that is killed loses the work of this time, or of fifty
  // times the time that writing a checkpoint takes if that is longer, and the piece of work under
  // way.
  static constexpr double kEvery = 5;

  // The folder is created when it is needed, and removed with its last file.
  explicit Checkpoints(std::filesystem::path folder, double every = kEvery)
      : folder_(std::move(folder)), every_(every) {}
  // The checkpoints of a store, in a folder beside it: `hilo.db.running`.
  static Checkpoints beside(const std::filesystem::path& store, double every = kEvery);

  double every() const { return every_; }  // seconds

  std::optional<std::vector<std::byte>> find(const RunKey& run) const;
  // Writes the whole checkpoint or nothing. Errors are ignored.
  void keep(const RunKey& run, std::span<const std::byte> bytes) const;
  void remove(const RunKey& run) const;

 private:
  std::filesystem::path file_of(const RunKey& run) const;
  std::filesystem::path folder_;
  double every_;
};

// Writes a checkpoint of one run at regular intervals, and less often if writing takes long: it
// takes at most a fiftieth of the time.
class CheckpointTimer {
 public:
  explicit CheckpointTimer(const Checkpoints* checkpoints);

  void keep_if_due(const RunKey& key, const ResumableRun& run);
  void keep(const RunKey& key, const ResumableRun& run);

 private:
  static constexpr double kLongest = 50;  // smallest interval, as a multiple of the time to write

  using Clock = std::chrono::steady_clock;
  static Clock::duration seconds(double count) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
  }

  const Checkpoints* checkpoints_;
  Clock::time_point next_;
};

}  // namespace hilo
