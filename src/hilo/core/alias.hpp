#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hilo {

// Walker's alias method (1977) over the non-zeros of a distribution: a draw takes one column,
// chosen uniformly, and returns the column's own outcome or its alias. It needs no search.
// Index is 16 bits wide where the outcomes fit, so that an entry takes 8 bytes instead of 12.
template <class Index>
struct AliasEntry {
  std::uint32_t threshold;  // the draw is `own` if its fractional bits are below this
  Index own;
  Index other;
};

// Draws an outcome of a row of `size` columns from 64 random bits. The upper half of
// bits * size / 2^32 is the column and the lower half is uniform within it, which saves a second
// draw.
template <class Index>
Index draw_alias(const AliasEntry<Index>* row, std::uint32_t size, std::uint64_t bits) {
  const std::uint64_t scaled = (bits >> 32) * size + ((bits & 0xffffffffU) * size >> 32);
  const AliasEntry<Index> entry = row[scaled >> 32];
  // The outcome is selected by a mask, as a branch would be mispredicted half of the time.
  const std::uint64_t difference = (scaled & 0xffffffffU) - std::uint64_t{entry.threshold};
  const auto takes_own = static_cast<Index>(static_cast<std::int64_t>(difference) >> 63);
  return static_cast<Index>(entry.other ^ ((entry.own ^ entry.other) & takes_own));
}

// Builds alias rows. It reuses its buffers, so that building many rows does not allocate each time.
class AliasBuilder {
 public:
  // Column i has the outcome outcomes[i] and the probability weights[i] / sum(weights). Weights
  // must be positive and finite. Thresholds are rounded to 2^-32, so that a probability is off by
  // at most 1.2e-10.
  template <class Index>
  void build(std::span<const double> weights, std::span<const Index> outcomes,
             std::span<AliasEntry<Index>> row);

 private:
  std::vector<double> scaled_;
  std::vector<std::uint32_t> small_, large_;
};

// The distribution that a row implies: mass[i] for column i's own outcome, in row order.
// Outcomes must be distinct. For tests and for reading a row back.
template <class Index>
std::vector<double> alias_distribution(std::span<const AliasEntry<Index>> row);

}  // namespace hilo
