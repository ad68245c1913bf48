#include "hilo/report/values_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hilo/report/diagnosis_report.hpp"
#include "support/expect_error.hpp"

namespace hilo {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

// Two actions: P = Phi(gap / sqrt(e1^2 + e2^2)).
TEST(GreedyIsRight, OfTwoActionsIsANormalProbability) {
  const double values[] = {1, 3};
  const double errors[] = {0.6, 0.8};
  EXPECT_NEAR(greedy_is_right(values, errors), 0.5 * std::erfc(-2 / std::sqrt(2.0)), 1e-9);
  const double equal[] = {1, 1};
  EXPECT_NEAR(greedy_is_right(equal, errors), 0.5, 1e-9);
}

// Of k actions that look alike each is the best with probability 1 / k.
TEST(GreedyIsRight, OfEqualActionsIsOneInSoMany) {
  const double values[] = {2, 2, 2, 2};
  const double errors[] = {1, 1, 1, 1};
  EXPECT_NEAR(greedy_is_right(values, errors), 0.25, 1e-7);
}

TEST(GreedyIsRight, KnowsWhatIsNotKnown) {
  const double values[] = {1, 5};
  const double one_unknown[] = {kUnknown, 1};
  EXPECT_NEAR(greedy_is_right(values, one_unknown), 0.5, 1e-9);
  const double all_unknown[] = {kUnknown, kUnknown};
  EXPECT_NEAR(greedy_is_right(values, all_unknown), 0.5, 1e-9);
  const double certain[] = {0, 0};
  EXPECT_EQ(greedy_is_right(values, certain), 1);
}

TEST(DiagnosisReport, RoundTripsAndRefusesWhatIsNoDiagnosis) {
  Diagnosis d;
  d.advice = Advice::cannot_tell;
  d.reason = "it is <unclear>";
  d.more_episodes = 1234;
  d.train_episodes = 100;
  d.break_even_cost_ratio = kUnknown;
  const StoredDiagnosis read = read_diagnosis(to_json_text(
      d, {.experiment = "x", .problem = "p", .seed = 3, .policy = "uniform", .agent = "MFMCRL+"}));
  EXPECT_EQ(read.verdict, "cannot tell yet");
  ASSERT_FALSE(read.sentences.empty());
  EXPECT_NE(read.sentences[0].find("it is <unclear>"), std::string::npos);
  EXPECT_NE(read.sentences[0].find("more than the training itself has"), std::string::npos);
  for (const char* bad : {"", "[]", "{\"verdict\": 3}", "{\"verdict\": \"x\", \"problem\": \"p\"}"})
    testing::expect_error([&] { (void)read_diagnosis(bad); }, Errc::data, {"diagnosis"});
}

}  // namespace
}  // namespace hilo
