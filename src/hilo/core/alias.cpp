#include "hilo/core/alias.hpp"

#include <cmath>
#include <unordered_map>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

constexpr double kOne = 0x1p32;  // a threshold of one

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

  // scaled[i] is the mass of column i in units of one column; small ones are filled up by large.
  scaled_.resize(size);
  small_.clear();
  large_.clear();
  for (std::size_t i = 0; i < size; ++i) {
    scaled_[i] = weights[i] / total * static_cast<double>(size);
    row[i] = {.threshold = 0xffffffffU, .own = outcomes[i], .other = outcomes[i]};
    (scaled_[i] < 1 ? small_ : large_).push_back(static_cast<std::uint32_t>(i));
  }
  while (!small_.empty() && !large_.empty()) {
    const std::uint32_t filled = small_.back();
    const std::uint32_t donor = large_.back();
    small_.pop_back();
    const double threshold = std::nearbyint(scaled_[filled] * kOne);
    if (threshold < kOne) {
      row[filled].threshold = static_cast<std::uint32_t>(threshold);
      row[filled].other = outcomes[donor];
    }
    scaled_[donor] -= 1 - scaled_[filled];
    if (scaled_[donor] < 1) {
      large_.pop_back();
      small_.push_back(donor);
    }
  }
  // What is left is full up to rounding and keeps own == other.
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
