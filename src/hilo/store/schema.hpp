#pragma once

#include <cstdint>
#include <string>

#include "hilo/store/sqlite.hpp"

// For the sources of this folder only: the tables of a store, as docs/store.md describes them.
namespace hilo {

inline constexpr std::int64_t kApplicationId = 0x68696c6f;  // "hilo"

// The statements that make an empty store.
std::string schema();

// Tables that came after the schema's version was fixed: a store without them is whole, programs
// that do not know them pass them by, and opening a store to write adds them.
std::string additions();
bool has_additions(Database& db);

// Copies the runs that `to` does not have, or has as failed, with all that belongs to them. Within
// the caller's transaction.
void copy_runs(Database& from, Database& to);
void copy_diagnoses(Database& from, Database& to);

}  // namespace hilo
