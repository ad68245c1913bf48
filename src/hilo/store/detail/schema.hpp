#pragma once

#include <cstdint>
#include <string>

#include "hilo/store/detail/sqlite.hpp"

// For the sources of this folder only: the tables of a store, as docs/store.md describes them.
namespace hilo {

inline constexpr std::int64_t kApplicationId = 0x68696c6f;  // "hilo"

// The version before the present one, of hilo 0.1: its runs have no checksums, and its policies are
// Q tables by name.
inline constexpr std::int64_t kUnverifiedVersion = 2;

// The statements that make an empty store.
std::string schema();

// A store of that version looks like one of the present version to this connection, which may only
// read it; or is made one.
void show_as_present(Database& db);
void upgrade(Database& db);

}  // namespace hilo
