#include "hilo/store/detail/journal_schema.hpp"

#include <fmt/format.h>

#include "hilo/store/journal.hpp"

namespace hilo {

std::string journal_schema() {
  return fmt::format(R"sql(
BEGIN IMMEDIATE;
PRAGMA application_id = {};
PRAGMA user_version = {};

CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  seed INTEGER NOT NULL,
  identity TEXT NOT NULL,  -- lines "key = value"
  spec TEXT NOT NULL,      -- TOML
  program TEXT NOT NULL,
  started TEXT NOT NULL,   -- UTC
  simulators TEXT NOT NULL,  -- lines "role", "name", "version", "identity" of each
  checksum INTEGER NOT NULL,
  UNIQUE (name, seed)
);

-- The attempts of a run, numbered from 1 without gaps.
CREATE TABLE attempt (
  run INTEGER NOT NULL,
  position INTEGER NOT NULL,
  episode INTEGER NOT NULL,
  test INTEGER NOT NULL,     -- -1 in training
  number INTEGER NOT NULL,
  seed INTEGER NOT NULL,
  status TEXT NOT NULL,      -- finished or failed
  error TEXT NOT NULL,
  steps INTEGER NOT NULL,
  cost REAL NOT NULL,
  cost_source TEXT NOT NULL,
  low_steps INTEGER NOT NULL,
  low_seconds REAL NOT NULL,
  seconds REAL NOT NULL,
  clock REAL NOT NULL,
  started TEXT NOT NULL,
  host TEXT NOT NULL,
  path BLOB,                 -- up to where it failed
  checksum INTEGER NOT NULL,
  PRIMARY KEY (run, position),
  UNIQUE (run, episode, test, number)
) WITHOUT ROWID;

CREATE TABLE decision (
  run INTEGER NOT NULL,
  what TEXT NOT NULL,
  value REAL NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (run, what)
) WITHOUT ROWID;
COMMIT;
)sql",
                     kJournalId, Journal::kSchemaVersion);
}

}  // namespace hilo
