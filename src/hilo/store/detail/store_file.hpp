#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "hilo/store/detail/sqlite.hpp"

// For the sources of this folder only: what must hold of a file before it is used as a store. All
// throw, and name the file.
namespace hilo {

void require_store_file(const std::filesystem::path& file);

// One name: the log and the lock stand beside a name, so that by another one a second writer would
// not be noticed, nor what is in the log be found.
void require_one_name(const std::filesystem::path& file);

// A store that was cut short still has its header; its length gives it away at once.
void require_full_length(Database& db, const std::filesystem::path& file);

// Made by hilo, in a version that this program reads, which is returned.
std::int64_t require_ours(Database& db);

// As far as SQLite can tell.
void require_undamaged(Database& db);

// Which file it is, however it is named.
struct FileIdentity {
  std::uint64_t device = 0, number = 0;
  bool operator==(const FileIdentity&) const = default;
};
std::optional<FileIdentity> identity_of(const std::filesystem::path& file);  // if it is there

// Where a link leads, there or not yet: the lock and the log stand beside the file itself.
std::filesystem::path behind_links(std::filesystem::path file);

}  // namespace hilo
