#include "hilo/studies/contest.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hilo/studies/agent_guide.hpp"
#include "support/expect_error.hpp"
#include "support/stores.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

// Three agents on docking, four seeds, optimum 1. MCRL's value rises from 0 to 0.5 in 100 episodes;
// Bayes is at once at 0.9 and ends at 1; Q-learning ends at 0.6 on seeds 0 and 1, and at 0.4 on
// the others.
Store contest_store(const std::filesystem::path& file) {
  const Spec spec = parse_spec(R"(spec_version = 1
name = "contest-docking"
seeds = 4
[problem]
kind = "docking"
[train]
episodes = 100
[test]
every = 50
exact_every = 50
count_steps = true
[[agent]]
kind = "mcrl"
[[agent]]
kind = "bayes"
[[agent]]
kind = "q-learning"
)",
                               "contest");
  const double ends[3][4] = {{.5, .5, .5, .5}, {1, 1, 1, 1}, {.6, .6, .4, .4}};
  const double middles[3] = {.25, .95, .2}, starts[3] = {0, .9, 0};
  return testing::filled_store(
      file, spec, [=](std::size_t agent, std::uint64_t seed) -> std::vector<Measurement> {
        std::vector<Measurement> out;
        const double values[3] = {starts[agent], middles[agent], ends[agent][seed]};
        for (std::uint64_t k = 0; k < 3; ++k) {
          const std::uint64_t episode = 50 * k;
          const auto steps = static_cast<double>(episode);
          out.push_back({episode, "test_reward", values[k]});
          out.push_back({episode, "policy_reward", values[k]});
          out.push_back({episode, "policy_value", values[k]});
          out.push_back({episode, "high_steps_so_far", 10 * steps});
          out.push_back({episode, "low_steps_so_far", agent == 1 ? 5000.0 : 0.0});
        }
        out.push_back({100, "optimal_value", 1});
        return out;
      });
}

TEST(Contest, MatchesTheHandComputedNumbers) {
  const testing::TemporaryFolder folder;
  const Store store = contest_store(folder.path() / "c.db");
  const auto tables = read_contest(store);
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].seeds, 4U);
  EXPECT_EQ(tables[0].analysis.level_metric, "policy_value");
  const ContestEntry* bayes = tables[0].find("Bayes");
  ASSERT_NE(bayes, nullptr);
  // Trapezoids: (0.9 + 0.95) / 4 + (0.95 + 1) / 4.
  EXPECT_NEAR(bayes->areas[0], 0.95, 1e-12);
  EXPECT_NEAR(tables[0].find("MCRL")->areas[0], 0.25, 1e-12);
  // 95 % after 50 episodes: 500 steps, and 5000 cheap ones at a thousandth.
  EXPECT_NEAR(bayes->cost(50, 0.001), 505, 1e-12);
  EXPECT_NEAR(bayes->cost(25, 0.001), 255, 1e-12);
  EXPECT_TRUE(std::isinf(bayes->cost(HUGE_VAL, 0.001)));
  EXPECT_EQ(tables[0].find("nobody"), nullptr);

  const auto chance = [&](const char* a, const char* b) {
    return chance_to_beat(tables, a, b, ContestMeasure::final_level)->value;
  };
  EXPECT_EQ(chance("Bayes", "MCRL"), 1);
  EXPECT_EQ(chance("MCRL", "Bayes"), 0);
  EXPECT_EQ(chance("Q-learning", "MCRL"), 0.5);
  EXPECT_FALSE(chance_to_beat(tables, "Bayes", "nobody", ContestMeasure::area).has_value());
}

TEST(Contest, TheGuideSaysWhatWasMeasured) {
  const testing::TemporaryFolder folder;
  const std::string text =
      make_agent_guide(contest_store(folder.path() / "c.db"), "hilo report c.db", "figures");
  for (const char* part :
       {"Written by `hilo report c.db`", "**Bayes** (`bayes`)", "90 % of the optimum: 0 (docking)",
        "not reached (docking)", "## docking", "4 seeds, 100 episodes",
        "| Bayes | 1.000 [1.000, 1.000] |", "![Share of the optimum](figures/agents-docking.png)",
        "| Q-learning | 0 % |", "experimental"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(Contest, NeedsTheStudy) {
  const testing::TemporaryFolder folder;
  const Store store = testing::example_store(folder.path() / "e.db");
  testing::expect_error([&] { (void)read_contest(store); }, Errc::usage,
                        {"hilo reproduce contest"});
}

}  // namespace
}  // namespace hilo
