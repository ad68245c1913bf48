#include "hilo/store/detail/schema.hpp"

#include <fmt/format.h>

#include "hilo/store/detail/config_rows.hpp"
#include "hilo/store/store.hpp"

namespace hilo {
namespace {

constexpr const char* kPolicy = R"sql(
-- The final policy. Its kind says how to read shape and bytes. q-table: the shape is
-- "states,actions", the bytes are states * actions little-endian doubles, deflated.
CREATE TABLE policy (
  run INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  shape TEXT NOT NULL,
  bytes BLOB NOT NULL
);
)sql";

constexpr const char* kConfigValue = R"sql(
CREATE TABLE config_value (
  config TEXT NOT NULL,
  position INTEGER NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (config, position)
) WITHOUT ROWID;
)sql";

// The ledger holds the number of rows of a table and the sum of their checksums. Triggers keep it
// up to date, so that a row that is lost through damage is noticed.
std::string ledger() {
  std::string sql = R"sql(
CREATE TABLE ledger (
  part TEXT PRIMARY KEY,
  rows INTEGER NOT NULL,
  checksums INTEGER NOT NULL
) WITHOUT ROWID;
)sql";
  for (const char* part : {"run", "experiment", "diagnosis"})
    sql += fmt::format(R"sql(
INSERT INTO ledger SELECT '{0}', count(*), coalesce(sum(checksum), 0) FROM {0};
CREATE TRIGGER {0}_added AFTER INSERT ON {0} BEGIN
  UPDATE ledger SET rows = rows + 1, checksums = checksums + coalesce(NEW.checksum, 0)
  WHERE part = '{0}';
END;
CREATE TRIGGER {0}_changed AFTER UPDATE OF checksum ON {0} BEGIN
  UPDATE ledger SET checksums = checksums - coalesce(OLD.checksum, 0) + coalesce(NEW.checksum, 0)
  WHERE part = '{0}';
END;
CREATE TRIGGER {0}_removed AFTER DELETE ON {0} BEGIN
  UPDATE ledger SET rows = rows - 1, checksums = checksums - coalesce(OLD.checksum, 0)
  WHERE part = '{0}';
END;
)sql",
                       part);
  return sql;
}

bool has_table(Database& db, std::string_view name) {
  Statement found(db, "SELECT 1 FROM main.sqlite_master WHERE name = ?");
  found.bind(name);
  return found.step();
}

}  // namespace

std::string schema() {
  return fmt::format(R"sql(
BEGIN IMMEDIATE;
PRAGMA application_id = {id};
PRAGMA user_version = {version};

-- Everything that decides the results of a run except its seed. The hash is computed from the lines
-- "key = value" of config_value, ordered by position.
CREATE TABLE config (
  hash TEXT PRIMARY KEY
) WITHOUT ROWID;
{config_value}
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
  checksum INTEGER,        -- of all that belongs to it; NULL: hilo 0.1 wrote it
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

{policy}
-- Standard errors of the values of a Q table, in the same form; infinite where unknown.
CREATE TABLE policy_error (
  run INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  standard_error BLOB NOT NULL
);

CREATE TABLE experiment (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL,      -- as it was last run
  checksum INTEGER         -- of it and of what it refers to
) WITHOUT ROWID;

-- The result of hilo diagnose, in the format of its option --json.
CREATE TABLE diagnosis (
  experiment TEXT PRIMARY KEY,
  json TEXT NOT NULL,
  checksum INTEGER
) WITHOUT ROWID;

-- Experiments own nothing: they name agents and refer to runs, which may not exist yet.
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
{ledger}
COMMIT;
)sql",
                     fmt::arg("id", kApplicationId), fmt::arg("version", Store::kSchemaVersion),
                     fmt::arg("config_value", kConfigValue), fmt::arg("policy", kPolicy),
                     fmt::arg("ledger", ledger()));
}

// Temporary views and tables hide the tables of the same name in the file.
void show_as_present(Database& db, std::int64_t version) {
  db.execute("PRAGMA temp_store = MEMORY");
  if (version == kUnverifiedVersion) {
    db.execute(R"sql(
CREATE TEMP VIEW run AS SELECT *, NULL AS checksum FROM main.run;
CREATE TEMP VIEW experiment AS SELECT *, NULL AS checksum FROM main.experiment;
CREATE TEMP VIEW policy AS
  SELECT run, 'q-table' AS kind, num_states || ',' || num_actions AS shape, q AS bytes
  FROM main.policy;
)sql");
    if (has_table(db, "diagnosis"))
      db.execute("CREATE TEMP VIEW diagnosis AS SELECT *, NULL AS checksum FROM main.diagnosis");
    else
      db.execute("CREATE TEMP TABLE diagnosis (experiment TEXT, json TEXT, checksum INTEGER)");
    if (!has_table(db, "policy_error"))
      db.execute("CREATE TEMP TABLE policy_error (run INTEGER, standard_error BLOB)");
  }
  if (version <= kConfigTextVersion) {
    db.execute(
        "CREATE TEMP TABLE config_value (config TEXT, position INTEGER, key TEXT, value TEXT, "
        "PRIMARY KEY (config, position)) WITHOUT ROWID");
    split_config_texts(db);
  }
}

void upgrade(Database& db, std::int64_t version) {
  Transaction transaction(db);
  if (version == kUnverifiedVersion)
    db.execute(fmt::format(R"sql(
CREATE TABLE IF NOT EXISTS policy_error (
  run INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  standard_error BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS diagnosis (
  experiment TEXT PRIMARY KEY,
  json TEXT NOT NULL
) WITHOUT ROWID;
ALTER TABLE run ADD COLUMN checksum INTEGER;
ALTER TABLE experiment ADD COLUMN checksum INTEGER;
ALTER TABLE diagnosis ADD COLUMN checksum INTEGER;
ALTER TABLE policy RENAME TO policy_before;
{}
INSERT INTO policy
  SELECT run, 'q-table', num_states || ',' || num_actions, q FROM policy_before;
DROP TABLE policy_before;
{}
)sql",
                           kPolicy, ledger()));
  if (version <= kConfigTextVersion) {
    db.execute(kConfigValue);
    split_config_texts(db);
    db.execute("ALTER TABLE config DROP COLUMN canonical");
  }
  db.execute(fmt::format("PRAGMA user_version = {}", Store::kSchemaVersion));
  transaction.commit();
}

}  // namespace hilo
