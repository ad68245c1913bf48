#include "hilo/store/schema.hpp"

#include <fmt/format.h>

#include "hilo/store/store.hpp"

namespace hilo {

std::string schema() {
  return fmt::format(R"sql(
BEGIN IMMEDIATE;
PRAGMA application_id = {};
PRAGMA user_version = {};

-- What decides the results of a run but its seed.
CREATE TABLE config (
  hash TEXT PRIMARY KEY,
  canonical TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  config TEXT NOT NULL REFERENCES config (hash),
  seed INTEGER NOT NULL,
  algorithm_version INTEGER NOT NULL,
  host TEXT NOT NULL,
  machine TEXT NOT NULL,
  program TEXT NOT NULL,
  finished TEXT NOT NULL,  -- UTC
  error TEXT,              -- NULL: it went well
  UNIQUE (config, seed, algorithm_version)
);

CREATE TABLE metric (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);

CREATE TABLE measurement (
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  episode INTEGER NOT NULL,
  metric INTEGER NOT NULL REFERENCES metric (id),
  value REAL NOT NULL,
  PRIMARY KEY (run, episode, metric)
) WITHOUT ROWID;

-- Final state-action values: num_states * num_actions little-endian doubles, deflated.
CREATE TABLE policy (
  run INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  num_states INTEGER NOT NULL,
  num_actions INTEGER NOT NULL,
  q BLOB NOT NULL
);

CREATE TABLE experiment (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL       -- as it was last run
) WITHOUT ROWID;

-- Experiments own nothing: they name agents and refer to runs, which may not be there yet.
CREATE TABLE experiment_run (
  experiment TEXT NOT NULL,
  agent TEXT NOT NULL,
  config TEXT NOT NULL REFERENCES config (hash),
  seed INTEGER NOT NULL,
  algorithm_version INTEGER NOT NULL,
  PRIMARY KEY (experiment, agent, seed, config, algorithm_version)
) WITHOUT ROWID;

CREATE VIEW result AS
  SELECT e.experiment, e.agent, e.seed, m.episode, n.name AS metric, m.value
  FROM experiment_run e
  JOIN run r USING (config, seed, algorithm_version)
  JOIN measurement m ON m.run = r.id
  JOIN metric n ON n.id = m.metric
  WHERE r.error IS NULL;
COMMIT;
)sql",
                     kApplicationId, Store::kSchemaVersion);
}

std::string additions() {
  return R"sql(
-- Standard errors of the values in policy.q, in the same form; infinite where unknown.
CREATE TABLE IF NOT EXISTS policy_error (
  run INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  standard_error BLOB NOT NULL
);

-- What hilo diagnose found, as it printed it with --json.
CREATE TABLE IF NOT EXISTS diagnosis (
  experiment TEXT PRIMARY KEY,
  json TEXT NOT NULL
) WITHOUT ROWID;
)sql";
}

bool has_additions(Database& db) {
  Statement found(db, "SELECT count(*) FROM sqlite_master WHERE name IN (?, ?)");
  found.bind(std::string("policy_error")).bind(std::string("diagnosis"));
  return found.step() && found.integer(0) == 2;
}

namespace {

void copy_additions_of_run(Database& from, std::int64_t run, Database& to, std::int64_t new_run) {
  Statement errors(from, "SELECT standard_error FROM policy_error WHERE run = ?");
  errors.bind(run);
  if (errors.step())
    Statement(to, "INSERT INTO policy_error (run, standard_error) VALUES (?, ?)")
        .bind(new_run)
        .bind(std::span<const std::byte>(errors.blob(0)))
        .run();
}

}  // namespace

void copy_diagnoses(Database& from, Database& to) {
  if (!has_additions(from)) return;
  Statement found(from, "SELECT experiment, json FROM diagnosis ORDER BY experiment");
  while (found.step())
    Statement(to, "INSERT OR IGNORE INTO diagnosis (experiment, json) VALUES (?, ?)")
        .bind(found.text(0))
        .bind(found.text(1))
        .run();
}

void copy_runs(Database& from, Database& to) {
  const bool more = has_additions(from);
  Statement runs(
      from,
      "SELECT id, config, seed, algorithm_version, host, machine, program, finished, error "
      "FROM run "
      "ORDER BY id");
  Statement replace(to,
                    "DELETE FROM run WHERE config = ? AND seed = ? AND algorithm_version = ? "
                    "AND error IS NOT NULL");
  Statement exists(to, "SELECT 1 FROM run WHERE config = ? AND seed = ? AND algorithm_version = ?");
  Statement insert_run(to,
                       "INSERT INTO run (config, seed, algorithm_version, host, machine, program, "
                       "finished, error) VALUES (?, ?, ?, ?, ?, ?, ?, nullif(?, ''))");
  Statement measurements(from,
                         "SELECT m.episode, n.name, m.value FROM measurement m JOIN metric n "
                         "ON n.id = m.metric WHERE m.run = ?");
  Statement insert_metric(to, "INSERT OR IGNORE INTO metric (name) VALUES (?)");
  Statement insert_measurement(to,
                               "INSERT INTO measurement (run, episode, metric, value) "
                               "SELECT ?, ?, id, ? FROM metric WHERE name = ?");
  Statement policies(from, "SELECT num_states, num_actions, q FROM policy WHERE run = ?");
  Statement insert_policy(to,
                          "INSERT INTO policy (run, num_states, num_actions, q) "
                          "VALUES (?, ?, ?, ?)");
  while (runs.step()) {
    const std::string config = runs.text(1);
    const std::int64_t seed = runs.integer(2);
    const std::int64_t version = runs.integer(3);
    if (runs.text(8).empty()) replace.bind(config).bind(seed).bind(version).run();
    exists.bind(config).bind(seed).bind(version);
    const bool there = exists.step();
    exists.reset();
    if (there) continue;
    insert_run.bind(config).bind(seed).bind(version);
    for (const int column : {4, 5, 6, 7, 8}) insert_run.bind(runs.text(column));
    insert_run.run();
    const std::int64_t run = to.last_id();

    measurements.bind(runs.integer(0));
    while (measurements.step()) {
      insert_metric.bind(measurements.text(1)).run();
      insert_measurement.bind(run).bind(measurements.integer(0)).bind(measurements.number(2));
      insert_measurement.bind(measurements.text(1)).run();
    }
    measurements.reset();
    policies.bind(runs.integer(0));
    if (policies.step())
      insert_policy.bind(run)
          .bind(policies.integer(0))
          .bind(policies.integer(1))
          .bind(std::span<const std::byte>(policies.blob(2)))
          .run();
    policies.reset();
    if (more) copy_additions_of_run(from, runs.integer(0), to, run);
  }
}

}  // namespace hilo
