#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hilo/core/parameters.hpp"
#include "hilo/store/detail/policy_bytes.hpp"
#include "hilo/store/detail/store_impl.hpp"

// The part of Store that reads.
namespace hilo {
std::set<RunKey> Store::finished() const {
  std::set<RunKey> keys;
  Statement rows(impl_->db, "SELECT config, seed, algorithm_version FROM run WHERE error IS NULL");
  while (rows.step())
    keys.insert({rows.text(0), static_cast<std::uint64_t>(rows.integer(1)),
                 static_cast<std::uint32_t>(rows.integer(2))});
  return keys;
}

std::uint64_t Store::unverified() const {
  Statement count(impl_->db, "SELECT count(*) FROM run WHERE checksum IS NULL");
  return count.step() ? static_cast<std::uint64_t>(count.integer(0)) : 0;
}

std::set<RunKey> Store::runs_of(const std::string& experiment) const {
  if (impl_->knows(experiment)) impl_->require_intact(experiment);
  std::set<RunKey> keys;
  Statement rows(impl_->db,
                 "SELECT config, seed, algorithm_version FROM experiment_run WHERE experiment = ?");
  rows.bind(experiment);
  while (rows.step())
    keys.insert({rows.text(0), static_cast<std::uint64_t>(rows.integer(1)),
                 static_cast<std::uint32_t>(rows.integer(2))});
  return keys;
}

std::vector<std::string> Store::experiments() const {
  Statement rows(impl_->db,
                 "SELECT experiment FROM experiment_run UNION SELECT name FROM experiment "
                 "ORDER BY 1");
  std::vector<std::string> names;
  while (rows.step()) names.push_back(rows.text(0));
  return names;
}

std::string Store::config_of(const std::string& experiment, const std::string& agent) const {
  Statement row(impl_->db,
                "SELECT config FROM experiment_run WHERE experiment = ? AND agent = ? LIMIT 1");
  row.bind(experiment).bind(agent);
  return row.step() ? row.text(0) : "";
}

std::vector<std::string> Store::agents(const std::string& experiment) const {
  if (impl_->knows(experiment)) impl_->require_intact(experiment);
  Statement rows(impl_->db,
                 "SELECT DISTINCT agent FROM experiment_run WHERE experiment = ? ORDER BY agent");
  rows.bind(experiment);
  std::vector<std::string> names;
  while (rows.step()) names.push_back(rows.text(0));
  return names;
}

// Checks all runs of the experiment's configurations, whatever their seeds, versions and errors: a
// run in which one of these fields is damaged would otherwise only seem to be missing.
void Store::require_intact(const std::string& experiment) const {
  if (!impl_->knows(experiment)) return;
  impl_->require_intact(experiment);
  Statement runs(impl_->db,
                 "SELECT DISTINCT e.agent, r.seed, r.id FROM (SELECT DISTINCT agent, config FROM "
                 "experiment_run WHERE experiment = ?) e JOIN run r USING (config) ORDER BY 1, 2");
  runs.bind(experiment);
  while (runs.step())
    impl_->require_intact_run(runs.integer(2), experiment, runs.text(0),
                              static_cast<std::uint64_t>(runs.integer(1)));
}

void Store::for_each_result(const std::string& experiment,
                            const std::function<void(const ResultRow&)>& visit) const {
  for (const std::string& name : experiments())
    if (experiment.empty() || name == experiment) require_intact(name);
  // Run by run, so that only the rows of one run have to be sorted at a time.
  Statement runs(impl_->db,
                 "SELECT e.experiment, e.agent, e.seed, r.id FROM experiment_run e JOIN run r "
                 "USING (config, seed, algorithm_version) WHERE r.error IS NULL "
                 "AND (?1 = '' OR e.experiment = ?1) ORDER BY 1, 2, 3");
  runs.bind(experiment);
  Statement rows(impl_->db,
                 "SELECT m.episode, n.name, m.value FROM measurement m JOIN metric n "
                 "ON n.id = m.metric WHERE m.run = ? ORDER BY 1, 2");
  ResultRow row;
  while (runs.step()) {
    row.experiment = runs.text(0);
    row.agent = runs.text(1);
    row.seed = static_cast<std::uint64_t>(runs.integer(2));
    rows.bind(runs.integer(3));
    while (rows.step()) {
      row.episode = static_cast<std::uint64_t>(rows.integer(0));
      row.metric = rows.text(1);
      row.value = rows.number(2);
      visit(row);
    }
    rows.reset();
  }
}

std::vector<FailedRun> Store::failed_runs(const std::string& experiment) const {
  Statement rows(impl_->db,
                 "SELECT e.experiment, e.agent, e.seed, r.error, r.id FROM experiment_run e JOIN "
                 "run r USING (config, seed, algorithm_version) WHERE r.error IS NOT NULL "
                 "AND (?1 = '' OR e.experiment = ?1) ORDER BY 1, 2, 3");
  rows.bind(experiment);
  std::vector<FailedRun> failed;
  while (rows.step()) {
    failed.push_back(
        {rows.text(0), rows.text(1), static_cast<std::uint64_t>(rows.integer(2)), rows.text(3)});
    impl_->require_intact_run(rows.integer(4), rows.text(0), rows.text(1), failed.back().seed);
  }
  return failed;
}

std::vector<AgentStatus> Store::agent_status(const std::string& experiment) const {
  if (impl_->knows(experiment)) impl_->require_intact(experiment);
  Statement rows(
      impl_->db,
      "SELECT e.agent, c.hash, count(*), sum(r.id IS NOT NULL AND r.error IS NULL), "
      "sum(r.error IS NOT NULL) FROM experiment_run e JOIN config c ON c.hash = e.config "
      "LEFT JOIN run r USING (config, seed, algorithm_version) "
      "WHERE e.experiment = ? GROUP BY e.agent ORDER BY e.agent");
  rows.bind(experiment);
  std::vector<AgentStatus> out;
  const auto count = [&](int column) { return static_cast<std::uint64_t>(rows.integer(column)); };
  while (rows.step()) {
    Configuration configuration = read_config(impl_->db, rows.text(1));
    if (configuration.hash() != rows.text(1))
      throw Error(Errc::data, fmt::format("{}: the store is damaged: the configuration of agent "
                                          "'{}' is not what was written",
                                          impl_->db.name(), rows.text(0)));
    out.push_back({rows.text(0), std::move(configuration), count(2), count(3), count(4)});
  }
  return out;
}

Provenance Store::provenance(const std::string& experiment) const {
  if (impl_->knows(experiment)) impl_->require_intact(experiment);
  Provenance out;
  Statement spec(impl_->db, "SELECT spec FROM experiment WHERE name = ?");
  spec.bind(experiment);
  if (spec.step()) out.spec = spec.text(0);
  const auto distinct = [&](const std::string& column) {
    Statement rows(impl_->db,
                   fmt::format("SELECT DISTINCT r.{} FROM experiment_run e JOIN run r "
                               "USING (config, seed, algorithm_version) WHERE e.experiment = ? "
                               "ORDER BY 1",
                               column));
    rows.bind(experiment);
    std::vector<std::string> values;
    while (rows.step()) values.push_back(rows.text(0));
    return values;
  };
  out.programs = distinct("program");
  out.hosts = distinct("host");
  out.machines = distinct("machine");
  const std::vector<std::string> finished = distinct("finished");
  if (!finished.empty()) {
    out.first_finished = finished.front();
    out.last_finished = finished.back();
  }
  Statement seeds(impl_->db,
                  "SELECT min(seed), max(seed) FROM experiment_run WHERE experiment = ?");
  seeds.bind(experiment);
  if (seeds.step()) {
    out.first_seed = static_cast<std::uint64_t>(seeds.integer(0));
    out.last_seed = static_cast<std::uint64_t>(seeds.integer(1));
  }
  return out;
}

StoredPolicy Store::policy(const std::string& experiment, const std::string& agent,
                           std::uint64_t seed) const {
  if (auto found = find_policy(experiment, agent, seed)) return std::move(*found);
  std::vector<std::int64_t> seeds;
  Statement rows(impl_->db,
                 "SELECT e.seed FROM experiment_run e JOIN run r USING (config, seed, "
                 "algorithm_version) JOIN policy p ON p.run = r.id WHERE e.experiment = ? AND "
                 "e.agent = ? ORDER BY 1 LIMIT 20");
  rows.bind(experiment).bind(agent);
  while (rows.step()) seeds.push_back(rows.integer(0));
  throw Error(
      Errc::usage,
      fmt::format(
          "{}: no policy of experiment '{}', agent '{}', seed {}; the store has "
          "the experiments {} and the agents {}{}{}",
          impl_->db.name(), experiment, agent, seed, fmt::join(experiments(), ", "),
          fmt::join(agents(experiment), ", "), did_you_mean(agent, agents(experiment)),
          seeds.empty() ? "" : fmt::format("; this one has the seeds {}", fmt::join(seeds, ", "))));
}

std::optional<StoredPolicy> Store::find_policy(const std::string& experiment,
                                               const std::string& agent, std::uint64_t seed) const {
  if (impl_->knows(experiment)) impl_->require_intact(experiment);
  Statement row(impl_->db,
                "SELECT r.id FROM experiment_run e JOIN run r "
                "USING (config, seed, algorithm_version) WHERE e.experiment = ? AND e.agent = ? "
                "AND e.seed = ?");
  row.bind(experiment).bind(agent).bind(static_cast<std::int64_t>(seed));
  if (!row.step()) return std::nullopt;
  const std::int64_t run = row.integer(0);
  impl_->require_intact_run(run, experiment, agent, seed);
  std::optional<PolicyRows> rows = read_policy(impl_->db, run);
  if (!rows) return std::nullopt;
  return StoredPolicy{.experiment = experiment,
                      .agent = agent,
                      .seed = seed,
                      .artifact = std::move(rows->artifact),
                      .num_states = rows->table.num_states,
                      .num_actions = rows->table.num_actions,
                      .q = std::move(rows->table.values),
                      .standard_errors = std::move(rows->standard_errors)};
}

std::string Store::diagnosis(const std::string& experiment) const {
  Statement row(impl_->db, "SELECT json, checksum FROM diagnosis WHERE experiment = ?");
  row.bind(experiment);
  if (!row.step()) return "";
  std::string json = row.text(0);
  if (!row.is_null(1) && row.integer(1) != checksum_of_diagnosis(experiment, json))
    throw Error(Errc::data,
                fmt::format("{}: the store is damaged: the diagnosis of experiment '{}' "
                            "is not what was written",
                            impl_->db.name(), experiment));
  return json;
}

std::vector<std::string> Store::diagnosed() const {
  std::vector<std::string> out;
  Statement rows(impl_->db, "SELECT experiment FROM diagnosis ORDER BY experiment");
  while (rows.step()) out.push_back(rows.text(0));
  return out;
}

}  // namespace hilo
