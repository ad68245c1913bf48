#pragma once

#include <filesystem>

#include "hilo/store/sqlite.hpp"

// For the sources of this folder only: what must hold of a file before it is used as a store. All
// throw, and name the file.
namespace hilo {

void require_store_file(const std::filesystem::path& file);

// A store that was cut short still has its header; its length gives it away at once.
void require_full_length(Database& db, const std::filesystem::path& file);

// Made by this program, in the version that it reads.
void require_ours(Database& db);

void require_undamaged(Database& db);

// Where a link leads, there or not yet: the lock and the log stand beside the file itself.
std::filesystem::path behind_links(std::filesystem::path file);

}  // namespace hilo
