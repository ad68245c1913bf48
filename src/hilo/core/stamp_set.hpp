#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hilo {

// A set over 0, ..., size - 1 that is emptied in O(1): the members are the numbers whose stamp is
// the current round. It finds the first visits of an episode in one scan, without clearing a table
// for each episode.
class StampSet {
 public:
  explicit StampSet(std::size_t size) : stamps_(size, 0) {}

  void clear() {
    if (++round_ != 0) return;
    std::ranges::fill(stamps_, 0U);  // the round wrapped: old stamps could look current
    round_ = 1;
  }

  // Whether i was new.
  bool insert(std::size_t i) {
    const bool is_new = stamps_[i] != round_;
    stamps_[i] = round_;
    return is_new;
  }

 private:
  std::vector<std::uint32_t> stamps_;
  std::uint32_t round_ = 1;
};

}  // namespace hilo
