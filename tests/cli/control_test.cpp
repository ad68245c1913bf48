// Problems whose states and actions are vectors, from a spec to a policy and its value.
#include "cli_fixture.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStudy = R"(spec_version = 1
name = "swing"
seeds = 2
[problem]
kind = "pendulum"
steps = 40
[train]
episodes = 3
gamma = 1
[test]
every = 1
episodes = 20
[[agent]]
kind = "corrected"
units = 3
scenarios = 4
population = 8
restarts = 1
generations = 5
frequencies = 20
fit_points = 50
[[agent]]
kind = "direct"
)";

TEST_F(Cli, ControlProblemsAreTheSameOnAnyPathAndNumberOfThreads) {
  write("swing.toml", kStudy);
  const Finished one = hilo({"run", "swing.toml", "--threads", "1", "--store", "one.db"});
  EXPECT_EQ(one.code, 0) << one.err;
  ASSERT_EQ(hilo({"run", "swing.toml", "--threads", "2", "--store", "two.db"}).code, 0);
  const auto rows = [&](const char* store) {
    std::string out;
    std::istringstream all(hilo({"export", store, "--csv", "-"}).out);
    for (std::string line; std::getline(all, line);)
      if (line.find(",seconds,") == std::string::npos) out += line + "\n";
    return out;
  };
  const std::string expected = rows("one.db");
  EXPECT_NE(expected.find("model_value"), std::string::npos);
  EXPECT_EQ(rows("two.db"), expected);
  setenv("HILO_SIMD", "scalar", 1);
  ASSERT_EQ(hilo({"run", "swing.toml", "--store", "scalar.db"}).code, 0);
  unsetenv("HILO_SIMD");
  EXPECT_EQ(rows("scalar.db"), expected);
}

// Programs whose states are vectors take part in studies.
TEST_F(Cli, ProgramsOfVectorsAreStudied) {
  write("slider.awk", R"(#!/usr/bin/awk -f
function say(start) { printf "%s %.17g %.17g\n", start, x, v; fflush() }
$1 == "hello" { print "{\"hilo\":1,\"actions\":[[-1,1]],\"observation\":[[-5,5],[null,null]],\"start\":\"value\"}"; fflush() }
$1 == "reset" { x = 0.5 + ($2 % 1000) / 1000; v = 0; say("ok 0") }
$1 == "start" { x = $3; v = $4; say("ok 0") }
$1 == "step" { r = -x * x; v = 0.9 * v + 0.1 * $2; x += 0.1 * v; say("ok " r " 0") }
$1 == "quit" { exit }
)");
  const std::string spec = R"(spec_version = 1
name = "slider"
seeds = 1
[problem]
kind = "program"
vectors = true
angles = []
[problem.high]
command = "mawk -W interactive -f slider.awk"
[[problem.low]]
command = "mawk -W interactive -f slider.awk"
[train]
episodes = 4
gamma = 0.9
max_steps = 20
[test]
every = 2
episodes = 2
[[agent]]
kind = "mfpg"
batch = 2
low_rollouts = 2
[[agent]]
kind = "direct"
)";
  write("slider.toml", spec);
  const Finished run = hilo({"run", "slider.toml", "--store", "slider.db"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(hilo({"export", "slider.db", "--csv", "-"}).out.find("test_return"), std::string::npos);
  expect_failure({"run", "slider.toml", "--set", "problem.high.workers=3", "--store", "b.db"}, 3,
                 {"high.workers", "vectors"});
  expect_failure({"run", "slider.toml", "--set", "problem.high.grid_low=[0,0]", "--store", "b.db"},
                 3, {"high.grid_low", "vectors"});
}

// A mistake that shows when the learner is made, before anything is paid for, blocks nothing.
TEST_F(Cli, AJournalWithoutEpisodesTakesACorrectedSpec) {
  const std::string spec = R"(spec_version = 1
name = "tuned"
[problem]
kind = "pendulum"
steps = 20
[train]
gamma = 1
[budget]
episodes = 2
reserve = 1
[agent]
kind = "corrected"
units = 3
scenarios = 2
population = 4
restarts = 1
generations = 2
frequencies = 20
fit_points = 30
)";
  write("tuned.toml", spec + "tune = {mass = [-1, 2]}\n");
  expect_failure({"learn", "tuned.toml"}, 3, {"tune"});
  write("tuned.toml", spec + "tune = {mass = [0.5, 2]}\n");
  const Finished learnt = hilo({"learn", "tuned.toml"});
  EXPECT_EQ(learnt.code, 0) << learnt.err;
}

TEST_F(Cli, NetworksAreWrittenAndEvaluated) {
  write("swing.toml", kStudy);
  ASSERT_EQ(hilo({"run", "swing.toml", "--seeds", "1", "--store", "swing.db"}).code, 0);
  const Finished shown = hilo({"policy", "swing.db", "--agent", "corrected"});
  EXPECT_NE(shown.out.find("a network with"), std::string::npos) << shown.out << shown.err;
  const Finished written =
      hilo({"policy", "swing.db", "--agent", "corrected", "--out", "mine.policy.json"});
  EXPECT_EQ(written.code, 0) << written.err;
  ASSERT_TRUE(fs::exists(path("mine.policy.json")));
  expect_failure({"policy", "swing.db", "--agent", "corrected", "--state", "3"}, 2, {"--out"});

  fs::copy(path("mine.policy.json"), path("copy.policy.json"));
  write("value.toml", R"(spec_version = 1
name = "value"
[problem]
kind = "pendulum"
steps = 40
[train]
gamma = 1
[evaluate]
episodes = 30
[cost]
high_step = 1
low_step = 0.01
)");
  const Finished value = hilo(
      {"evaluate", "value.toml", "--policy", "mine.policy.json", "--policy", "uniform", "--json"});
  EXPECT_EQ(value.code, 0) << value.err;
  EXPECT_NE(value.out.find("\"comparisons\""), std::string::npos) << value.out;
  expect_failure(
      {"evaluate", "value.toml", "--policy", "mine.policy.json", "--policy", "copy.policy.json"}, 2,
      {"the policies 'mine' and 'copy' are the same"});

  // Agents and problems that do not fit each other, and networks that do not fit a problem.
  write("wrong.toml",
        std::string(kStudy).replace(std::string(kStudy).find("\"direct\""), 8, "\"mcrl\""));
  expect_failure({"run", "wrong.toml", "--dry-run"}, 3,
                 {"the agent mcrl needs states and actions that are numbered", "corrected"});
  std::string other = testing::read_text(path("value.toml"));
  other.replace(other.find("pendulum"), 8, "acrobot");
  write("other.toml", other);
  expect_failure({"evaluate", "other.toml", "--policy", "mine.policy.json"}, 2,
                 {"does not fit", "network"});
  expect_failure({"learn", "value.toml"}, 3, {"value.toml"});
}

}  // namespace
}  // namespace hilo
