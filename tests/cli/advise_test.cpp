// The commands that give advice: diagnose and plan.
#include <nlohmann/json.hpp>

#include "cli/cli_fixture.hpp"
#include "support/specs.hpp"

namespace hilo {
namespace {

using testing::kTwoMfmcrl;
using testing::tiny_spec;

TEST_F(Cli, DiagnoseGivesAVerdictAndKeepsItForThePage) {
  write("tiny.toml", tiny_spec(kTwoMfmcrl));
  const Finished text = hilo({"diagnose", "tiny.toml", "--pilot", "400", "--set",
                              "problem.snr_db=10", "--store", "hilo.db"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(text.out.starts_with("use it: ")) << text.out;
  EXPECT_NE(text.out.find("train.pilot_episodes = 400"), std::string::npos);
  const auto json = nlohmann::json::parse(
      hilo({"diagnose", "tiny.toml", "--pilot", "400", "--set", "problem.snr_db=10", "--json",
            "--cost-high", "50", "--cost-low", "1"})
          .out);
  EXPECT_EQ(json["verdict"], "use it");
  EXPECT_LT(json["change_of_squared_error"]["high"], 0);
  EXPECT_EQ(json["pilot"]["episodes"], 400);
  EXPECT_EQ(json["cost"]["measured"], false);
  EXPECT_EQ(json["correlation"]["quantiles"].size(), 5U);
  EXPECT_GT(json["text"].size(), 3U);
  EXPECT_EQ(hilo({"report", "hilo.db", "--out", "page.html"}).code, 0);
  EXPECT_NE(testing::slurp(path("page.html")).find("Diagnosis: use it"), std::string::npos);
}

TEST_F(Cli, DiagnoseFollowsATrainedPolicyAndRefusesWhatDoesNotFit) {
  write("tiny.toml", tiny_spec(kTwoMfmcrl));
  hilo({"run", "tiny.toml"});
  const Finished f = hilo({"diagnose", "tiny.toml", "--policy", "hilo.db", "--agent", "MCRL"});
  EXPECT_EQ(f.code, 0) << f.err;
  EXPECT_EQ(f.out.find("pilot_episodes"), std::string::npos);  // training opens uniformly
  expect_failure({"diagnose", "tiny.toml", "--policy", "hilo.db", "--agent", "MCRL", "--set",
                  "problem.states=30"},
                 2, {"20 states", "30"});
  write("alone.toml", tiny_spec());
  expect_failure({"diagnose", "alone.toml"}, 3, {"alone.toml", "no agent uses a low fidelity"});
  expect_failure({"diagnose", "tiny.toml", "--cost-high", "3"}, 2, {"--cost-low"});
  expect_failure({"diagnose", "tiny.toml", "--pilot", "0"}, 2, {"pilot episodes", "0"});
  expect_failure({"diagnose", "tiny.toml", "--agent", "MCRL"}, 2, {"--policy"});
  expect_failure({"diagnose", "tiny.toml", "--returns", "-5"}, 2, {"--returns"});
  const Finished few = hilo({"diagnose", "tiny.toml", "--pilot", "5"});
  EXPECT_TRUE(few.out.starts_with("cannot tell yet: ")) << few.out;
}

TEST_F(Cli, PlanComputesFromFlagsAndStores) {
  const auto json =
      nlohmann::json::parse(hilo({"plan",        "--sd",    "2",          "--correlation",
                                  "0.6",         "--error", "0.5",        "--rewards",
                                  "-1",          "3",       "--gamma",    "0.5",
                                  "--gap",       "1",       "--returns",  "16",
                                  "--cost-high", "9",       "--cost-low", "1",
                                  "--json"})
                                .out);
  EXPECT_EQ(json["returns_needed"]["plain"], 237);  // as in estimator/bounds_test.cpp
  EXPECT_NEAR(json["costs"]["error_at_equal_cost"], 1, 1e-12);
  EXPECT_NEAR(json["costs"]["best_low_per_high"], 2.25, 1e-12);
  EXPECT_NEAR(json["greedy_is_best"]["plain"], 1 / 1.5, 1e-12);
  expect_failure({"plan"}, 2, {"nothing to plan", "--error"});
  expect_failure({"plan", "--error", "1"}, 2, {"--sd is needed"});
  expect_failure({"plan", "--correlation", "2"}, 2, {"--correlation"});
  expect_failure({"plan", "--correlation", "0.9", "--cost-high", "5"}, 2, {"--cost-low"});
  expect_failure({"plan", "--sd", "50", "--error", "1", "--rewards", "0", "0.1"}, 2,
                 {"--sd", "--rewards"});
  write("tiny.toml", tiny_spec(kTwoMfmcrl));
  hilo({"run", "tiny.toml"});
  const Finished f = hilo({"plan", "--store", "hilo.db", "--error", "0.5"});
  EXPECT_EQ(f.code, 0) << f.err;
  EXPECT_NE(f.out.find("standard deviation of a return"), std::string::npos);
  EXPECT_NE(f.out.find("pays if a high-fidelity return costs more than"), std::string::npos);
}

TEST_F(Cli, TheGuideNeedsItsStudy) {
  write("tiny.toml", tiny_spec());
  hilo({"run", "tiny.toml"});
  expect_failure({"report", "hilo.db", "--guide", "guide.md"}, 2,
                 {"'estimators'", "hilo reproduce estimators"});
  expect_failure({"report", "hilo.db", "--agents", "guide.md"}, 2, {"hilo reproduce contest"});
  EXPECT_FALSE(std::filesystem::exists(path("guide.md")));
}

// Agents without roll-outs of their own are diagnosed with the m of mfmcrl; what an agent cannot do
// is said before anything runs.
TEST_F(Cli, OtherAgentsAreRunAndDiagnosed) {
  write("bayes.toml", tiny_spec("[[agent]]\nkind = \"bayes\"\n[[agent]]\nkind = \"transfer\"\n"
                                "low_steps = 1000\n[[agent]]\nkind = \"mfrl\"\n"));
  const Finished ran = hilo({"run", "bayes.toml"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(hilo({"export", "hilo.db"}).out.find("tiny,Bayes,0,40,trust_low_ends,"),
            std::string::npos);
  const Finished diagnosed = hilo({"diagnose", "bayes.toml", "--pilot", "50"});
  EXPECT_EQ(diagnosed.code, 0) << diagnosed.err;
  write("undiscounted.toml", tiny_spec("[[agent]]\nkind = \"bayes\"\n"));
  expect_failure({"run", "undiscounted.toml", "--set", "train.gamma=1"}, 3,
                 {"agent 2 (bayes)", "gamma must be below 1"});
  expect_failure({"run", "bayes.toml", "--set", "agent.4.value_min=200"}, 3,
                 {"agent 4 (mfrl)", "value_min is 200"});
  expect_failure({"reproduce", "contest-random", "--table", "x.csv"}, 2, {"uses no table"});
}

}  // namespace
}  // namespace hilo
