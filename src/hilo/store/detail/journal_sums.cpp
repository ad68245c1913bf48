#include "hilo/store/detail/journal_sums.hpp"

#include <algorithm>
#include <utility>

namespace hilo {

Spent sum_of_attempts(Database& db, std::int64_t run) {
  Spent spent;
  // In the order of the attempts, so that sums have the same bits as those kept along the way.
  Statement rows(db,
                 "SELECT episode, test, status = 'finished', steps, cost, cost_source, seconds, "
                 "clock, low_steps, low_seconds FROM attempt WHERE run = ? ORDER BY position");
  rows.bind(run);
  constexpr std::pair<std::int64_t, std::int64_t> kNone = {-1, -1};
  std::pair<std::int64_t, std::int64_t> failing = kNone;  // episode and test
  while (rows.step()) {
    const auto steps = static_cast<std::uint64_t>(rows.integer(3));
    const auto episode = static_cast<std::uint64_t>(rows.integer(0));
    const bool is_test = rows.integer(1) >= 0;
    const std::pair at(rows.integer(0), rows.integer(1));
    if (rows.text(5) == kReused) {
      ++spent.reused;
      spent.last_training = std::max(spent.last_training.value_or(0), episode);
      continue;
    }
    ++spent.attempts;
    spent.steps += steps;
    spent.cost += rows.number(4);
    if (rows.text(5) == "reported") ++spent.reported;
    spent.seconds += rows.number(6);
    spent.clock = std::max(spent.clock, rows.number(7));
    if (const auto low_steps = static_cast<std::uint64_t>(rows.integer(8));
        low_steps >= spent.low_steps) {
      spent.low_steps = low_steps;
      spent.low_seconds = std::max(spent.low_seconds, rows.number(9));
    }
    if (rows.integer(2) == 0) {
      ++spent.failed;
      if (failing != at) ++spent.failed_in_a_row;
      failing = at;
      continue;
    }
    failing = kNone;
    spent.failed_in_a_row = 0;
    if (is_test) {
      ++spent.testing;
      continue;
    }
    ++spent.training;
    spent.training_cost += rows.number(4);
    spent.training_steps += steps;
    spent.training_seconds += rows.number(6);
    spent.last_training = std::max(spent.last_training.value_or(0), episode);
  }
  return spent;
}

}  // namespace hilo
