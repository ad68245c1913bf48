#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hilo/env/episode.hpp"
#include "hilo/experiment/configuration.hpp"
#include "hilo/store/damaged.hpp"

namespace hilo {

// Which expensive episode of a run: training episode `episode`, or episode `test` of the final test
// of the policy after `episode` training episodes.
struct EpisodeAddress {
  std::uint64_t episode = 0;
  std::optional<std::uint64_t> test = std::nullopt;
  auto operator<=>(const EpisodeAddress&) const = default;
};

// The path of an episode whose observations or actions are points of any space. Those of a discrete
// space are one number each.
struct VectorPath {
  std::uint64_t observation_size = 1, action_size = 1;  // numbers of each
  std::vector<double> observations;                     // length() + 1 times observation_size
  std::vector<double> actions;                          // length() times action_size
  std::vector<double> rewards;
  bool truncated = false;

  std::size_t length() const { return rewards.size(); }
};

// An expensive episode with what is needed to use it again.
struct PaidEpisode {
  Episode path;
  std::optional<VectorPath> vectors = {};  // instead of the path
  std::vector<double> probabilities;       // of the actions, under the policy that chose them
  double discounted_return = 0;
};

// The source of the cost of an episode that another run has paid for: this one learns from it, and
// it is not among what this one has spent.
inline constexpr const char* kReused = "reused";

// One attempt at an expensive episode. It was paid for, whether it succeeded or not.
struct Attempt {
  EpisodeAddress at;
  std::uint64_t number = 0;  // counted from 0, for this address
  std::uint32_t seed = 0;    // that the simulator was given
  bool failed = false;
  std::string error = {};  // the tail of the message, if it failed
  std::uint64_t steps = 0;
  double cost = 0;
  std::string cost_source = {};  // declared, reported, measured or kReused
  std::uint64_t low_steps = 0;   // cheap steps of the run when the attempt began,
  double low_seconds = 0;        // and the time that they took
  double seconds = 0;            // that it took
  double clock = 0;              // wall seconds of the run when it ended
  std::string started = {};      // UTC; empty: now
  std::string host = {};         // empty: this one
  PaidEpisode paid = {};         // up to where it failed; empty if that is not known

  bool is_reused() const { return cost_source == kReused; }
};

// A simulator as it was when a run began.
struct SimulatorIdentity {
  std::string role;  // high or low
  std::string name, version;
  std::string identity;  // a hash of what is declared about it
};

// What a run has spent.
struct Spent {
  std::uint64_t attempts = 0, failed = 0;   // all attempts, and those that failed
  std::uint64_t training = 0, testing = 0;  // episodes that succeeded
  std::uint64_t reused = 0;                 // episodes of other runs, which are in no other number
  std::uint64_t steps = 0;
  double cost = 0;  // of the attempts
  // Of those that succeeded, in training:
  double training_cost = 0, training_seconds = 0;
  std::uint64_t training_steps = 0;
  std::uint64_t reported = 0;   // attempts whose cost the simulator reported
  double seconds = 0;           // that the attempts took
  double clock = 0;             // wall seconds of the run
  std::uint64_t low_steps = 0;  // when the last attempt began
  double low_seconds = 0;
  std::optional<std::uint64_t> last_training;  // the largest number of a training episode
  std::uint64_t failed_in_a_row = 0;           // episodes at the end, all of whose attempts failed
};

struct JournalledRun {
  std::int64_t id = 0;
  std::string name;
  std::uint64_t seed = 0;
  Configuration identity;
  std::string spec;  // TOML
  std::string program, started;
  std::vector<SimulatorIdentity> simulators;
};

// The record of everything that was paid for: a SQLite file of its own (docs/learn.md), because it
// outlives stores. An attempt is on the disk before append returns. Every row has a checksum, so
// that what is read is what was written, or an error says what is not.
class Journal {
 public:
  static constexpr int kSchemaVersion = 1;

  // Opens for writing, and creates the file if there is none. Refuses a second writer, a file that
  // is not a journal, and a damaged one. Without `durable` a power failure may lose the last
  // attempts; a crash of the process does not.
  static Journal open(const std::filesystem::path& file, bool durable = true);
  // With leave_out, rows that are damaged are left out instead of refused.
  static Journal open_to_read(const std::filesystem::path& file, Damaged damaged = Damaged::stop);

  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  const std::filesystem::path& file() const;
  std::vector<std::string> damage() const;  // what was left out, in sentences

  std::vector<JournalledRun> runs() const;
  // The run of this name and seed, which is added if it is not there. Throws Errc::spec if it is
  // there with another identity; the message names the keys that differ.
  std::int64_t find_or_add(const JournalledRun& run);

  void append(std::int64_t run, const Attempt& attempt);
  // All of them or none.
  void append_all(std::int64_t run, std::span<const Attempt> attempts);
  // In their order; empty if there are none.
  std::vector<Attempt> attempts_at(std::int64_t run, const EpisodeAddress& at) const;
  void for_each_attempt(std::int64_t run, const std::function<void(const Attempt&)>& visit) const;
  // The attempts of final tests, in the order of their episodes, without their paths.
  void for_each_test(std::int64_t run, const std::function<void(const Attempt&)>& visit) const;
  Spent spent(std::int64_t run) const;
  // Training episodes that succeeded, of the first `episodes`.
  std::uint64_t finished_among_first(std::int64_t run, std::uint64_t episodes) const;
  // Episodes of which all attempts failed, more than `retries` of them.
  std::uint64_t given_up(std::int64_t run, std::uint64_t retries) const;
  // A number that stands for the first `episodes` training episodes of a run: it changes if an
  // attempt at one of them is added or changed.
  std::int64_t digest(std::int64_t run, std::uint64_t episodes) const;

  // Numbers that were decided during a run, such as a measured cost, by name.
  std::optional<double> decided(std::int64_t run, const std::string& what) const;
  void decide(std::int64_t run, const std::string& what, double value);

  // Adds the runs and attempts of other journals. Throws, and adds nothing, if an attempt is there
  // with other contents. Returns how many attempts were added.
  std::uint64_t merge(std::span<const Journal> others);

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hilo
