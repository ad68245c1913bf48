#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "hilo/experiment/records.hpp"

namespace hilo {

class SingleRun;

// Runs under way, one file for each in a folder of their own, so that an interrupted run goes on
// where it was. They are worth time, not results: whatever is wrong with them, the run begins anew.
class Checkpoints {
 public:
  // What is lost of a run when it is killed: so many seconds, or fifty times what writing a
  // checkpoint takes, if that is more, and the piece of work under way.
  static constexpr double kEvery = 5;

  // The folder is made when it is needed, and removed with its last file.
  explicit Checkpoints(std::filesystem::path folder, double every = kEvery)
      : folder_(std::move(folder)), every_(every) {}
  // That of a store: `hilo.db.running`.
  static Checkpoints beside(const std::filesystem::path& store, double every = kEvery);

  double every() const { return every_; }  // seconds

  std::optional<std::vector<std::byte>> find(const RunKey& run) const;
  // Written as a whole or not at all. What cannot be written is not kept.
  void keep(const RunKey& run, std::span<const std::byte> bytes) const;
  void remove(const RunKey& run) const;

 private:
  std::filesystem::path file_of(const RunKey& run) const;
  std::filesystem::path folder_;
  double every_;
};

// Keeps one run every so many seconds, and more rarely where that takes long: it takes a fiftieth
// of the time at most.
class CheckpointTimer {
 public:
  explicit CheckpointTimer(const Checkpoints* checkpoints);

  void keep_if_due(const RunKey& key, const SingleRun& run);
  void keep(const RunKey& key, const SingleRun& run);

 private:
  static constexpr double kLongest = 50;  // times what it takes

  using Clock = std::chrono::steady_clock;
  static Clock::duration seconds(double count) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
  }

  const Checkpoints* checkpoints_;
  Clock::time_point next_;
};

}  // namespace hilo
