#include "hilo/report/analysis.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hilo/report/chart_data.hpp"
#include "hilo/report/experiment_report.hpp"
#include "hilo/report/findings.hpp"
#include "hilo/report/tables.hpp"
#include "support/stores.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::filled_store;
using testing::TemporaryFolder;

Spec two_agents() {
  return parse_spec(testing::tiny_spec("[[agent]]\nkind = \"mfmcrl\"\n"), "tiny");
}

// Exact values at 0, 20 and 40 as shares of an optimum of 10.
std::vector<Measurement> run_of(double at_0, double at_20, double at_40) {
  return {{0, "test_reward", at_0},     {0, "policy_value", 10 * at_0},
          {20, "test_reward", at_20},   {20, "policy_value", 10 * at_20},
          {40, "test_reward", at_40},   {40, "policy_value", 10 * at_40},
          {0, "policy_reward", at_0},   {20, "policy_reward", at_20},
          {40, "policy_reward", at_40}, {40, "optimal_value", 10},
          {40, "optimal_reward", 1}};
}

// The mean curves are 0.3, 0.5, 0.75 for MCRL and 0.3, 0.75, 0.9 for MFMCRL.
TEST(Analysis, MatchesAHandComputedCase) {
  const TemporaryFolder folder;
  const Store store =
      filled_store(folder.path() / "x.db", two_agents(), [](std::size_t agent, std::uint64_t seed) {
        const double d = 0.02 * (static_cast<double>(seed) - 1);  // -0.02, 0, 0.02
        return agent == 0 ? run_of(0.3 + d, 0.5 + d, 0.75 + d) : run_of(0.3, 0.75 + d, 0.9);
      });
  const Analysis a = analyse(Results(store, "tiny"));
  EXPECT_EQ(a.baseline, "MCRL");
  EXPECT_EQ(a.level_metric, "policy_reward");
  EXPECT_EQ(a.seeds, (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(a.last_episode, 40U);
  ASSERT_EQ(a.levels.size(), 5U);
  EXPECT_EQ(a.levels[1].name, "80 %");
  EXPECT_NEAR(a.levels[4].share, 0.75, 1e-12);

  const AgentAnalysis& ours = *a.find("MFMCRL");
  EXPECT_NEAR(ours.exact->mean, 0.9, 1e-12);
  EXPECT_NEAR(ours.share->mean, 0.9, 1e-12);
  EXPECT_NEAR(ours.advantage->mean, 0.15, 1e-12);
  EXPECT_NEAR(ours.advantage->sd, 0.02, 1e-12);
  EXPECT_NEAR(ours.iqm.value, 0.9, 1e-12);
  EXPECT_EQ(ours.improvement->value, 1);
  EXPECT_NEAR(ours.improvement->interval.low, 0.4385, 1e-4);  // Wilson, 3 of 3
  EXPECT_NEAR(ours.area.value, 0.675, 1e-12);                 // (0.525 * 20 + 0.825 * 20) / 40
  EXPECT_LE(ours.area.interval.low, 0.675);
  EXPECT_GE(ours.area.interval.high, 0.675);

  // 70 %: at 20 * 0.4 / 0.45 against MCRL's 20 + 20 * 0.2 / 0.25 = 36. 80 %: at 20 + 20 / 3; MCRL
  // never, so at least 40 over that. 95 %: neither.
  EXPECT_NEAR(ours.needs[0].episodes.value, 8 / 0.45, 1e-9);
  EXPECT_EQ(ours.needs[0].saving.bound, Saving::Bound::exact);
  EXPECT_NEAR(ours.needs[0].saving.value, 36 * 0.45 / 8, 1e-9);
  EXPECT_NEAR(ours.needs[1].episodes.value, 80.0 / 3, 1e-9);
  EXPECT_EQ(ours.needs[1].saving.bound, Saving::Bound::at_least);
  EXPECT_NEAR(ours.needs[1].saving.value, 1.5, 1e-9);
  EXPECT_TRUE(std::isinf(ours.needs[3].episodes.value));
  EXPECT_EQ(ours.needs[3].saving.bound, Saving::Bound::none);
  EXPECT_FALSE(ours.needs[3].saving_interval.has_value());
  // MCRL's own final level, 75 %.
  EXPECT_NEAR(ours.needs[4].saving.value, 2, 1e-9);
  EXPECT_NEAR(a.find("MCRL")->needs[4].episodes.value, 40, 1e-9);
  EXPECT_FALSE(a.find("MCRL")->improvement.has_value());
}

// Seed 2 of MFMCRL is missing: joint statistics rest on two seeds, its own on what it has.
TEST(Analysis, RestsOnTheSeedsThatAllHave) {
  const TemporaryFolder folder;
  const Store store =
      filled_store(folder.path() / "x.db", two_agents(),
                   [](std::size_t agent, std::uint64_t seed) -> std::vector<Measurement> {
                     if (agent == 1 && seed == 2) return {};
                     return run_of(0.1, 0.2, seed == 2 ? 0.9 : 0.3);
                   });
  const Analysis a = analyse(Results(store, "tiny"));
  EXPECT_EQ(a.seeds, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(a.find("MCRL")->seeds, 3U);
  EXPECT_NEAR(a.find("MCRL")->iqm.value, 0.3, 1e-12);
  EXPECT_NEAR(a.find("MFMCRL")->advantage->mean, 0, 1e-12);
  EXPECT_EQ(a.find("MFMCRL")->improvement->value, 0.5);
}

// The agent is the slower one: 70 % at 20 + 20 * 10 / 12 against MCRL's 20.
TEST(Analysis, BoundsSavingsWhereSomebodyDoesNotGetThere) {
  const TemporaryFolder folder;
  const Store store =
      filled_store(folder.path() / "x.db", two_agents(), [](std::size_t agent, std::uint64_t) {
        return agent == 0 ? run_of(0.5, 0.7, 0.81) : run_of(0.5, 0.6, 0.72);
      });
  const Analysis a = analyse(Results(store, "tiny"));
  const std::vector<Need>& needs = a.find("MFMCRL")->needs;
  EXPECT_EQ(needs[0].saving.bound, Saving::Bound::exact);
  EXPECT_NEAR(needs[0].saving.value, 20 / (20 + 200.0 / 12), 1e-9);
  EXPECT_NEAR(needs[0].saving_interval->first.value, needs[0].saving.value, 1e-9);  // all alike
  // 80 %: MCRL at 20 + 20 * 10 / 11; the agent never, within 40.
  EXPECT_EQ(needs[1].saving.bound, Saving::Bound::at_most);
  EXPECT_NEAR(needs[1].saving.value, (20 + 200.0 / 11) / 40, 1e-9);
  EXPECT_EQ(needs[1].saving_interval->second.bound, Saving::Bound::at_most);
  EXPECT_EQ(show_saving(needs[1]), "≤ 0.95× [≤ 0.95]");
  EXPECT_EQ(show_saving(needs[3]), "–");
}

// A level that is met before training needs none, and gives no saving.
TEST(Analysis, ALevelMetAtTheStartGivesNoSaving) {
  const TemporaryFolder folder;
  const Store store =
      filled_store(folder.path() / "x.db", two_agents(),
                   [](std::size_t, std::uint64_t) { return run_of(0.8, 0.9, 0.96); });
  const Need need = analyse(Results(store, "tiny")).find("MFMCRL")->needs[0];
  EXPECT_EQ(need.episodes.value, 0);
  EXPECT_EQ(need.saving.bound, Saving::Bound::none);
}

// Without exact values, or with an optimum that is not positive, no share of it is claimed.
TEST(Analysis, ClaimsNoShareOfAnUnknownOptimum) {
  const TemporaryFolder folder;
  const Store plain = testing::example_store(folder.path() / "x.db");
  EXPECT_TRUE(analyse(Results(plain, "tiny")).levels.empty());
  EXPECT_EQ(analyse(Results(plain, "tiny")).level_metric, "test_reward");
  const Store negative = filled_store(folder.path() / "y.db", two_agents(),
                                      [](std::size_t, std::uint64_t) -> std::vector<Measurement> {
                                        return {{0, "test_reward", 0},
                                                {0, "policy_reward", 0},
                                                {0, "policy_value", -3},
                                                {0, "optimal_value", -1}};
                                      });
  const Analysis a = analyse(Results(negative, "tiny"));
  EXPECT_TRUE(a.levels.empty());
  EXPECT_TRUE(a.agents[0].needs.empty());
}

// Two agents on a user's own simulator, which exists in this program alone.
Spec of_user() {
  auto kind = std::make_shared<ProblemKind>();
  kind->name = "plant";
  kind->same_for_all_seeds = true;
  return parse_spec(
      "spec_version = 1\nname = \"plant\"\nseeds = 3\n[problem]\nkind = \"plant\"\n"
      "[train]\nepisodes = 40\n[test]\nevery = 10\nepisodes = 0\n"
      "[[agent]]\nkind = \"mcrl\"\n[[agent]]\nkind = \"q-learning\"\n",
      "plant", {}, kind);
}

// MCRL ends episodes quickly, which a mean per step rewards, and Q-learning earns more. Findings,
// table and level must tell the same story.
TEST(Analysis, OfAUsersSimulatorTheReturnCountsEverywhere) {
  const TemporaryFolder folder;
  for (const bool tested : {true, false}) {
    const std::string stem = tested ? "test" : "train";
    const Store store = filled_store(
        folder.path() / (stem + ".db"), of_user(), [&](std::size_t agent, std::uint64_t seed) {
          const double d = 0.1 * static_cast<double>(seed);
          return std::vector<Measurement>{{40, stem + "_reward", (agent == 0 ? 0.9 : 0.2) + d},
                                          {40, stem + "_return", (agent == 0 ? 1.0 : 5.0) + d}};
        });
    const Results results(store, "plant");
    EXPECT_EQ(results.reward_metric(), stem + "_return");
    EXPECT_EQ(level_metric_of(results), stem + "_return");
    const Analysis a = analyse(results);
    EXPECT_NEAR(a.find("Q-learning")->level.mean, 5.1, 1e-12);
    EXPECT_NEAR(a.find("Q-learning")->advantage->mean, 4, 1e-12);
    EXPECT_EQ(sides_of(a).above, std::vector<std::string>{"Q-learning"});
    const ExperimentReport report =
        make_experiment_report(store, results, SharedRuns(store, {"plant"}));
    EXPECT_NE(report.findings[0].find("Q-learning has the highest mean"), std::string::npos)
        << report.findings[0];
    EXPECT_EQ(report.findings[1].find("Nothing was tested") != std::string::npos, !tested)
        << report.findings[1];
    EXPECT_EQ(outcome_table(a).rows[0][2], tested ? "test return" : "training return");
    EXPECT_EQ(charts_of(results, true)[0].metrics[0].metric, stem + "_return");
  }
}

// Where one agent has exact values and another has none, all are compared by what both have.
TEST(Analysis, NeverComparesExactLevelsWithTests) {
  const TemporaryFolder folder;
  const Store store =
      filled_store(folder.path() / "x.db", two_agents(), [](std::size_t agent, std::uint64_t) {
        std::vector<Measurement> out = {{40, "test_reward", agent == 0 ? 0.7 : 0.6}};
        if (agent == 1) out.push_back({40, "policy_reward", 0.8});
        return out;
      });
  const ExperimentReport report =
      make_experiment_report(store, Results(store, "tiny"), SharedRuns(store, {"tiny"}));
  EXPECT_EQ(report.analysis.level_metric, "test_reward");
  EXPECT_NE(report.findings[0].find("MCRL has the highest mean at the end: mean reward per step "
                                    "0.700"),
            std::string::npos)
      << report.findings[0];
}

}  // namespace
}  // namespace hilo
