#pragma once

#include <cstdint>
#include <string>

#include "hilo/store/detail/sqlite.hpp"

// For the sources of this folder only: the tables of a store, as docs/store.md describes them.
namespace hilo {

inline constexpr std::int64_t kApplicationId = 0x68696c6f;  // "hilo"

// Older versions that can still be read. Version 2 is that of hilo 0.1: it has no checksums, and
// all policies are Q tables. Up to version 3 a configuration is stored as one text.
inline constexpr std::int64_t kUnverifiedVersion = 2;
inline constexpr std::int64_t kConfigTextVersion = 3;

// The SQL that creates an empty store.
std::string schema();

// Makes a store of an earlier version look like one of the current version to this connection,
// without changing the file.
void show_as_present(Database& db, std::int64_t version);
// Upgrades a store of an earlier version, in one transaction.
void upgrade(Database& db, std::int64_t version);

}  // namespace hilo
