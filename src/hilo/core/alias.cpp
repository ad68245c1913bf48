#include "hilo/core/alias.hpp"

#include <cmath>
#include <unordered_map>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

constexpr double kOne = 0x1p32;  // a threshold of one

// Rounds 0 <= x < 2^51 to a whole number: a double as large as 2^52 has no fractional bits left.
double round_to_even(double x) { return (x + 0x1p52) - 0x1p52; }

}  // namespace

template <class Index>
void AliasBuilder::build(std::span<const double> weights, std::span<const Index> outcomes,
                         std::span<AliasEntry<Index>> row) {
  const std::size_t size = weights.size();
  if (size == 0 || outcomes.size() != size || row.size() != size)
    throw Error(Errc::usage, "an alias row needs at least one outcome and equal lengths");

  double total = 0;
  for (const double w : weights) {
    if (!(w > 0) || !std::isfinite(w))
      throw Error(Errc::data, "an alias row needs positive, finite weights");
    total += w;
  }

  if (!std::isfinite(total)) throw Error(Errc::data, "the weights of an alias row are too large");

  // scaled_[i] is the mass of column i in units of one column. Small columns (mass below 1) are
  // filled up with mass from large ones.
  scaled_.resize(size);
  small_.resize(size);
  large_.resize(size);
  std::size_t num_small = 0;
  std::size_t num_large = 0;
  for (std::size_t i = 0; i < size; ++i) {
    scaled_[i] = weights[i] / total * static_cast<double>(size);
    row[i] = {.threshold = 0xffffffffU, .own = outcomes[i], .other = outcomes[i]};
    // The index is written to both lists and kept in one: a branch would often be mispredicted.
    const bool is_small = scaled_[i] < 1;
    small_[num_small] = large_[num_large] = static_cast<std::uint32_t>(i);
    num_small += is_small ? 1 : 0;
    num_large += is_small ? 0 : 1;
  }
  while (num_small > 0 && num_large > 0) {
    const std::uint32_t filled = small_[--num_small];
    const std::uint32_t donor = large_[num_large - 1];
    const double threshold = round_to_even(scaled_[filled] * kOne);
    if (threshold < kOne) {
      row[filled].threshold = static_cast<std::uint32_t>(threshold);
      row[filled].other = outcomes[donor];
    }
    scaled_[donor] -= 1 - scaled_[filled];
    const bool is_small = scaled_[donor] < 1;
    small_[num_small] = donor;
    num_small += is_small ? 1 : 0;
    num_large -= is_small ? 1 : 0;
  }
  // The columns that are left are full up to rounding and keep own == other.
}

template <class Index>
std::vector<double> alias_distribution(std::span<const AliasEntry<Index>> row) {
  std::unordered_map<Index, std::size_t> column_of;
  for (std::size_t i = 0; i < row.size(); ++i) column_of[row[i].own] = i;

  std::vector<double> mass(row.size());
  const double column = 1 / static_cast<double>(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double share = static_cast<double>(row[i].threshold) / kOne;
    mass[i] += column * share;
    mass[column_of.at(row[i].other)] += column * (1 - share);
  }
  return mass;
}

template void AliasBuilder::build(std::span<const double>, std::span<const std::uint16_t>,
                                  std::span<AliasEntry<std::uint16_t>>);
template void AliasBuilder::build(std::span<const double>, std::span<const std::uint32_t>,
                                  std::span<AliasEntry<std::uint32_t>>);
template std::vector<double> alias_distribution(std::span<const AliasEntry<std::uint16_t>>);
template std::vector<double> alias_distribution(std::span<const AliasEntry<std::uint32_t>>);

}  // namespace hilo
