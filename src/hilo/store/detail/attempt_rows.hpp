#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hilo/store/detail/sqlite.hpp"
#include "hilo/store/journal.hpp"

// For the sources of this folder only: attempts as rows of a journal.
namespace hilo {

// The columns of the table `attempt`, in the order that row_of expects.
std::string attempt_columns();

// A row as it is stored.
struct AttemptRow {
  std::int64_t run = 0, position = 0, episode = 0, test = -1, number = 0, seed = 0;
  std::string status, error;
  std::int64_t steps = 0;
  double cost = 0;
  std::string cost_source;
  std::int64_t low_steps = 0;
  double low_seconds = 0, seconds = 0, clock = 0;
  std::string started, host;
  std::vector<std::byte> path;
  std::int64_t checksum = 0;
};

AttemptRow row_of(const Statement& s);
AttemptRow row_of(const Attempt& attempt);
Attempt attempt_of(const AttemptRow& row);
// Of everything but the stored checksum.
std::int64_t checksum_of(const AttemptRow& row);

// Writes attempts, within a transaction of the caller. Statements are prepared once.
class AttemptWriter {
 public:
  explicit AttemptWriter(Database& db);
  void append(std::int64_t run, const Attempt& attempt);

 private:
  Statement next_, insert_;
};

}  // namespace hilo
