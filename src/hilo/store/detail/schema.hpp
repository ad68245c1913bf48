#pragma once

#include <cstdint>
#include <string>

#include "hilo/store/detail/sqlite.hpp"

// For the sources of this folder only: the tables of a store, as docs/store.md describes them.
namespace hilo {

inline constexpr std::int64_t kApplicationId = 0x68696c6f;  // "hilo"

// Versions that are still read. Stores of hilo 0.1 have no checksums, and their policies are always
// Q tables. Up to version 3 a configuration was one text.
inline constexpr std::int64_t kUnverifiedVersion = 2;
inline constexpr std::int64_t kConfigTextVersion = 3;

// The statements that make an empty store.
std::string schema();

// Makes a store of an earlier version look like one of the present version to this connection,
// which only reads it.
void show_as_present(Database& db, std::int64_t version);
// Brings a store of an earlier version up to date, in one transaction.
void upgrade(Database& db, std::int64_t version);

}  // namespace hilo
