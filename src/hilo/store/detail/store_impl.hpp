#pragma once

#include <mutex>
#include <set>

#include "hilo/core/error.hpp"
#include "hilo/store/detail/checksum.hpp"
#include "hilo/store/detail/config_rows.hpp"
#include "hilo/store/detail/schema.hpp"
#include "hilo/store/detail/sqlite.hpp"
#include "hilo/store/detail/store_file.hpp"
#include "hilo/store/detail/writer_lock.hpp"
#include "hilo/store/store.hpp"

// For the sources of this folder only: the state of an open store.
namespace hilo {

struct Store::Impl {
  Impl(std::filesystem::path store_file, bool write, Damaged damaged);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { rest(); }

  // Moves the contents of the log into the file, so that the store is one file, which can also be
  // read in a read-only folder. Returns false if a part stays in the log because another process is
  // reading, or if the file was replaced. Does nothing for a reader.
  bool rest();

  // Throws if the file was removed or replaced: everything written would be lost when the process
  // ends. The contents are first copied to another file, if one can be written.
  void require_in_place();

  bool knows(const std::string& experiment);

  // Throws if the spec or the run references of an experiment have changed since they were written.
  // Each experiment is checked only once.
  void require_intact(const std::string& experiment);
  // The same for a run, which is checked at every call.
  void require_intact_run(std::int64_t run, const std::string& experiment, const std::string& agent,
                          std::uint64_t seed);

  std::filesystem::path file;
  std::unique_ptr<WriterLock> lock;
  bool is_new;  // the file was created when the store was opened
  mutable Database db;
  std::optional<FileIdentity> identity, log_identity;
  bool is_lost = false;                       // removed or replaced
  std::optional<std::filesystem::path> kept;  // the copy of a lost store
  bool has_ledger = true;
  std::mutex intact_guard;       // several threads may read
  std::set<std::string> intact;  // experiments found intact
};

}  // namespace hilo
