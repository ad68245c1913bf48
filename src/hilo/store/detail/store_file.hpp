#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "hilo/store/detail/sqlite.hpp"

// For the sources of this folder only: checks of a file before it is used as a store. The functions
// require_... throw an error that names the file if their condition does not hold.
namespace hilo {

// The file exists, can be read, is a regular file and not empty.
void require_store_file(const std::filesystem::path& file, std::string_view what = "store");

// The file has no further hard links. The names of the log and the lock derive from the name of the
// store, so that under another name a second writer would not be noticed and the log not be found.
void require_one_name(const std::filesystem::path& file);

// The file is not shorter than its header says: a truncated store still has an intact header. Not
// checked while there is a log, which may hold the missing pages.
void require_full_length(Database& db, const std::filesystem::path& file);

// Opens the database of a store or of a journal. To write, the writer's lock must be held; a new
// one is then made by `schema` beside its place and moved there, so that it exists as a whole or
// not at all, whenever the process is killed.
Database open_database(const std::filesystem::path& file, bool write, const std::string& schema,
                       const std::string& what = "store");

// Ends the use of a write-ahead log, so that the database is one file. False if another process
// reads it at this moment, so that a part stays in the log.
bool end_log(Database& db);

// hilo wrote the file, in a version that this program can read. Returns the version.
std::int64_t require_ours(Database& db);

// SQLite's integrity check finds no error.
void require_undamaged(Database& db);

// Identifies a file independently of its name.
struct FileIdentity {
  std::uint64_t device = 0, number = 0;
  bool operator==(const FileIdentity&) const = default;
};
// Nothing if there is no such file.
std::optional<FileIdentity> identity_of(const std::filesystem::path& file);

// Follows symbolic links, also to a file that does not exist yet. The lock and the log belong
// beside the file itself, not beside a link.
std::filesystem::path behind_links(std::filesystem::path file);

}  // namespace hilo
