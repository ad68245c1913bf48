#include <fmt/format.h>

#include <map>

#include "hilo/store/detail/policy_bytes.hpp"
#include "hilo/store/detail/store_impl.hpp"

// Merges stores. Each of the others is read through its own connection: attaching its file to ours
// would need a lock on it.
namespace hilo {
namespace {

struct FoundRun {
  std::int64_t id = 0;
  std::string config;
  std::int64_t seed = 0, version = 0;
  bool failed = false;
};

// A name for messages: an experiment that refers to the run, and the agent's label in it.
std::string name_of(Database& db, const FoundRun& run) {
  Statement row(db,
                "SELECT experiment, agent FROM experiment_run WHERE config = ? AND seed = ? "
                "AND algorithm_version = ? ORDER BY 1, 2");
  row.bind(run.config).bind(run.seed).bind(run.version);
  if (!row.step()) return fmt::format("the run of configuration {}, seed {}", run.config, run.seed);
  return fmt::format("the run of experiment '{}', agent '{}', seed {}", row.text(0), row.text(1),
                     run.seed);
}

std::vector<FoundRun> all_runs(Database& db) {
  Statement rows(db,
                 "SELECT id, config, seed, algorithm_version, error IS NOT NULL FROM run "
                 "ORDER BY id");
  std::vector<FoundRun> runs;
  while (rows.step())
    runs.push_back(
        {rows.integer(0), rows.text(1), rows.integer(2), rows.integer(3), rows.integer(4) != 0});
  return runs;
}

std::optional<FoundRun> find_run(Database& db, const FoundRun& like) {
  Statement row(db,
                "SELECT id, error IS NOT NULL FROM run WHERE config = ? AND seed = ? "
                "AND algorithm_version = ?");
  row.bind(like.config).bind(like.seed).bind(like.version);
  if (!row.step()) return std::nullopt;
  FoundRun found = like;
  found.id = row.integer(0);
  found.failed = row.integer(1) != 0;
  return found;
}

// All measurements in which two runs with the same key must agree. `seconds` is not among them: the
// run time is not a result.
using Numbers = std::map<std::pair<std::int64_t, std::string>, double>;
Numbers numbers_of(Database& db, std::int64_t run) {
  Statement rows(db,
                 "SELECT m.episode, n.name, m.value FROM measurement m JOIN metric n "
                 "ON n.id = m.metric WHERE m.run = ? AND n.name <> 'seconds'");
  rows.bind(run);
  Numbers numbers;
  while (rows.step()) numbers[{rows.integer(0), rows.text(1)}] = rows.number(2);
  return numbers;
}

std::string first_difference(const Numbers& a, const Numbers& b) {
  const auto text = [](const Numbers& numbers, const Numbers::key_type& key) {
    const auto found = numbers.find(key);
    return found == numbers.end() ? std::string("nothing") : fmt::format("{}", found->second);
  };
  for (const Numbers* side : {&a, &b})
    for (const auto& [key, value] : *side)
      if (text(a, key) != text(b, key))
        return fmt::format("{} at episode {} is {} and {}", key.second, key.first, text(a, key),
                           text(b, key));
  return "";
}

// Compares the values of Q tables, not their compressed bytes. Standard errors are compared only if
// both stores have them: older stores do not keep them.
bool same_policies(std::optional<PolicyRows> a, std::optional<PolicyRows> b) {
  if (a && b && (a->standard_errors.empty() || b->standard_errors.empty()))
    a->standard_errors = b->standard_errors = {};
  if (a && b && a->artifact.kind == kQTable && b->artifact.kind == kQTable)
    a->artifact = b->artifact = {};
  return a == b;
}

void require_same_results(Database& from, const FoundRun& theirs, Database& to,
                          const FoundRun& ours) {
  std::string difference = first_difference(numbers_of(to, ours.id), numbers_of(from, theirs.id));
  if (difference.empty() && !same_policies(read_policy(to, ours.id), read_policy(from, theirs.id)))
    difference = "their policies differ";
  if (!difference.empty())
    throw Error(Errc::data, fmt::format("{} has other numbers in {} than in {}: {}; one of them is "
                                        "wrong, so nothing is merged",
                                        name_of(from, theirs), to.name(), from.name(), difference));
}

void copy_run(Database& from, std::int64_t run, Database& to) {
  Statement head(from,
                 "SELECT config, seed, algorithm_version, host, machine, program, finished, error "
                 "FROM run WHERE id = ?");
  head.bind(run);
  if (!head.step()) return;
  Statement insert(to,
                   "INSERT INTO run (config, seed, algorithm_version, host, machine, program, "
                   "finished, error) VALUES (?, ?, ?, ?, ?, ?, ?, nullif(?, ''))");
  insert.bind(head.text(0)).bind(head.integer(1)).bind(head.integer(2));
  for (const int column : {3, 4, 5, 6, 7}) insert.bind(head.text(column));
  insert.run();
  const std::int64_t copy = to.last_id();

  Statement measurements(from,
                         "SELECT m.episode, n.name, m.value FROM measurement m JOIN metric n "
                         "ON n.id = m.metric WHERE m.run = ?");
  Statement insert_metric(to, "INSERT OR IGNORE INTO metric (name) VALUES (?)");
  Statement insert_measurement(to,
                               "INSERT INTO measurement (run, episode, metric, value) "
                               "SELECT ?, ?, id, ? FROM metric WHERE name = ?");
  measurements.bind(run);
  while (measurements.step()) {
    insert_metric.bind(measurements.text(1)).run();
    insert_measurement.bind(copy).bind(measurements.integer(0)).bind(measurements.number(2));
    insert_measurement.bind(measurements.text(1)).run();
  }
  Statement policy(from, "SELECT kind, shape, bytes FROM policy WHERE run = ?");
  policy.bind(run);
  if (policy.step())
    Statement(to, "INSERT INTO policy (run, kind, shape, bytes) VALUES (?, ?, ?, ?)")
        .bind(copy)
        .bind(policy.text(0))
        .bind(policy.text(1))
        .bind(std::span<const std::byte>(policy.blob(2)))
        .run();
  Statement errors(from, "SELECT standard_error FROM policy_error WHERE run = ?");
  errors.bind(run);
  if (errors.step())
    Statement(to, "INSERT INTO policy_error (run, standard_error) VALUES (?, ?)")
        .bind(copy)
        .bind(std::span<const std::byte>(errors.blob(0)))
        .run();
  // A run without a checksum is copied without one: nothing shows that it is still as written.
  Statement known(from, "SELECT checksum IS NOT NULL FROM run WHERE id = ?");
  known.bind(run);
  if (known.step() && known.integer(0) != 0) set_checksum_of_run(to, copy);
}

// Copies the parts of one store into another.
class Merging {
 public:
  Merging(Database& from, Database& to, Damaged damaged, MergeOutcome& outcome)
      : from_(from), to_(to), damaged_(damaged), outcome_(outcome) {}

  void copy_configs() {
    Statement rows(from_, "SELECT hash FROM config ORDER BY hash");
    while (rows.step()) {
      const std::string hash = rows.text(0);
      if (const Configuration configuration = read_config(from_, hash);
          configuration.hash() == hash)
        insert_config(to_, hash, configuration);
      else
        leave_out(fmt::format("the configuration {}", hash));
    }
  }

  // Returns false if the experiment is damaged. Its runs are still copied, but belong to no
  // experiment until its spec is run again.
  bool copy_experiment(const std::string& name) {
    if (!experiment_is_intact(from_, name)) {
      leave_out(fmt::format("the spec of experiment '{}', or what it refers to", name));
      return false;
    }
    Statement references(from_,
                         "SELECT agent, config, seed, algorithm_version FROM experiment_run "
                         "WHERE experiment = ? ORDER BY 1, 2, 3, 4");
    references.bind(name);
    // Whether `to` has the label with another configuration or algorithm version.
    Statement other(to_,
                    "SELECT 1 FROM experiment_run WHERE experiment = ? AND agent = ? "
                    "AND NOT (config = ? AND algorithm_version = ?) LIMIT 1");
    Statement insert(to_, "INSERT OR IGNORE INTO experiment_run VALUES (?, ?, ?, ?, ?)");
    while (references.step()) {
      const std::string agent = references.text(0);
      const std::string config = references.text(1);
      if (!has_config(config)) continue;
      other.bind(name).bind(agent).bind(config).bind(references.integer(3));
      if (other.step())
        throw Error(Errc::data,
                    fmt::format("{}: agent '{}' of experiment '{}' is another one in {}; rename "
                                "one of them",
                                to_.name(), agent, name, from_.name()));
      other.reset();
      insert.bind(name).bind(agent).bind(config);
      insert.bind(references.integer(2)).bind(references.integer(3)).run();
    }
    Statement spec(from_, "SELECT spec FROM experiment WHERE name = ?");
    spec.bind(name);
    if (spec.step())
      Statement(to_, "INSERT OR IGNORE INTO experiment (name, spec) VALUES (?, ?)")
          .bind(name)
          .bind(spec.text(0))
          .run();
    return true;
  }

  // Copies the runs that `to` does not have, and finished ones that failed in `to`.
  void copy_runs(const std::function<bool()>& keep_going) {
    for (const FoundRun& run : all_runs(from_)) {
      if (keep_going && !keep_going()) throw Error(Errc::io, "interrupted, so nothing is merged");
      if (!has_config(run.config) || !run_is_intact(from_, run.id)) {
        leave_out(name_of(from_, run));
        continue;
      }
      const auto ours = find_run(to_, run);
      if (ours && !ours->failed && !run.failed) require_same_results(from_, run, to_, *ours);
      if (ours && (!ours->failed || run.failed)) continue;
      if (ours) Statement(to_, "DELETE FROM run WHERE id = ?").bind(ours->id).run();
      copy_run(from_, run.id, to_);
      ++outcome_.added;
    }
  }

  void copy_diagnoses() {
    Statement found(from_, "SELECT experiment, json, checksum FROM diagnosis ORDER BY experiment");
    while (found.step()) {
      const std::int64_t checksum = checksum_of_diagnosis(found.text(0), found.text(1));
      if (!found.is_null(2) && found.integer(2) != checksum) {
        leave_out(fmt::format("the diagnosis of experiment '{}'", found.text(0)));
        continue;
      }
      Statement insert(
          to_,
          found.is_null(2)
              ? "INSERT OR IGNORE INTO diagnosis (experiment, json) VALUES (?, ?)"
              : "INSERT OR IGNORE INTO diagnosis (experiment, json, checksum) VALUES (?, ?, ?)");
      insert.bind(found.text(0)).bind(found.text(1));
      if (!found.is_null(2)) insert.bind(checksum);
      insert.run();
    }
  }

  void leave_out(const std::string& what) {
    if (damaged_ == Damaged::stop)
      throw Error(Errc::data, fmt::format("{}: {} is damaged, so nothing is merged; --skip-damaged "
                                          "leaves it out",
                                          from_.name(), what));
    outcome_.left_out.push_back(fmt::format("{}: {}", from_.name(), what));
  }

 private:
  bool has_config(const std::string& hash) {
    Statement found(to_, "SELECT 1 FROM config WHERE hash = ?");
    found.bind(hash);
    return found.step();
  }

  Database& from_;
  Database& to_;
  Damaged damaged_;
  MergeOutcome& outcome_;
};

}  // namespace

MergeOutcome Store::merge(std::span<const Store> others, Damaged damaged,
                          const std::function<bool()>& keep_going) {
  Database& db = impl_->db;
  // Damage in this store must be found before new checksums are computed, which would hide it.
  for (const std::string& experiment : experiments()) impl_->require_intact(experiment);
  Transaction transaction(db);
  MergeOutcome outcome;
  std::set<std::string> changed;
  for (const Store& other : others) {
    Database& from = other.impl_->db;
    const ReadTransaction one_moment(from);  // another process may write to it
    Merging merging(from, db, damaged, outcome);
    for (const std::string& part :
         other.impl_->has_ledger ? parts_unlike_ledger(from) : std::vector<std::string>())
      merging.leave_out(fmt::format("what is missing in its table '{}'", part));
    merging.copy_configs();
    for (const std::string& experiment : other.experiments())
      if (merging.copy_experiment(experiment)) changed.insert(experiment);
    merging.copy_runs(keep_going);
    merging.copy_diagnoses();
  }
  for (const std::string& experiment : changed) set_checksum_of_experiment(db, experiment);
  transaction.commit();
  impl_->require_in_place();
  return outcome;
}

}  // namespace hilo
