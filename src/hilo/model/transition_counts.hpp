#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hilo/core/archive.hpp"
#include "hilo/env/environment.hpp"

namespace hilo {

// Counts how often each row, such as a pair (s, a), was followed by each state. Only successors
// that were seen are stored, in the order in which they were first seen.
class TransitionCounts {
 public:
  struct Successor {
    State next;
    std::uint32_t count;
  };

  explicit TransitionCounts(std::size_t num_rows) : rows_(num_rows) {}

  std::size_t num_rows() const { return rows_.size(); }
  std::span<const Successor> row(std::size_t i) const { return rows_[i]; }

  // Counts `next`; returns whether it is new in the row.
  bool add(std::size_t i, State next) {
    for (Successor& known : rows_[i])
      if (known.next == next) {
        ++known.count;
        return false;
      }
    rows_[i].push_back({next, 1});
    return true;
  }

  std::uint32_t count(std::size_t i, State next) const {
    for (const Successor& known : rows_[i])
      if (known.next == next) return known.count;
    return 0;
  }

  void save(ArchiveWriter& out) const;
  // Throws unless the archive has the same number of rows, with all states below `num_states`.
  void load(ArchiveReader& in, std::size_t num_states);

 private:
  std::vector<std::vector<Successor>> rows_;
};

}  // namespace hilo
