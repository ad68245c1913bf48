#include "hilo/store/detail/store_impl.hpp"

#include <fmt/format.h>

// How a store is opened and closed, and how it notices that it was changed from outside.
namespace hilo {
namespace {

namespace fs = std::filesystem;

fs::path log_of(const fs::path& file) { return file.string() + "-wal"; }

// Unused file names for a copy of the store, in the order in which they are tried: in the folder of
// the store, in the current folder and in the folder for temporary files.
std::vector<fs::path> places_to_rescue(const fs::path& file) {
  std::vector<fs::path> places;
  std::error_code error;
  for (const fs::path& folder :
       {file.parent_path(), fs::current_path(error), fs::temp_directory_path(error)})
    for (int k = 0; k < 100; ++k) {
      fs::path place = folder / file.filename();
      place += k == 0 ? std::string(".rescued") : fmt::format(".rescued-{}", k);
      if (fs::exists(place, error)) continue;
      places.push_back(std::move(place));
      break;
    }
  return places;
}

// Copies the store through the open connection, which still reaches the file after its name is
// gone. Returns the path of the copy.
std::optional<fs::path> rescue(Database& db, const fs::path& file) {
  for (const fs::path& place : places_to_rescue(file)) {
    try {
      Statement(db, "VACUUM INTO ?").bind(place.string()).run();
      return place;
    } catch (const Error&) {
      std::error_code ignored;
      fs::remove(place, ignored);
    }
  }
  return std::nullopt;
}

}  // namespace

Store::Impl::Impl(fs::path store_file, bool write, Damaged damaged)
    : file(std::move(store_file)),
      lock(write ? std::make_unique<WriterLock>(file) : nullptr),
      is_new(write && !fs::exists(file)),
      db(open_database(file, write, schema())),
      identity(identity_of(file)) {
  const std::int64_t version = require_ours(db);
  require_full_length(db, file);
  require_undamaged(db);
  if (write) {
    // With a write-ahead log, commits need no sync, a killed process loses nothing it has
    // committed, and other processes can read meanwhile.
    db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    if (version != kSchemaVersion) upgrade(db, version);
  } else if (version != kSchemaVersion) {
    show_as_present(db, version);
    has_ledger = version != kUnverifiedVersion;
  }
  if (has_ledger && damaged == Damaged::stop) require_ledger(db);
  if (write) log_identity = identity_of(log_of(file));
  db.execute("PRAGMA foreign_keys = ON");
}

bool Store::Impl::rest() {
  if (!lock) return true;
  // A file that has replaced ours has a log of the same name, which must be left alone.
  if (identity_of(file) != identity) return false;
  return end_log(db);
}

void Store::Impl::require_in_place() {
  if (!lock || (!is_lost && identity_of(file) == identity)) return;
  if (!is_lost) {
    kept = rescue(db, file);
    // SQLite would take our log for the log of the next file with this name.
    std::error_code ignored;
    if (log_identity && identity_of(log_of(file)) == log_identity)
      for (const char* suffix : {"-wal", "-shm"}) fs::remove(file.string() + suffix, ignored);
  }
  is_lost = true;  // the content is rescued only once
  throw Error(
      Errc::io,
      fmt::format("{}: the store was removed or replaced while it was written; {}", file.string(),
                  kept ? fmt::format("all that it held is kept in {}", kept->string())
                       : "what it held cannot be kept, because nothing can be written"));
}

bool Store::Impl::knows(const std::string& experiment) {
  Statement found(db,
                  "SELECT 1 FROM experiment WHERE name = ?1 UNION "
                  "SELECT 1 FROM experiment_run WHERE experiment = ?1");
  found.bind(experiment);
  return found.step();
}

void Store::Impl::require_intact(const std::string& experiment) {
  const std::scoped_lock one_at_a_time(intact_guard);
  if (intact.contains(experiment)) return;
  if (!experiment_is_intact(db, experiment))
    throw Error(Errc::data,
                fmt::format("{}: the store is damaged: the runs or the spec of experiment '{}' are "
                            "not what was written; hilo merge --skip-damaged brings what is "
                            "whole into a new store",
                            db.name(), experiment));
  intact.insert(experiment);
}

void Store::Impl::require_intact_run(std::int64_t run, const std::string& experiment,
                                     const std::string& agent, std::uint64_t seed) {
  if (run_is_intact(db, run)) return;
  throw Error(Errc::data,
              fmt::format("{}: the store is damaged: the run of experiment '{}', agent '{}', seed "
                          "{} is not what was written; hilo merge --skip-damaged brings all other "
                          "runs into a new store",
                          db.name(), experiment, agent, seed));
}

}  // namespace hilo
