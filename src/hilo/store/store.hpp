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
#include "hilo/store/damaged.hpp"

namespace hilo {

// One row of the long table that `hilo export` writes and that reports are made from.
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
  // Only for a policy of the kind Q table; 0 and empty for other kinds.
  std::uint64_t num_states = 0, num_actions = 0;
  std::vector<double> q;
  std::vector<double> standard_errors;  // of q; empty in older stores, which do not keep them
};

struct FailedRun {
  std::string experiment, agent;
  std::uint64_t seed = 0;
  std::string error;
};

// The progress of an agent of an experiment.
struct AgentStatus {
  std::string agent;
  Configuration configuration;
  std::uint64_t planned = 0, finished = 0, failed = 0;  // runs
};

// Where the results of an experiment come from.
struct Provenance {
  std::string spec;  // TOML
  std::vector<std::string> programs, hosts, machines;
  std::string first_finished, last_finished;  // UTC; empty if there is no run
  std::uint64_t first_seed = 0, last_seed = 0;
};

struct MergeOutcome {
  std::uint64_t added = 0;            // runs
  std::vector<std::string> left_out;  // what was damaged, each with its store
};

// Results in a SQLite file (docs/store.md). A run is written in one transaction. Experiments do not
// own runs but refer to them, so that a run that two figures share is stored once.
class Store {
 public:
  static constexpr int kSchemaVersion = 4;

  // Opens a store for writing and creates the file if it does not exist. Throws if another process
  // is writing to the store, if the file is not a store or is damaged, and if its version is newer
  // than kSchemaVersion. A store of an older version is upgraded; runs that hilo 0.1 wrote stay
  // without checksums.
  static Store open(const std::filesystem::path& file);
  // Opens an existing store for reading; other processes may read and write it meanwhile. Reading
  // results that have changed since they were written throws, except for those of hilo 0.1, which
  // have no checksums. With leave_out, a store whose tables have lost rows can be opened too, so
  // that it can be merged into another.
  static Store open_to_read(const std::filesystem::path& file, Damaged damaged = Damaged::stop);

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const std::filesystem::path& file() const;

  // Closes the store, which must not be used afterwards. Throws if its file was removed or replaced
  // meanwhile. Returns a sentence for the user if a part of the store is still in the log beside it
  // because another process is reading it, and "" otherwise.
  std::string close();

  // Removes the file if open() created it and it has not been replaced since.
  void discard_if_new();

  std::set<RunKey> finished() const;
  // The number of runs without a checksum. hilo 0.1 wrote them; a change to them goes unnoticed.
  std::uint64_t unverified() const;

  // Throws if the spec, the run references or a run of the experiment has changed since it was
  // written.
  void require_intact(const std::string& experiment) const;

  // Adds a run. A failed run with the same key is replaced, a finished one is kept as it is.
  void append(const RunRecord& record);

  // Makes the experiment refer to the spec's runs. Agents that the spec no longer has are dropped
  // from the experiment and returned; their runs stay in the store. An agent that only has a new
  // label keeps its seeds.
  std::vector<std::string> define_experiment(const Spec& spec);

  // Stores the result of a pilot study of the experiment. It replaces an older one.
  void keep_diagnosis(const std::string& experiment, const std::string& json);

  // Adds all runs, experiments and diagnoses of other stores. Throws and adds nothing if
  // - a label of an experiment stands for different configurations or algorithm versions,
  // - two stores have different results for the same run,
  // - an experiment of this store is damaged or, with Damaged::stop, anything in the others,
  // - `keep_going` returns false.
  MergeOutcome merge(std::span<const Store> others, Damaged damaged = Damaged::stop,
                     const std::function<bool()>& keep_going = {});

  std::vector<std::string> experiments() const;
  std::vector<std::string> agents(const std::string& experiment) const;
  std::set<RunKey> runs_of(const std::string& experiment) const;  // in the store or not yet
  // The hash of the configuration that a label stands for; "" if there is none.
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

  // Nothing if the store does not have the run, or if the run has no policy.
  std::optional<StoredPolicy> find_policy(const std::string& experiment, const std::string& agent,
                                          std::uint64_t seed) const;
  // Throws if there is none; the message lists the experiments, agents and seeds of the store.
  StoredPolicy policy(const std::string& experiment, const std::string& agent,
                      std::uint64_t seed) const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hilo
