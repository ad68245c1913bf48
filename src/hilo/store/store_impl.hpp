#pragma once

#include <fmt/format.h>

#include "hilo/core/error.hpp"
#include "hilo/store/schema.hpp"
#include "hilo/store/sqlite.hpp"
#include "hilo/store/store.hpp"
#include "hilo/store/store_file.hpp"
#include "hilo/store/writer_lock.hpp"

// For the sources of this folder only.
namespace hilo {

struct Store::Impl {
  Impl(const std::filesystem::path& file, bool write)
      : lock(write ? std::make_unique<WriterLock>(file) : nullptr), db(open(file, write)) {
    require_ours(db);
    require_full_length(db, file);
    if (write) {
      require_undamaged(db);
      // A write-ahead log: commits need no sync, a killed process loses nothing it committed, and
      // others can read meanwhile.
      db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
      db.execute(additions());
    }
    db.execute("PRAGMA foreign_keys = ON");
  }

  // With the lock held. A new store is made beside its place and then moved there, so that a store
  // is there as a whole or not at all, whenever the process is killed.
  static Database open(const std::filesystem::path& file, bool write) {
    if (!write) return {file, Database::Mode::read};
    std::error_code ignored;
    if (!std::filesystem::exists(file) || std::filesystem::file_size(file, ignored) == 0) {
      const std::filesystem::path made = file.string() + ".new";
      std::filesystem::remove(made, ignored);
      std::filesystem::remove(made.string() + "-journal", ignored);
      Database(made, Database::Mode::create).execute(schema());
      std::filesystem::rename(made, file, ignored);
      if (ignored)
        throw Error(Errc::io, fmt::format("{}: the store cannot be made: {}", file.string(),
                                          ignored.message()));
    }
    return {file, Database::Mode::write};
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // A store at rest is one file, readable where nothing can be written.
  ~Impl() {
    if (!lock) return;
    try {
      db.pragma("journal_mode = DELETE");
    } catch (const Error&) {
      // A reader is still there; the log stays until the next writer leaves.
    }
  }

  std::unique_ptr<WriterLock> lock;
  mutable Database db;
};

}  // namespace hilo
