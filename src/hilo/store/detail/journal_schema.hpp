#pragma once

#include <cstdint>
#include <string>

// For the sources of this folder only: the tables of a journal.
namespace hilo {

inline constexpr std::int64_t kJournalId = 0x68696c6a;  // "hilj"

// The statements that make an empty journal.
std::string journal_schema();

}  // namespace hilo
