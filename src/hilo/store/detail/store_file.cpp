#include "hilo/store/detail/store_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "hilo/core/error.hpp"
#include "hilo/core/text_file.hpp"
#include "hilo/store/detail/schema.hpp"
#include "hilo/store/store.hpp"

namespace hilo {

namespace fs = std::filesystem;

namespace {

// SQLite would take a log that a removed store has left behind for the log of the new store. Such a
// file is kept under another name.
void set_aside_orphans(const fs::path& file) {
  std::error_code error;
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    const fs::path orphan = file.string() + suffix;
    fs::path place = orphan.string() + ".orphan";
    for (int k = 1; fs::exists(place, error); ++k)
      place = fmt::format("{}.orphan-{}", orphan.string(), k);
    fs::rename(orphan, place, error);  // fails if there is none, the usual case
  }
}

// The suffix of a store that is being created. Only the process that holds the lock creates one, so
// that a file with this suffix that already exists was left behind by a killed process.
constexpr const char* kUnfinished = ".new";

void remove_unfinished(const fs::path& file) {
  std::error_code ignored;
  for (const char* suffix : {"", "-journal", "-wal", "-shm"})
    fs::remove(file.string() + kUnfinished + suffix, ignored);
}

}  // namespace

Database open_database(const fs::path& file, bool write, const std::string& schema,
                       const std::string& what) {
  if (!write) return {file, Database::Mode::read, what};
  remove_unfinished(file);
  if (!fs::exists(file)) {
    const fs::path made = file.string() + kUnfinished;
    try {
      Database(made, Database::Mode::create, what).execute(schema);
    } catch (const Error& e) {
      remove_unfinished(file);
      throw Error(e.code(),
                  fmt::format("{}: the {} cannot be made ({})", file.string(), what, e.what()));
    }
    set_aside_orphans(file);
    std::error_code error;
    fs::rename(made, file, error);
    if (error)
      throw Error(Errc::io, fmt::format("{}: the {} cannot be made: {}", file.string(), what,
                                        error.message()));
  }
  require_one_name(file);
  return {file, Database::Mode::write, what};
}

bool end_log(Database& db) {
  bool whole = true;
  try {
    db.pragma("journal_mode = DELETE");
  } catch (const Error&) {
    // Another process has the store open. If it is not reading at this moment, the log can still be
    // emptied, and the file is complete.
    try {
      whole = db.pragma("wal_checkpoint(TRUNCATE)") == 0;
    } catch (const Error&) {
      whole = false;
    }
  }
  return whole;
}

void require_store_file(const fs::path& file, std::string_view what) {
  std::error_code ignored;
  if (fs::symlink_status(file, ignored).type() == fs::file_type::not_found)
    throw Error(Errc::io, fmt::format("{}: there is no such {}", file.string(), what));
  if (fs::is_directory(file, ignored))
    throw Error(Errc::data, fmt::format("{}: is not a hilo {}, but a folder", file.string(), what));
  require_readable(file);
  if (!fs::is_regular_file(file, ignored))
    throw Error(Errc::data, fmt::format("{}: is not a hilo {}", file.string(), what));
  if (fs::file_size(file, ignored) == 0 && !ignored)
    throw Error(Errc::data,
                fmt::format("{}: is empty, and no {}; remove it, and a new one can be made",
                            file.string(), what));
}

void require_one_name(const fs::path& file) {
  std::error_code error;
  const auto names = fs::hard_link_count(file, error);
  if (!error && names > 1)
    throw Error(Errc::io, fmt::format("{}: has {} names (hard links), by each of which it could be "
                                      "written at the same time; copy it to a file of its own",
                                      file.string(), names));
}

std::optional<FileIdentity> identity_of(const fs::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) return std::nullopt;
  return FileIdentity{found.st_dev, found.st_ino};
}

fs::path behind_links(fs::path file) {
  std::error_code error;
  for (int depth = 0; depth < 40 && fs::is_symlink(file, error); ++depth)
    file = file.parent_path() / fs::read_symlink(file, error);
  return file;
}

void require_full_length(Database& db, const fs::path& file) {
  const auto expected = db.pragma("page_count") * db.pragma("page_size");
  std::error_code error;
  const auto actual = static_cast<std::int64_t>(fs::file_size(file, error));
  if (fs::exists(file.string() + "-wal")) return;  // pages may still be in the log
  if (error || actual < expected)
    throw Error(Errc::data, fmt::format("{}: the {} is damaged: it has {} bytes instead of {}",
                                        file.string(), db.what(), actual, expected));
}

std::int64_t require_ours(Database& db) {
  const std::int64_t id = db.pragma("application_id");
  if (id != kApplicationId)
    throw Error(Errc::data, fmt::format("{}: is not a hilo store", db.name()));
  const std::int64_t version = db.pragma("user_version");
  if (version < kUnverifiedVersion || version > Store::kSchemaVersion)
    throw Error(Errc::data,
                fmt::format("{}: the store has version {}, but this program reads the "
                            "versions {} to {}",
                            db.name(), version, kUnverifiedVersion, Store::kSchemaVersion));
  return version;
}

void require_undamaged(Database& db) {
  Statement check(db, "PRAGMA integrity_check(1)");
  if (check.step() && check.text(0) != "ok") {
    std::string reason = check.text(0);
    std::ranges::replace(reason, '\n', ' ');
    throw Error(Errc::data, fmt::format("{}: the {} is damaged: {}", db.name(), db.what(), reason));
  }
}

}  // namespace hilo
