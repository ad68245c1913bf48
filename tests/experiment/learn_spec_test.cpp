#include "hilo/experiment/learn_spec.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace hilo {
namespace {

using testing::expect_error;

LearnSpec parse(const std::string& more, const std::string& problem = "kind = \"random-mdp\"") {
  return parse_learn_spec(
      "spec_version = 1\nname = \"plant\"\n" + more + "\n[problem]\n" + problem + "\n",
      "plant.toml");
}

TEST(LearnSpec, ChoosesAnAgentAndSaysWhy) {
  EXPECT_EQ(parse("[budget]\nepisodes = 10").config().agent->name, "bayes");
  EXPECT_EQ(parse("agent = \"auto\"\n[budget]\nepisodes = 10").config().agent->name, "bayes");
  const LearnSpec undiscounted = parse("[train]\ngamma = 1.0\n[budget]\nepisodes = 10");
  EXPECT_EQ(undiscounted.config().agent->name, "mfmcrl");
  EXPECT_NE(undiscounted.choice.find("gamma = 1"), std::string::npos);
  const LearnSpec named = parse("agent = \"mcrl\"\n[budget]\nepisodes = 10");
  EXPECT_EQ(named.config().agent->name, "mcrl");
  EXPECT_EQ(named.choice, "");
  const LearnSpec table =
      parse("[budget]\nepisodes = 10\n[agent]\nkind = \"mfmcrl\"\nlow_rollouts = 3");
  EXPECT_EQ(table.config().agent_parameters.integer("low_rollouts"), 3);
}

TEST(LearnSpec, ReservesATenthAndAtLeastTenOfFifty) {
  const auto reserve = [](const std::string& budget) {
    return parse("[budget]\n" + budget).reserved_episodes();
  };
  EXPECT_EQ(reserve("episodes = 1"), 0U);
  EXPECT_EQ(reserve("episodes = 5"), 1U);
  EXPECT_EQ(reserve("episodes = 49"), 4U);
  EXPECT_EQ(reserve("episodes = 50"), 10U);
  EXPECT_EQ(reserve("episodes = 1000"), 100U);
  EXPECT_EQ(reserve("episodes = 1000\nreserve = 7"), 7U);
  EXPECT_EQ(reserve("cost = 3.5"), std::nullopt);
}

TEST(LearnSpec, RefusesWhatMakesNoSense) {
  const auto refuses = [](const std::string& more, const std::vector<std::string>& words) {
    expect_error([&] { parse(more); }, Errc::spec, words);
  };
  refuses("", {"plant.toml", "budget", "episodes, steps, cost and wall"});
  refuses("[budget]\nepisode = 3", {"budget", "'episode'", "did you mean 'episodes'"});
  refuses("[budget]\nepisodes = -3", {"episodes is -3"});
  refuses("[budget]\nepisodes = 10\nreserve = 10", {"reserve is 10", "below episodes"});
  refuses("seeds = 3\n[budget]\nepisodes = 10", {"seeds", "one seed"});
  refuses("seed = -1\n[budget]\nepisodes = 10", {"seed must be"});
  refuses("[train]\nepisodes = 3\n[budget]\nepisodes = 10", {"train", "[budget]"});
  refuses("[test]\nepisodes = 3\n[budget]\nepisodes = 10", {"[test]", "reserve"});
  refuses("[budget]\nepisodes = 10\n[cost]\nhigh_step = -1", {"cost", "high_step"});
  refuses("[budget]\nepisodes = 10\n[cost]\nlow_step = 1", {"cost", "low_step", "one unit"});
  refuses("[budget]\ncost = 10\n[cost]\nhigh_step = 0", {"budget", "never be reached"});
  refuses("[budget]\nepisodes = 10\n[failures]\non_failure = \"panic\"", {"on_failure", "skip"});
  refuses("[budget]\nepisodes = 10\n[[agent]]\nkind = \"mcrl\"\n[[agent]]\nkind = \"bayes\"",
          {"2 agents"});
  refuses("[budget]\nepisodes = 10\n[[agent]]\nkind = \"mfmcrl\"\nsweep.low_rollouts = [1, 2]",
          {"one configuration"});
  refuses("agent = 3\n[budget]\nepisodes = 10", {"agent must be"});
  refuses("[bugdet]\nepisodes = 10", {"bugdet"});
}

TEST(LearnSpec, TheIdentityIsAllButTheBudget) {
  const Configuration a = parse("[budget]\nepisodes = 10").identity;
  EXPECT_EQ(a, parse("[budget]\nepisodes = 99\nreserve = 3").identity);
  EXPECT_NE(a, parse("seed = 1\n[budget]\nepisodes = 10").identity);
  EXPECT_NE(a, parse("[budget]\nepisodes = 10\n[cost]\nhigh_step = 1").identity);
  EXPECT_EQ(a.value("train.episodes"), "");
}

}  // namespace
}  // namespace hilo
