#include "hilo/model/row_prior.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hilo/core/random.hpp"

namespace hilo {
namespace {

std::size_t component(double low, double base) {
  const auto place = [](const auto& list, double x) {
    return static_cast<std::size_t>(std::ranges::find(list, x) - list.begin());
  };
  return place(RowPrior::kLow, low) * RowPrior::kBase.size() + place(RowPrior::kBase, base);
}

// Outcomes A, A, B where the low fidelity gives A and B 1/2 each and the base 0.9 and 0.1. With the
// strengths (1, 1) that is a Dirichlet prior of (1.4, 0.6), with (0, 1) one of (0.9, 0.1); the
// probability of the sequence is the Dirichlet-multinomial one, kept in single precision.
TEST(RowPrior, EvidenceIsTheMarginalLikelihood) {
  RowPrior::Evidence row = RowPrior::no_evidence();
  RowPrior::observe(0, 0, 0.5, 0.9, row);
  RowPrior::observe(1, 1, 0.5, 0.9, row);
  RowPrior::observe(0, 2, 0.5, 0.1, row);
  const double both = 1.4 * 2.4 * 0.6 / (2 * 3 * 4);
  const double base_alone = 0.9 * 1.9 * 0.1 / (1 * 2 * 3);
  EXPECT_NEAR(row[component(1, 1)] / row[component(0, 1)], both / base_alone, 1e-6);
}

// To begin with: 95 % of the rows have the strengths (100, 1), the others (0, 1).
TEST(RowPrior, WeightsAreThePosteriorMean) {
  const RowPrior prior(/*with_low=*/true);
  const auto none = RowPrior::no_evidence();
  const auto fresh = prior.weights(0, /*has_low=*/true, none);
  EXPECT_NEAR(fresh.low, 0.95 * 100 / 101, 1e-12);
  EXPECT_NEAR(fresh.base, 0.95 * 1 / 101 + 0.05, 1e-12);
  const auto seen = prior.weights(9, true, none);
  EXPECT_NEAR(seen.count, 0.95 / 110 + 0.05 / 10, 1e-12);
  EXPECT_NEAR(9 * seen.count + seen.low + seen.base, 1, 1e-12);
  EXPECT_NEAR(seen.variance, 0.95 / 111 + 0.05 / 11, 1e-12);
  const auto silent = prior.weights(9, /*has_low=*/false, none);
  EXPECT_EQ(silent.low, 0);
  EXPECT_NEAR(silent.base, 0.1, 1e-12);  // strength 1 in either case
}

struct Source {
  double low_says, truth;
};

// Rows of two outcomes, ten of each row: `share_right` of the rows are as the low fidelity says,
// the others are turned around.
RowPrior fitted(double share_right, std::vector<RowPrior::Evidence>& rows) {
  RowPrior prior(true);
  rows.clear();
  for (std::uint32_t i = 0; i < 400; ++i) {
    Rng rng(Stream(7, Purpose::user, i));
    const double low_says = rng.uniform();
    const double truth = i < share_right * 400 ? low_says : 1 - low_says;
    RowPrior::Evidence row = RowPrior::no_evidence();
    double first = 0;
    for (int n = 0; n < 10; ++n) {
      const bool is_first = rng.uniform() < truth;
      RowPrior::observe(is_first ? first : n - first, n, is_first ? low_says : 1 - low_says, 0.5,
                        row);
      first += is_first ? 1 : 0;
    }
    rows.push_back(row);
  }
  for (int k = 0; k < 5; ++k) prior.refit(rows);
  return prior;
}

TEST(RowPrior, BelievesALowFidelityThatIsRight) {
  std::vector<RowPrior::Evidence> rows;
  const auto w = fitted(1, rows).weights(0, true, RowPrior::no_evidence());
  EXPECT_GT(w.low, 0.9);
}

TEST(RowPrior, DropsALowFidelityThatIsWrong) {
  std::vector<RowPrior::Evidence> rows;
  const auto w = fitted(0, rows).weights(0, true, RowPrior::no_evidence());
  EXPECT_LT(w.low, 0.1);
}

// Nine rows in ten are right: of a row not seen it is believed so, and of a row where it proved
// wrong it is dropped.
TEST(RowPrior, DropsItWhereItIsWrong) {
  std::vector<RowPrior::Evidence> rows;
  const RowPrior prior = fitted(0.9, rows);
  EXPECT_GT(prior.weights(0, true, RowPrior::no_evidence()).low, 0.7);
  RowPrior::Evidence wrong = RowPrior::no_evidence();
  for (int n = 0; n < 10; ++n) RowPrior::observe(n, n, 0.05, 0.5, wrong);
  const auto w = prior.weights(10, true, wrong);
  EXPECT_LT(w.low, 0.02);
  EXPECT_GT(10 * w.count, 0.85);
}

// Nine rows in ten are right, but none of one kind: fitted on that kind, nothing is believed.
TEST(RowPrior, IsFittedOnOneKindOfRowsAlone) {
  std::vector<RowPrior::Evidence> rows;
  RowPrior prior = fitted(0.9, rows);
  std::vector<std::uint8_t> kinds(rows.size());
  for (std::size_t k = rows.size() * 9 / 10; k < rows.size(); ++k) kinds[k] = 1;
  for (int k = 0; k < 5; ++k) prior.refit(rows, kinds, 1);
  EXPECT_LT(prior.weights(0, true, RowPrior::no_evidence()).low, 0.3);
}

TEST(RowPrior, IsSavedAndLoaded) {
  std::vector<RowPrior::Evidence> rows;
  const RowPrior prior = fitted(0.9, rows);
  ArchiveWriter out("test", 1);
  prior.save(out);
  const auto bytes = out.finish();
  RowPrior loaded(true);
  ArchiveReader in(bytes, "test", 1);
  loaded.load(in);
  const auto w = prior.weights(3, true, rows[0]);
  const auto v = loaded.weights(3, true, rows[0]);
  EXPECT_EQ(w.low, v.low);
  EXPECT_EQ(w.count, v.count);
  RowPrior alone(false);
  ArchiveReader again(bytes, "test", 1);
  EXPECT_THROW(alone.load(again), Error);  // its low fidelity has no strength
}

}  // namespace
}  // namespace hilo
