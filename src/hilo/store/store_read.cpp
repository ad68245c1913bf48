#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include "hilo/store/store_impl.hpp"

// The half of Store that asks.
namespace hilo {
namespace {

std::vector<double> expand_values(const std::vector<std::byte>& bytes, std::size_t count,
                                  const std::string& name) {
  std::vector<double> values(count);
  uLongf size = count * sizeof(double);
  const int code =
      uncompress(reinterpret_cast<Bytef*>(values.data()), &size,
                 reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()));
  if (code != Z_OK || size != count * sizeof(double))
    throw Error(Errc::data, fmt::format("{}: the store is damaged: a policy cannot be read", name));
  return values;
}

}  // namespace

std::set<RunKey> Store::finished() const {
  std::set<RunKey> keys;
  Statement rows(impl_->db, "SELECT config, seed, algorithm_version FROM run WHERE error IS NULL");
  while (rows.step())
    keys.insert({rows.text(0), static_cast<std::uint64_t>(rows.integer(1)),
                 static_cast<std::uint32_t>(rows.integer(2))});
  return keys;
}

std::set<RunKey> Store::runs_of(const std::string& experiment) const {
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
  Statement rows(impl_->db, "SELECT DISTINCT experiment FROM experiment_run ORDER BY experiment");
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
  Statement rows(impl_->db,
                 "SELECT DISTINCT agent FROM experiment_run WHERE experiment = ? ORDER BY agent");
  rows.bind(experiment);
  std::vector<std::string> names;
  while (rows.step()) names.push_back(rows.text(0));
  return names;
}

void Store::for_each_result(const std::string& experiment,
                            const std::function<void(const ResultRow&)>& visit) const {
  // Run by run, so that nothing has to be sorted but one run's rows.
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
                 "SELECT e.experiment, e.agent, e.seed, r.error FROM experiment_run e JOIN run r "
                 "USING (config, seed, algorithm_version) WHERE r.error IS NOT NULL "
                 "AND (?1 = '' OR e.experiment = ?1) ORDER BY 1, 2, 3");
  rows.bind(experiment);
  std::vector<FailedRun> failed;
  while (rows.step())
    failed.push_back(
        {rows.text(0), rows.text(1), static_cast<std::uint64_t>(rows.integer(2)), rows.text(3)});
  return failed;
}

std::vector<AgentStatus> Store::agent_status(const std::string& experiment) const {
  Statement rows(
      impl_->db,
      "SELECT e.agent, c.canonical, count(*), sum(r.id IS NOT NULL AND r.error IS NULL), "
      "sum(r.error IS NOT NULL) FROM experiment_run e JOIN config c ON c.hash = e.config "
      "LEFT JOIN run r USING (config, seed, algorithm_version) "
      "WHERE e.experiment = ? GROUP BY e.agent ORDER BY e.agent");
  rows.bind(experiment);
  std::vector<AgentStatus> out;
  const auto count = [&](int column) { return static_cast<std::uint64_t>(rows.integer(column)); };
  while (rows.step()) out.push_back({rows.text(0), rows.text(1), count(2), count(3), count(4)});
  return out;
}

Provenance Store::provenance(const std::string& experiment) const {
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
  throw Error(Errc::usage,
              fmt::format("{}: no policy of experiment '{}', agent '{}', seed {}; the store has "
                          "the experiments {} and the agents {}",
                          impl_->db.name(), experiment, agent, seed, fmt::join(experiments(), ", "),
                          fmt::join(agents(experiment), ", ")));
}

std::optional<StoredPolicy> Store::find_policy(const std::string& experiment,
                                               const std::string& agent, std::uint64_t seed) const {
  Statement row(impl_->db,
                "SELECT p.num_states, p.num_actions, p.q, r.id FROM experiment_run e JOIN run r "
                "USING (config, seed, algorithm_version) JOIN policy p ON p.run = r.id "
                "WHERE e.experiment = ? AND e.agent = ? AND e.seed = ?");
  row.bind(experiment).bind(agent).bind(static_cast<std::int64_t>(seed));
  if (!row.step()) return std::nullopt;
  StoredPolicy policy{.experiment = experiment,
                      .agent = agent,
                      .seed = seed,
                      .num_states = static_cast<std::uint64_t>(row.integer(0)),
                      .num_actions = static_cast<std::uint64_t>(row.integer(1)),
                      .q = {},
                      .standard_errors = {}};
  constexpr std::uint64_t kMany = 1U << 30;
  if (policy.num_states == 0 || policy.num_actions == 0 || policy.num_states > kMany ||
      policy.num_actions > kMany / policy.num_states)
    throw Error(Errc::data, fmt::format("{}: the store is damaged: a policy has no sensible size",
                                        impl_->db.name()));
  const std::uint64_t num_pairs = policy.num_states * policy.num_actions;
  policy.q = expand_values(row.blob(2), num_pairs, impl_->db.name());
  if (!has_additions(impl_->db)) return policy;
  Statement errors(impl_->db, "SELECT standard_error FROM policy_error WHERE run = ?");
  errors.bind(row.integer(3));
  if (errors.step())
    policy.standard_errors = expand_values(errors.blob(0), num_pairs, impl_->db.name());
  return policy;
}

std::string Store::diagnosis(const std::string& experiment) const {
  if (!has_additions(impl_->db)) return "";
  Statement row(impl_->db, "SELECT json FROM diagnosis WHERE experiment = ?");
  row.bind(experiment);
  return row.step() ? row.text(0) : "";
}

std::vector<std::string> Store::diagnosed() const {
  std::vector<std::string> out;
  if (!has_additions(impl_->db)) return out;
  Statement rows(impl_->db, "SELECT experiment FROM diagnosis ORDER BY experiment");
  while (rows.step()) out.push_back(rows.text(0));
  return out;
}

}  // namespace hilo
