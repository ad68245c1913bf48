#pragma once

#include <array>
#include <optional>
#include <span>

#include "hilo/core/archive.hpp"

namespace hilo {

// The prior of the rows of an unknown model. It combines two guesses: the row of the low fidelity,
// and a base that all rows share. A row is a distribution over outcomes, with a Dirichlet prior
// whose strengths (low, base) are counted in observations. For an outcome that was seen n times
// among N the posterior mean is
//   (n + low p_low + base p_base) / (N + low + base).
// All rows have the same strengths, except for a share of outliers about which the low fidelity
// says nothing, with the strengths (0, 1). Strengths and share maximise the likelihood of all data
// (empirical Bayes), so that a useless low fidelity loses its influence everywhere, and one that is
// wrong in some rows loses it there.
class RowPrior {
 public:
  static constexpr std::array<double, 8> kLow = {0, 1, 3, 10, 30, 100, 300, 1000};
  static constexpr std::array<double, 8> kBase = {0.1, 0.3, 1, 3, 10, 30, 100, 1000};
  static constexpr std::array<double, 5> kOutliers = {0, 0.05, 0.2, 0.5, 0.8};

  // The likelihood of each pair of strengths, [low * kBase.size() + base], given the outcomes of
  // one row, up to a common factor. The likelihood of a sequence is the product of the chances
  // predicted for each outcome just before it was seen, so that it can be updated step by step.
  using Evidence = std::array<float, kLow.size() * kBase.size()>;
  static Evidence no_evidence();

  explicit RowPrior(bool with_low);

  // Adds one outcome of a row, which was seen `count` times among `total` before. No p_low: the low
  // fidelity says nothing about this row.
  static void observe(double count, double total, std::optional<double> p_low, double p_base,
                      Evidence& row);

  // The posterior mean: the chance p of an outcome is count n + low p_low + base p_base, and the
  // variance of that chance is `variance` times p (1 - p).
  struct Weights {
    double count = 0, low = 0, base = 0, variance = 0;
  };
  Weights weights(double total, bool has_low, const Evidence& row) const;

  // Hill climbing to the most likely strengths, from the current ones. If `kinds` is given, one for
  // each row, only the rows of kind `kind` are used.
  void refit(std::span<const Evidence> rows, std::span<const std::uint8_t> kinds = {},
             std::uint8_t kind = 0);

  void save(ArchiveWriter& out) const { out.value(place_); }
  void load(ArchiveReader& in);

 private:
  struct Place {  // indices into the arrays above
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
