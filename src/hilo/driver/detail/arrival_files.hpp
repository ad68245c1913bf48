#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "hilo/driver/remote_workers.hpp"

// For the sources of this folder only: episodes that have ended while the learner was busy. The
// journal is written by the learner's thread alone, and what ends meanwhile must survive a kill.
namespace hilo {

class ArrivalFiles {
 public:
  // `run` stands for the run, so that the files of another one are not taken for its own.
  ArrivalFiles(std::filesystem::path folder, std::string run, bool durable)
      : folder_(std::move(folder)), run_(std::move(run)), durable_(durable) {}

  // Any thread may call it. A file that cannot be written costs nothing but this safety.
  void keep(const Arrival& arrival) const noexcept;
  // The episode of an attempt that was kept by a process that has ended since.
  std::optional<Arrival> find(const EpisodeAddress& at, std::uint64_t attempt) const;
  // The attempt is in the journal.
  void forget(const EpisodeAddress& at, std::uint64_t attempt) const noexcept;
  // The run is done.
  void remove() const noexcept;

 private:
  std::filesystem::path file_of(const EpisodeAddress& at, std::uint64_t attempt) const;

  std::filesystem::path folder_;
  std::string run_;
  bool durable_;
};

}  // namespace hilo
