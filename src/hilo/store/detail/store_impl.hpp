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

// For the sources of this folder only.
namespace hilo {

struct Store::Impl {
  Impl(std::filesystem::path store_file, bool write, Damaged damaged);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { rest(); }

  // A store at rest is one file, readable where nothing can be written. False if somebody reads it
  // just now, so that a part stays in the log.
  bool rest();

  // Throws if the file is no longer there, or another one is: what was written would be lost when
  // the process ends. What it holds is kept beside it then.
  void require_in_place();

  bool knows(const std::string& experiment);

  // Throws if what an experiment refers to is not what was written. Looks at each once.
  void require_intact(const std::string& experiment);
  // The same of a run.
  void require_intact_run(std::int64_t run, const std::string& experiment, const std::string& agent,
                          std::uint64_t seed);

  std::filesystem::path file;
  std::unique_ptr<WriterLock> lock;
  bool is_new;  // made when it was opened
  mutable Database db;
  std::optional<FileIdentity> identity, log_identity;
  bool is_lost = false;                       // removed or replaced
  std::optional<std::filesystem::path> kept;  // where what it held is then
  bool has_ledger = true;
  std::mutex intact_guard;       // readers may ask from several threads
  std::set<std::string> intact;  // experiments
};

}  // namespace hilo
