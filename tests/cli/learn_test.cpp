// hilo learn and hilo journal as commands.
#include "cli_fixture.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlant = R"(spec_version = 1
name = "plant"
[problem]
kind = "random-mdp"
states = 20
actions = 3
[budget]
episodes = 30
[cost]
high_step = 1
)";

TEST_F(Cli, LearnsOnceAndGoesOnWithoutSpending) {
  write("plant.toml", kPlant);
  const Finished plan = hilo({"learn", "plant.toml", "--dry-run"});
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_NE(plan.out.find("at most 30: 27 to learn from, 3 to test"), std::string::npos)
      << plan.out;
  EXPECT_FALSE(fs::exists(path("plant.journal")));

  const Finished first = hilo({"learn", "plant.toml"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.out.find("30 expensive episodes"), std::string::npos) << first.out;
  for (const char* file : {"plant.policy.json", "plant.html", "plant.journal"})
    EXPECT_TRUE(fs::exists(path(file))) << file;
  EXPECT_FALSE(fs::exists(path("plant.journal-wal")));  // one file, when nobody works on it
  const std::string policy = testing::read_text(path("plant.policy.json"));
  const std::string steps = hilo({"journal", "export", "plant.journal"}).out;
  const Finished again = hilo({"learn", "plant.toml", "--json"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("\"episodes\":30"), std::string::npos) << again.out;
  EXPECT_EQ(testing::read_text(path("plant.policy.json")), policy);
  EXPECT_EQ(hilo({"journal", "export", "plant.journal"}).out, steps);
  const Finished replayed = hilo({"journal", "replay", "plant.journal"});
  EXPECT_NE(replayed.out.find("27 episodes learnt again"), std::string::npos) << replayed.out;
  const Finished longer = hilo({"learn", "plant.toml", "--set", "budget.episodes=50"});
  EXPECT_NE(longer.out.find("50 expensive episodes"), std::string::npos) << longer.out;
}

TEST_F(Cli, LearnRefusesBeforeAnythingIsSpent) {
  write("plant.toml", kPlant);
  write("mine.json", "{}");
  write("spec-of-run.toml", "spec_version = 1\nname = \"x\"\nseeds = 3\n");
  expect_failure({"learn", "none.toml"}, 5, {"none.toml"});
  expect_failure({"learn", "spec-of-run.toml"}, 3, {"seeds", "one seed"});
  expect_failure({"learn", "plant.toml", "--set", "budget.episodes=0"}, 3, {"budget"});
  expect_failure({"learn", "plant.toml", "--policy", "mine.json"}, 2, {"mine.json", "--force"});
  expect_failure({"learn", "plant.toml", "--policy", "nofolder/x.json", "--journal", "a.journal"},
                 5, {"nofolder"});
  expect_failure({"learn", "plant.toml", "--policy", "x", "--journal", "x"}, 2, {"x"});
  expect_failure(
      {"learn", "plant.toml", "--policy", "p.journal.checkpoint", "--journal", "p.journal"}, 2,
      {"p.journal.checkpoint"});
  expect_failure({"learn", "plant.toml", "--page", "plant.toml"}, 2, {"plant.toml"});
  for (const char* file : {"plant.journal", "a.journal", "x", "p.journal"})
    EXPECT_FALSE(fs::exists(path(file))) << file;
}

TEST_F(Cli, JournalsAreListedMergedAndRefused) {
  write("plant.toml", kPlant);
  ASSERT_EQ(hilo({"learn", "plant.toml"}).code, 0);
  const Finished list = hilo({"journal", "list", "plant.journal"});
  EXPECT_NE(list.out.find("plant, seed 0: 27 episodes learnt from, 3 tested"), std::string::npos)
      << list.out;
  EXPECT_EQ(hilo({"journal", "merge", "plant.journal", "--into", "all.journal"}).code, 0);
  EXPECT_EQ(hilo({"journal", "export", "all.journal"}).out,
            hilo({"journal", "export", "plant.journal"}).out);
  expect_failure({"journal", "merge", "plant.journal", "--into", "plant.journal"}, 2, {"itself"});
  expect_failure({"journal", "merge", "plant.journal"}, 2, {"--into"});
  expect_failure({"journal", "list", "none.journal"}, 5, {"none.journal", "no such journal"});
  expect_failure({"journal", "dance", "plant.journal"}, 2, {"dance"});
  std::string bytes = testing::read_text(path("plant.journal"));
  bytes.resize(bytes.size() / 2);
  write("half.journal", bytes);
  expect_failure({"journal", "list", "half.journal"}, 4, {"half.journal", "damaged"});
  expect_failure({"learn", "plant.toml", "--journal", "half.journal"}, 4,
                 {"half.journal", "damaged", "--skip-damaged"});
}

// A policy that is being asked for by files, with answers that do not fit.
TEST_F(Cli, AnswersThatDoNotFitAreRefusedAndCostNothing) {
  write("plant.toml", kPlant);
  ASSERT_EQ(hilo({"learn", "plant.toml", "--ask", "request.json"}).code, 0);
  EXPECT_NE(testing::read_text(path("request.json")).find("\"words\""), std::string::npos);
  write("other.json",
        R"({"episode": 5, "states": [0, 1], "actions": [0], "rewards": [1], "truncated": false})");
  expect_failure({"learn", "plant.toml", "--tell", "other.json"}, 2, {"other.json", "episode 5"});
  write("bad.json",
        R"({"episode": 0, "states": [0, 99], "actions": [0], "rewards": [1], "truncated": false})");
  expect_failure({"learn", "plant.toml", "--tell", "bad.json"}, 6, {"99"});
  write("late.json", R"({"episode": 0, "attempt": 3, "failure": "x"})");
  expect_failure({"learn", "plant.toml", "--tell", "late.json"}, 2, {"attempt 3"});
  const Finished list = hilo({"journal", "list", "plant.journal"});
  EXPECT_NE(list.out.find("0 episodes learnt from"), std::string::npos) << list.out;
  write("good.json",
        R"({"episode": 0, "states": [0, 1], "actions": [0], "rewards": [1], "truncated": false})");
  EXPECT_EQ(hilo({"learn", "plant.toml", "--tell", "good.json", "--ask", "request.json"}).code, 0);
  EXPECT_NE(testing::read_text(path("request.json")).find("\"episode\": 1,"), std::string::npos);
}

TEST_F(Cli, EvaluatesPoliciesAndPaysForNothingTwice) {
  write("plant.toml", kPlant);
  ASSERT_EQ(hilo({"learn", "plant.toml"}).code, 0);
  const std::vector<std::string> command = {"evaluate",          "plant.toml", "--policy",
                                            "plant.policy.json", "--policy",   "random=uniform",
                                            "--budget",          "60"};
  const Finished first = hilo(command);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.out.find("plant − random"), std::string::npos) << first.out;
  EXPECT_TRUE(fs::exists(path("plant.evaluation.html")));
  std::vector<std::string> as_json = command;
  as_json.push_back("--json");
  const Finished again = hilo(as_json);
  EXPECT_NE(again.out.find("\"paid\": 0"), std::string::npos) << again.out;
  EXPECT_NE(hilo({"journal", "list", "plant.evaluation.journal"}).out.find("random"),
            std::string::npos);
  EXPECT_EQ(hilo({"journal", "export", "plant.evaluation.journal"}).code, 0);

  expect_failure({"evaluate", "plant.toml", "--policy", "plant.policy.json"}, 3, {"--budget"});
  expect_failure({"evaluate", "plant.toml", "--policy", "none.json", "--budget", "9"}, 5,
                 {"none.json"});
  expect_failure({"evaluate", "plant.toml", "--policy", "plant.toml", "--budget", "9"}, 4,
                 {"plant.toml", "hilo_policy"});
  expect_failure({"evaluate", "plant.toml", "--budget", "9"}, 2, {"--policy"});
  write("mine.html", "<p>mine</p>");
  expect_failure(
      {"evaluate", "plant.toml", "--policy", "uniform", "--budget", "9", "--page", "mine.html"}, 2,
      {"mine.html", "--force"});
}

}  // namespace
}  // namespace hilo
