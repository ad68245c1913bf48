#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hilo/experiment/records.hpp"
#include "hilo/experiment/spec.hpp"

namespace hilo {

// One number of the long table: what `hilo export` writes and what reports are made from.
struct ResultRow {
  std::string experiment, agent;
  std::uint64_t seed = 0, episode = 0;
  std::string metric;
  double value = 0;
};

struct StoredPolicy {
  std::string experiment, agent;
  std::uint64_t seed = 0;
  PolicyArtifact artifact;
  // Of a Q table; nothing of other kinds.
  std::uint64_t num_states = 0, num_actions = 0;
  std::vector<double> q;
  std::vector<double> standard_errors;  // of q; empty in stores from before they were kept
};

struct FailedRun {
  std::string experiment, agent;
  std::uint64_t seed = 0;
  std::string error;
};

// How far an agent of an experiment is.
struct AgentStatus {
  std::string agent;
  Configuration configuration;
  std::uint64_t planned = 0, finished = 0, failed = 0;  // runs
};

// Where the results of an experiment come from.
struct Provenance {
  std::string spec;  // TOML
  std::vector<std::string> programs, hosts, machines;
  std::string first_finished, last_finished;  // UTC; empty if no run is there
  std::uint64_t first_seed = 0, last_seed = 0;
};

// What merge is to do with a run, an experiment or a diagnosis that is not what was written.
enum class Damaged : std::uint8_t { stop, leave_out };

struct MergeOutcome {
  std::uint64_t added = 0;            // runs
  std::vector<std::string> left_out;  // damaged ones, with their store
};

// Results in a SQLite file (docs/store.md). A run is written in one transaction; runs belong to
// nobody, and experiments only refer to them, so that what two figures share exists once.
class Store {
 public:
  static constexpr int kSchemaVersion = 4;

  // Opens for writing, and makes the file if there is none. Refuses a second writer, a file that is
  // no store or is damaged, and a store of a newer version. An older one is brought up to date; the
  // runs of hilo 0.1 stay without checksums.
  static Store open(const std::filesystem::path& file);
  // Opens an existing store for reading; others may read and write it meanwhile. What is read from
  // it is what was written, or an error is thrown. With leave_out one whose tables miss something
  // can be opened as well, to be merged into another.
  static Store open_to_read(const std::filesystem::path& file, Damaged damaged = Damaged::stop);

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const std::filesystem::path& file() const;

  // Ends its use. Throws if its file was removed or replaced meanwhile. Returns a sentence to be
  // shown if a part of it is still in the log beside it, because somebody reads it; else "".
  std::string close();

  // Removes the file, if it was made when this store was opened and is still the one at its place.
  void discard_if_new();

  std::set<RunKey> finished() const;
  // Runs without a checksum, because hilo 0.1 wrote them: nobody would notice a change of theirs.
  std::uint64_t unverified() const;

  // Throws if a run of the experiment, or what it refers to, is not what was written.
  void require_intact(const std::string& experiment) const;

  // Adds a run, or replaces one that had failed. A finished one is left as it is.
  void append(const RunRecord& record);

  // Makes the experiment refer to the spec's runs. Agents that the spec no longer has are dropped
  // from it, and returned; their runs stay. One with a new label keeps its seeds.
  std::vector<std::string> define_experiment(const Spec& spec);

  // Keeps what a pilot study of the experiment found, in place of an older one.
  void keep_diagnosis(const std::string& experiment, const std::string& json);

  // Adds all runs and experiments of other stores. Throws, and adds nothing, if two have an
  // experiment of one name in which one label means different things, a run with different
  // numbers, or if `keep_going` says no.
  MergeOutcome merge(std::span<const Store> others, Damaged damaged = Damaged::stop,
                     const std::function<bool()>& keep_going = {});

  std::vector<std::string> experiments() const;
  std::vector<std::string> agents(const std::string& experiment) const;
  std::set<RunKey> runs_of(const std::string& experiment) const;  // there or not yet
  // Hash of the configuration behind a label; "" if there is none.
  std::string config_of(const std::string& experiment, const std::string& agent) const;

  // Finished results, sorted by experiment, agent, seed, episode, metric. "": all experiments.
  void for_each_result(const std::string& experiment,
                       const std::function<void(const ResultRow&)>& visit) const;
  std::vector<AgentStatus> agent_status(const std::string& experiment) const;
  Provenance provenance(const std::string& experiment) const;
  std::vector<FailedRun> failed_runs(const std::string& experiment) const;

  // "" if there is none.
  std::string diagnosis(const std::string& experiment) const;
  std::vector<std::string> diagnosed() const;  // experiments

  // Nothing if the run is not there, or left no policy.
  std::optional<StoredPolicy> find_policy(const std::string& experiment, const std::string& agent,
                                          std::uint64_t seed) const;
  // Throws if there is none, and says what there is.
  StoredPolicy policy(const std::string& experiment, const std::string& agent,
                      std::uint64_t seed) const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hilo
