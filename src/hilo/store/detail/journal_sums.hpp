#pragma once

#include <cstdint>

#include "hilo/store/detail/sqlite.hpp"
#include "hilo/store/journal.hpp"

// For the sources of this folder only: what the attempts of a run add up to.
namespace hilo {

Spent sum_of_attempts(Database& db, std::int64_t run);

}  // namespace hilo
