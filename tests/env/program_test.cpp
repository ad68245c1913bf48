#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "hilo/core/error.hpp"
#include "hilo/core/stop_request.hpp"
#include "hilo/env/program/conformance.hpp"
#include "hilo/env/program/program_source.hpp"
#include "hilo/env/source_simulator.hpp"
#include "hilo/policy/q_table.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

ProgramOptions corridor(const std::string& mode, const std::string& file = "") {
  return {.command = fmt::format("python3 {}/tests/programs/simulator.py {} {}", HILO_SOURCE_DIR,
                                 mode, file),
          .timeout_start = 20,
          .timeout_step = 20};
}

// Whether a process of the group is still there. A process that has ended is there until somebody
// has asked how, so that it takes a moment.
bool is_gone(pid_t group) {
  for (int i = 0; i < 100; ++i) {
    if (::kill(-group, 0) != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

std::string path_of(ProgramSource& source, std::uint32_t seed, int steps = 6) {
  Points seen(source.observation_space());
  source.reset(seed, seen);
  std::string out;
  for (int i = 0; i < steps; ++i) {
    const SourceStep step = source.step(Point(1), seen);
    out += fmt::format("{} ", step.reward);
    if (step.ended) break;
  }
  for (const std::uint64_t s : seen.indices()) out += fmt::format("{} ", s);
  return out;
}

TEST(Program, AnswersByLines) {
  const auto source = ProgramSource::start(corridor("good"));
  EXPECT_EQ(source->facts().name, "corridor");
  EXPECT_EQ(source->observation_space(), Space::discrete(10));
  EXPECT_EQ(source->action_space(), Space::discrete(2));
  EXPECT_EQ(path_of(*source, 7), path_of(*source, 7));
  EXPECT_NE(path_of(*source, 7), path_of(*source, 8));
  EXPECT_TRUE(source->tells_rewards());
  EXPECT_EQ(source->reward(Point(8), Point(1), Point(9)), 1);
  EXPECT_FALSE(source->put(Point(4), 1));
  EXPECT_TRUE(source->put(Point(9), 1));
  const pid_t group = source->group();
  source->stop();
  EXPECT_TRUE(is_gone(group));
}

TEST(Program, CommentsFifosAndCosts) {
  const std::string expected = path_of(*ProgramSource::start(corridor("good")), 3);
  EXPECT_EQ(path_of(*ProgramSource::start(corridor("comments")), 3), expected);
  EXPECT_EQ(path_of(*ProgramSource::start(corridor("fifo")), 3), expected);
  const auto source = ProgramSource::start(corridor("cost"));
  const SourceEpisodes episodes(SourcePaths(source, {}, "high fidelity"));
  Episode episode;
  const QTable q(10, 2);
  episodes.run_episode(q.behaviour(1), {.seed = 1}, {.max_steps = 8}, episode);
  ASSERT_TRUE(episode.cost.has_value());
  EXPECT_EQ(*episode.cost, 2.5 * static_cast<double>(episode.length()));
  EXPECT_FALSE(ProgramSource::start(corridor("no-reward"))->tells_rewards());
}

// What is wrong is said with the program's own words; nothing of it stays behind, and the next path
// starts it anew.
TEST(Program, BadAnswersAreErrors) {
  const struct {
    const char *mode, *expected;
  } cases[] = {
      {"nan", "has nan as its reward, but that must be a finite number"},
      {"inf", "has inf as its reward, but that must be a finite number"},
      {"wrong-count", "has 2 numbers as its observation, but that must have 1"},
      {"outside", "has 10 as its observation, but that must be a whole number from 0 to 9"},
      {"garbage", "'what?' does not start with ok, error or fatal"},
      {"bad-end", "has '3' as its END"},
      {"crashes", "ended by signal 11"},
      {"exits", "ended by exit code 3; its last words: no disk space"},
      {"endless-line", "wrote a line of more than 1 MB"},
      {"fatal", "answered fatal: the licence server is gone"},
      {"twice", "it had written a line that nobody asked for: 'ok -0.01 0 "},
  };
  for (const auto& c : cases) {
    const auto source = ProgramSource::start(corridor(c.mode));
    const pid_t group = source->group();
    expect_error([&] { path_of(*source, 1); }, Errc::simulator, {c.expected, "simulator.py"});
    EXPECT_TRUE(is_gone(group)) << c.mode;
    expect_error([&] { path_of(*source, 1); }, Errc::simulator, {c.expected});
  }
}

TEST(Program, AnErrorEndsOnlyThePath) {
  const auto source = ProgramSource::start(corridor("good"));
  const pid_t group = source->group();
  Points seen(source->observation_space());
  source->reset(1, seen);
  expect_error([&] { source->step(Point(5), seen); }, Errc::simulator,
               {"answered error: there is no action 5"});
  EXPECT_NO_THROW(path_of(*source, 1));
  EXPECT_EQ(source->group(), group);
}

TEST(Program, BadStartsAreErrors) {
  const auto refuse = [](const ProgramOptions& options, const std::string& expected) {
    expect_error([&] { ProgramSource::start(options); }, Errc::simulator, {expected});
  };
  ProgramOptions silent = corridor("silent");
  silent.timeout_start = 0.3;
  refuse(silent, "did not answer within 0.3 s (if it does answer, its output may be held back");
  refuse(corridor("banner"),
         "wrote 'Welcome to the corridor, version 1' to its standard output before its answer");
  refuse({.command = "./no-such-program"}, "cannot be started: No such file or directory");
  refuse({.command = "echo {}"}, "has nothing as 'hilo', the version of the protocol");
  refuse({.command = "echo '{\"hilo\":2}'"}, "has 2 as 'hilo'");
  refuse({.command = "true"}, "ended by exit code 0");
}

TEST(Program, ATimeOutEndsItAndLateAnswersAreNotTaken) {
  ProgramOptions options = corridor("late");
  const std::string expected = path_of(*ProgramSource::start(options), 4, 1);
  options.timeout_step = 0.3;
  const auto source = ProgramSource::start(options);
  const pid_t group = source->group();
  expect_error([&] { path_of(*source, 4, 1); }, Errc::simulator, {"did not answer within 0.3 s"});
  EXPECT_TRUE(is_gone(group));
  EXPECT_EQ(source->group(), 0);
  ProgramOptions whole = corridor("late");
  whole.timeout_step = 0;
  whole.timeout_episode = 1.5;
  const auto slow = ProgramSource::start(whole);
  expect_error([&] { path_of(*slow, 4, 3); }, Errc::simulator, {"did not answer within"});
}

TEST(Program, EverythingThatItStartedEndsWithIt) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "children").string();
  ProgramOptions options = corridor("stubborn", file);
  options.timeout_step = 0.5;
  const auto source = ProgramSource::start(options);
  const pid_t group = source->group();
  expect_error([&] { path_of(*source, 1); }, Errc::simulator, {"did not answer within"});
  EXPECT_TRUE(is_gone(group));
  std::ifstream in(file);
  int children = 0;
  for (pid_t child = 0; in >> child; ++children) EXPECT_NE(::kill(child, 0), 0) << child;
  EXPECT_EQ(children, 2);
}

TEST(Program, AFloodOfErrorsNeitherBlocksNorFillsMemory) {
  const auto source = ProgramSource::start(corridor("floods"));
  EXPECT_EQ(path_of(*source, 7), path_of(*ProgramSource::start(corridor("good")), 7));
}

TEST(Program, MemoryIsLimited) {
  ProgramOptions options = corridor("leaks-memory");
  options.memory_mb = 300;
  const auto source = ProgramSource::start(options);
  expect_error(
      [&] {
        for (std::uint32_t seed = 0; seed < 1000; ++seed) path_of(*source, seed);
      },
      Errc::simulator, {"MemoryError"});
  // Started anew from time to time, it never gets there.
  options.restart_every = 5;
  const auto restarted = ProgramSource::start(options);
  for (std::uint32_t seed = 0; seed < 40; ++seed) EXPECT_NO_THROW(path_of(*restarted, seed));
}

TEST(Program, IsStartedAnewAfterItHasCrashed) {
  ProgramOptions options = corridor("exits");
  options.restart_every = 1;
  const auto source = ProgramSource::start(options);
  for (int i = 0; i < 3; ++i)
    expect_error([&] { path_of(*source, 1); }, Errc::simulator, {"no disk space"});
  ProgramOptions patient = corridor("good");
  patient.timeout_start = 0;  // for ever
  EXPECT_NO_THROW(ProgramSource::start(patient));
}

TEST(Program, AnswersThroughFifosWithoutAStandardOutput) {
  ProgramOptions options = corridor("fifo");
  options.command = "exec " + options.command + " > /dev/null";
  EXPECT_EQ(path_of(*ProgramSource::start(options), 3),
            path_of(*ProgramSource::start(corridor("good")), 3));
}

TEST(Program, WaitsForALicence) {
  const TemporaryFolder folder;
  const auto start = std::chrono::steady_clock::now();
  const auto source = ProgramSource::start(corridor("licence", (folder.path() / "tries").string()));
  EXPECT_GT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1400));
  EXPECT_NO_THROW(path_of(*source, 1));
}

TEST(Program, ARequestToStopEndsAWait) {
  const auto source = ProgramSource::start(corridor("hangs"));
  const pid_t group = source->group();
  std::atomic<bool> stop = false;
  std::jthread after([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop = true;
  });
  const auto start = std::chrono::steady_clock::now();
  const StopScope scope(&stop);
  EXPECT_THROW(path_of(*source, 1), Interrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  EXPECT_TRUE(is_gone(group));
}

TEST(Program, RetriesHideFailuresThatPass) {
  const QTable q(10, 2);
  const auto run = [&](const std::string& mode, std::uint64_t retries) {
    const auto source = ProgramSource::start(corridor(mode));
    const SourceEpisodes episodes(SourcePaths(source, {}, "high fidelity", retries));
    std::string out;
    Episode episode;
    for (std::uint32_t e = 0; e < 5; ++e) {
      episodes.run_episode(q.behaviour(1), {.seed = 1, .episode = e}, {.max_steps = 20}, episode);
      for (const State s : episode.states) out += fmt::format("{} ", s);
    }
    return out;
  };
  EXPECT_EQ(run("sometimes", 50), run("good", 0));
}

TEST(Program, WorksInFoldersOfItsOwn) {
  const TemporaryFolder folder;
  ProgramOptions options = corridor("good");
  options.directory = (folder.path() / "run-{worker}").string();
  options.worker = 3;
  EXPECT_NO_THROW(path_of(*ProgramSource::start(options), 1));
  EXPECT_TRUE(std::filesystem::is_directory(folder.path() / "run-3"));
}

// The names of the checks with this verdict.
std::vector<std::string> checks_with(Verdict verdict, const std::string& mode,
                                     const std::string& file = "") {
  const SimulatorCheck result = check_program(corridor(mode, file), {.episodes = 10});
  std::vector<std::string> names;
  for (const Finding& finding : result.findings) {
    if (finding.verdict == verdict) names.push_back(finding.check);
    if (finding.verdict != Verdict::bad) continue;
    EXPECT_NE(finding.found, "") << finding.check;
    EXPECT_NE(finding.means, "") << finding.check;
    EXPECT_NE(finding.mend, "") << finding.check;
  }
  EXPECT_EQ(result.is_good(), verdict != Verdict::bad || names.empty());
  return names;
}

TEST(CheckSimulator, FindsNothingInAGoodOne) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(checks_with(Verdict::bad, "good"), Names());
  EXPECT_EQ(checks_with(Verdict::skipped, "good"), Names{"start continues the path"});
  EXPECT_EQ(checks_with(Verdict::bad, "fifo"), Names());
  EXPECT_EQ(checks_with(Verdict::skipped, "deterministic"), Names{"other seeds"});
}

TEST(CheckSimulator, FindsWhatIsWrong) {
  using Names = std::vector<std::string>;
  const TemporaryFolder folder;
  const auto bad = [&](const std::string& mode) {
    return checks_with(Verdict::bad, mode, (folder.path() / mode).string());
  };
  EXPECT_EQ(bad("hidden"), Names{"start continues the path"});
  EXPECT_EQ(bad("wrong-reward"), Names{"reward"});
  EXPECT_EQ(bad("clash"), Names{"two at once"});
  EXPECT_EQ(bad("leaks-memory"), Names{"memory"});
  EXPECT_EQ(bad("stays"), Names{"end of input"});
  EXPECT_EQ(bad("banner"), Names{"hello"});
  EXPECT_EQ(bad("nan"), Names{"answers"});
  EXPECT_EQ(bad("leaks-state"), Names{"same seed"});
  EXPECT_EQ(bad("same-seed-other-bits"), Names{"same seed"});
}

}  // namespace
}  // namespace hilo
