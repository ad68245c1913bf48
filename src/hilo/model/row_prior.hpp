#pragma once

#include <array>
#include <optional>
#include <span>

#include "hilo/core/archive.hpp"

namespace hilo {

// How far the rows of an unknown model are to be believed to resemble two guesses: what the low
// fidelity says of the row, and a base that all rows share. A row is a distribution over outcomes
// with a Dirichlet prior of the strengths (low, base), counted in observations; of an outcome that
// was seen n times among N its mean says
//   (n + low p_low + base p_base) / (N + low + base).
// All rows have the same strengths, but for a share of them of which the low fidelity knows
// nothing: (0, 1). Strengths and share are those under which all that was seen is most likely
// (empirical Bayes), so that a useless low fidelity loses its say everywhere, and one that is wrong
// in some rows loses it there.
class RowPrior {
 public:
  static constexpr std::array<double, 8> kLow = {0, 1, 3, 10, 30, 100, 300, 1000};
  static constexpr std::array<double, 8> kBase = {0.1, 0.3, 1, 3, 10, 30, 100, 1000};
  static constexpr std::array<double, 5> kOutliers = {0, 0.05, 0.2, 0.5, 0.8};

  // Of one row: how likely each pair of strengths, [low * kBase.size() + base], made what was seen
  // there, up to a common factor. The likelihood of a sequence is the product of the chances given
  // to each outcome just before it was seen, so that it is kept up to date step by step.
  using Evidence = std::array<float, kLow.size() * kBase.size()>;
  static Evidence no_evidence();

  explicit RowPrior(bool with_low);

  // One more outcome of a row, seen `count` times among `total` before. No p_low: the low fidelity
  // says nothing about this row.
  static void observe(double count, double total, std::optional<double> p_low, double p_base,
                      Evidence& row);

  // The mean of the posterior: the chance p of an outcome is count n + low p_low + base p_base, and
  // `variance` times p (1 - p) is the variance of that chance.
  struct Weights {
    double count = 0, low = 0, base = 0, variance = 0;
  };
  Weights weights(double total, bool has_low, const Evidence& row) const;

  // Climbs to the most likely strengths, from where it stands. If `kinds` is given, one for each
  // row, the rows of that `kind` alone are heeded.
  void refit(std::span<const Evidence> rows, std::span<const std::uint8_t> kinds = {},
             std::uint8_t kind = 0);

  void save(ArchiveWriter& out) const { out.value(place_); }
  void load(ArchiveReader& in);

 private:
  struct Place {  // in the lists above
    std::uint32_t low, base, outliers;
  };

  static std::size_t index(const Place& place) { return place.low * kBase.size() + place.base; }
  bool allowed(const Place& place) const;
  static double log_likelihood(const Place& place, std::span<const Evidence> rows,
                               std::span<const std::uint8_t> kinds, std::uint8_t kind);

  bool with_low_;
  Place place_;
};

}  // namespace hilo
