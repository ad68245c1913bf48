// The program as a user meets it: exit codes, messages, and results that survive anything.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "hilo/core/random.hpp"
#include "support/program.hpp"
#include "support/specs.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::Finished;
using testing::kTwoMfmcrl;
using testing::tiny_spec;

class Cli : public ::testing::Test {
 protected:
  Finished hilo(const std::vector<std::string>& arguments, testing::ProgramOptions options = {}) {
    return testing::run_program(HILO_PROGRAM, arguments, folder_.path(), options);
  }

  void write(const std::string& name, const std::string& text) { folder_.write(name, text); }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

  // The export of a store without the lines that hold times.
  std::string export_of(const std::string& store) {
    const Finished f = hilo({"export", store});
    EXPECT_EQ(f.code, 0) << f.err;
    std::istringstream lines(f.out);
    std::string line, out;
    while (std::getline(lines, line))
      if (line.find(",seconds,") == std::string::npos) out += line + "\n";
    return out;
  }

  // Runs and expects this exit code, one line on stderr that holds every part, and no output.
  void expect_failure(const std::vector<std::string>& arguments, int code,
                      const std::vector<std::string>& parts, testing::ProgramOptions options = {}) {
    const Finished f = hilo(arguments, options);
    EXPECT_EQ(f.code, code) << f.err << f.out;
    EXPECT_EQ(std::ranges::count(f.err, '\n'), 1) << f.err;
    for (const std::string& part : parts)
      EXPECT_NE(f.err.find(part), std::string::npos) << "'" << part << "' is not in: " << f.err;
  }

  // Until a program that was started has got so far, and a moment longer; ten seconds at most.
  void wait_for_file(const std::string& name) const {
    for (int i = 0; i < 1000 && !std::filesystem::exists(path(name)); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }

  testing::TemporaryFolder folder_;
};

TEST_F(Cli, EveryCommandHasHelpWithAnExample) {
  const Finished help = hilo({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* command : {"run", "reproduce", "report", "export", "policy", "solve", "merge",
                              "import", "list", "completion"}) {
    EXPECT_NE(help.out.find(command), std::string::npos) << command;
    const Finished f = hilo({command, "--help"});
    EXPECT_EQ(f.code, 0);
    EXPECT_NE(f.out.find("Example:"), std::string::npos) << command;
  }
  EXPECT_NE(hilo({"--version"}).out.find("hilo 0."), std::string::npos);
  EXPECT_NE(hilo({"completion", "bash"}).out.find("complete -o default -F _hilo hilo"),
            std::string::npos);
}

TEST_F(Cli, UsageErrors) {
  expect_failure({}, 2, {"subcommand is required"});
  expect_failure({"rnu"}, 2, {"--help"});
  expect_failure({"run"}, 2, {"SPEC is required"});
  expect_failure({"run", "x.toml", "--nonsense"}, 2, {"nonsense"});
  expect_failure({"reproduce", "figure-2x"}, 2, {"did you mean 'figure-2a'?"});
  expect_failure({"reproduce"}, 2, {"needs the name"});
  expect_failure({"list", "nothing"}, 2, {"nothing"});
  write("tiny.toml", tiny_spec());
  expect_failure({"run", "tiny.toml", "--seeds", "abc"}, 2, {"--seeds", "'abc'"});
  expect_failure({"run", "tiny.toml", "--set", "train..episodes=5"}, 2, {"names no key"});
  expect_failure({"run", "tiny.toml", "--set", "train.episodes=5\nfoo=3"}, 2, {"single key=value"});
  hilo({"run", "tiny.toml"});
  expect_failure({"report", "hilo.db", "--metric", "nonsense"}, 2, {"no metric 'nonsense'"});
  expect_failure({"export", "hilo.db", "--experiment", "tinny"}, 2, {"did you mean 'tiny'?"});
  expect_failure({"policy", "hilo.db", "--experiment", "tinny"}, 2, {"did you mean 'tiny'?"});
}

TEST_F(Cli, BadSpecs) {
  const auto bad = [&](const std::string& old_text, const std::string& new_text) {
    std::string text = tiny_spec();
    text.replace(text.find(old_text), old_text.size(), new_text);
    write("bad.toml", text);
  };
  bad("states = 20", "sates = 20");
  expect_failure({"run", "bad.toml"}, 3,
                 {"bad.toml", "unknown key 'sates'", "did you mean 'states'"});
  bad("states = 20", "states = true");
  expect_failure({"run", "bad.toml"}, 3, {"states is true, but must be a whole number"});
  bad("states = 20", "states = 1");
  expect_failure({"run", "bad.toml"}, 3, {"states is 1, but must be in [2, 20000]"});
  bad("\"random-mdp\"", "\"nonsense\"");
  expect_failure({"run", "bad.toml"}, 3, {"unknown problem kind 'nonsense'", "known: random-mdp"});
  bad("\"mcrl\"", "\"nonsense\"");
  expect_failure({"run", "bad.toml"}, 3, {"unknown agent kind 'nonsense'", "known: mcrl"});
  bad("kind = \"mcrl\"", "kind = \"mcrl\"\nlabel = \"a\\u0007\"");
  expect_failure({"run", "bad.toml"}, 3, {"label must be UTF-8 without control characters"});
  bad("states = 20", "states = 20\nstart_states = 20");
  expect_failure({"run", "bad.toml"}, 3, {"start_states is 20, but must be in [1, 19]"});
  bad("spec_version = 1", "spec_version = 7");
  expect_failure({"run", "bad.toml"}, 3, {"spec_version is 7, but this program reads version 1"});
  bad("[train]", "[train");
  expect_failure({"run", "bad.toml"}, 3, {"bad.toml:11:"});
  expect_failure({"run", "none.toml"}, 5, {"none.toml: cannot be read"});
  EXPECT_FALSE(std::filesystem::exists(path("hilo.db")));  // nothing was begun
}

TEST_F(Cli, BadTablesAreFoundBeforeAnythingRuns) {
  write("t.toml", R"(spec_version = 1
name = "t"
[problem]
kind = "table"
folder = "nowhere"
[train]
episodes = 1
[[agent]]
kind = "mcrl"
)");
  expect_failure({"run", "t.toml"}, 5, {"nowhere/high/transitions.csv: cannot be read"});
  write("nowhere/high/transitions.csv", "state,action,next,probability,reward\n0,0,1,2,0\n");
  expect_failure({"run", "t.toml"}, 4, {"transitions.csv:2: probability is 2"});
  EXPECT_FALSE(std::filesystem::exists(path("hilo.db")));
}

TEST_F(Cli, RunsOnceAndThenOnlyWhatIsNew) {
  write("tiny.toml", tiny_spec());
  EXPECT_NE(hilo({"run", "tiny.toml"}).out.find("3 of 3 runs done"), std::string::npos);
  EXPECT_NE(hilo({"run", "tiny.toml"}).out.find("nothing to do, all 3 runs are in hilo.db"),
            std::string::npos);
  write("tiny.toml", tiny_spec(kTwoMfmcrl));
  EXPECT_NE(hilo({"run", "tiny.toml"}).out.find("6 of 9 runs done"), std::string::npos);
  EXPECT_NE(hilo({"run", "tiny.toml", "--seeds", "5"}).out.find("6 of 15 runs done"),
            std::string::npos);
  const Finished dry = hilo({"run", "tiny.toml", "--seeds", "6", "--dry-run"});
  EXPECT_NE(dry.out.find("3 of 18 runs to do"), std::string::npos) << dry.out;
  const auto json = nlohmann::json::parse(hilo({"run", "tiny.toml", "--json"}).out);
  EXPECT_EQ(json["done"], 0);
  EXPECT_EQ(json["runs"], 9);
}

TEST_F(Cli, ExportsAreTheSameOnAnyNumberOfThreadsAndInAnyOrder) {
  write("tiny.toml", tiny_spec(kTwoMfmcrl));
  hilo({"run", "tiny.toml", "--store", "one.db", "--threads", "1"});
  hilo({"run", "tiny.toml", "--store", "two.db", "--threads", "2"});
  const std::string expected = export_of("one.db");
  EXPECT_EQ(std::ranges::count(expected, '\n'), 1 + 9 * (5 * 2 + 4 + 3 * 3 + 6) + 6 * (4 + 3 + 6));
  EXPECT_TRUE(export_of("two.db") == expected);

  hilo({"run", "tiny.toml", "--store", "a.db", "--seeds", "0..0"});
  hilo({"run", "tiny.toml", "--store", "b.db", "--seeds", "1..2"});
  const Finished merged = hilo({"merge", "b.db", "a.db", "--into", "merged.db"});
  EXPECT_NE(merged.out.find("9 runs added, 9 in all"), std::string::npos)
      << merged.out << merged.err;
  EXPECT_TRUE(export_of("merged.db") == expected);

  // Agents one by one, the last one first.
  write("part.toml", tiny_spec());
  hilo({"run", "part.toml", "--store", "grown.db"});
  write("part.toml", tiny_spec("[[agent]]\nkind = \"mfmcrl\"\nlow_rollouts = 2\n"));
  hilo({"run", "part.toml", "--store", "grown.db"});
  hilo({"run", "tiny.toml", "--store", "grown.db"});
  EXPECT_TRUE(export_of("grown.db") == expected);
}

// About half a second of work in 12 runs, killed 20 times at random moments.
TEST_F(Cli, SurvivesKills) {
  write("tiny.toml", tiny_spec(kTwoMfmcrl));
  const std::vector<std::string> arguments = {
      "run", "tiny.toml", "--store", "killed.db", "--seeds", "4", "--set", "train.episodes=4000"};
  std::vector<std::string> whole = arguments;
  whole[3] = "whole.db";
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(hilo(whole).code, 0);
  const std::chrono::microseconds once = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - start);
  Rng rng(Stream(1, Purpose::user));
  int killed = 0;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = testing::start_program(HILO_PROGRAM, arguments, {.folder = folder_.path()},
                                               path("out"), path("err"));
    // Every kill finds more runs stored: at first within the set-up, later anywhere.
    const double longest = i < 10 ? 20e3 : static_cast<double>(once.count()) / 4;
    std::this_thread::sleep_for(
        std::chrono::microseconds(static_cast<long>(longest * rng.uniform())));
    ::kill(child, SIGKILL);
    killed += testing::wait_for(child) == 128 + SIGKILL ? 1 : 0;
  }
  EXPECT_GT(killed, 10);
  const Finished last = hilo(arguments);
  EXPECT_EQ(last.code, 0) << last.err;
  EXPECT_TRUE(export_of("killed.db") == export_of("whole.db"));  // too long to be shown
}

TEST_F(Cli, InterruptStopsCleanlyAndTheSameCommandContinues) {
  write("tiny.toml", tiny_spec(kTwoMfmcrl));
  const std::vector<std::string> arguments = {"run", "tiny.toml", "--seeds",
                                              "4",   "--set",     "train.episodes=20000"};
  const pid_t child = testing::start_program(HILO_PROGRAM, arguments, {.folder = folder_.path()},
                                             path("out"), path("err"));
  wait_for_file("hilo.db-wal");  // it is at work, however busy the machine is
  ::kill(child, SIGINT);
  EXPECT_EQ(testing::wait_for(child), 130);
  EXPECT_NE(testing::slurp(path("out")).find("interrupted; the same command continues"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("hilo.db-wal")));
}

TEST_F(Cli, BadStoresAreRefusedAndKeepWhatTheyHad) {
  write("tiny.toml", tiny_spec());
  hilo({"run", "tiny.toml", "--store", "good.db"});
  const std::string good = testing::slurp(path("good.db"));
  const std::string expected = export_of("good.db");

  write("text.db", "this is not a store, it is a letter\n");
  expect_failure({"run", "tiny.toml", "--store", "text.db"}, 4, {"text.db: is not a hilo store"});
  EXPECT_EQ(testing::slurp(path("text.db")), "this is not a store, it is a letter\n");
  expect_failure({"export", "none.db"}, 5, {"none.db: there is no such store"});
  write("cut.db", good.substr(0, good.size() / 2));
  expect_failure({"run", "tiny.toml", "--store", "cut.db"}, 4, {"cut.db: the store is damaged"});
  expect_failure({"export", "cut.db"}, 4, {"cut.db: the store is damaged"});
  EXPECT_EQ(testing::slurp(path("cut.db")), good.substr(0, good.size() / 2));
  std::string future = good;
  future[63] = 9;  // user_version, big-endian, in the header
  write("future.db", future);
  expect_failure({"run", "tiny.toml", "--store", "future.db"}, 4, {"version 9", "version 2"});

  // In use: a long run holds it.
  const pid_t child = testing::start_program(
      HILO_PROGRAM, {"run", "tiny.toml", "--store", "good.db", "--set", "train.episodes=1000000"},
      {.folder = folder_.path()}, path("out"), path("err"));
  wait_for_file("good.db-wal");
  expect_failure({"run", "tiny.toml", "--store", "good.db"}, 5,
                 {"good.db: the store is in use by another process"});
  EXPECT_EQ(hilo({"export", "good.db"}).code, 0);  // but it can be read
  ::kill(child, SIGINT);
  EXPECT_EQ(testing::wait_for(child), 130);

  // No space left, by a limit on the size of files.
  hilo({"run", "tiny.toml", "--store", "good.db"});  // the experiment as it was
  expect_failure({"run", "tiny.toml", "--store", "good.db", "--seeds", "400"}, 5,
                 {"good.db: the store cannot be written, is the disk full?"},
                 {.max_file_size = 100'000});
  hilo({"run", "tiny.toml", "--store", "good.db"});
  const std::string kept = export_of("good.db");
  EXPECT_NE(kept.find(expected.substr(expected.find('\n') + 1, 200)), std::string::npos);
}

TEST_F(Cli, AReadOnlyStoreCanBeReadButNotWritten) {
  write("tiny.toml", tiny_spec());
  hilo({"run", "tiny.toml", "--store", "good.db"});
  // As nobody, with a copy of the program that nobody can reach.
  namespace fs = std::filesystem;
  const testing::TemporaryFolder locked;
  fs::copy_file(HILO_PROGRAM, locked.path() / "hilo");
  fs::copy_file(path("good.db"), locked.path() / "good.db");
  fs::copy_file(path("tiny.toml"), locked.path() / "tiny.toml");
  fs::permissions(locked.path() / "good.db", fs::perms(0444));
  fs::permissions(locked.path(), fs::perms(0555));
  const auto as_nobody = [&](const std::vector<std::string>& arguments) {
    return testing::run_program(locked.path() / "hilo", arguments, folder_.path(),
                                {.folder = locked.path(), .user = 65534});
  };
  const Finished run = as_nobody({"run", "tiny.toml", "--store", "good.db", "--seeds", "9"});
  EXPECT_EQ(run.code, 5) << run.out;
  EXPECT_NE(run.err.find("good.db: the store cannot be written"), std::string::npos) << run.err;
  const Finished read = as_nobody({"export", "good.db"});
  EXPECT_EQ(read.code, 0) << read.err;
  EXPECT_GT(read.out.size(), 1000U);
  fs::permissions(locked.path(), fs::perms(0755));
}

TEST_F(Cli, AFailedRunIsToldAndTriedAgain) {
  for (const char* side : {"high", "low"}) {
    write(std::string("t/") + side + "/transitions.csv",
          "state,action,next,probability,reward\n0,0,1,1,0\n0,1,0,1,1\n1,0,1,1,0\n1,1,1,1,0\n");
    write(std::string("t/") + side + "/start.csv", "state,probability\n0,1\n");
  }
  write("t.toml", R"(spec_version = 1
name = "t"
[problem]
kind = "table"
folder = "t"
[train]
episodes = 20
gamma = 1.0
max_steps = 50
[test]
every = 10
episodes = 2
exact_every = 10
[[agent]]
kind = "mcrl"
)");
  for (int i = 0; i < 2; ++i) {
    const Finished f = hilo({"run", "t.toml"});
    EXPECT_EQ(f.code, 6);
    EXPECT_NE(f.out.find("1 runs failed, the first with: the policy never ends"), std::string::npos)
        << f.out;
  }
  EXPECT_NE(hilo({"report", "hilo.db"}).out.find("failed: MCRL, seed 0"), std::string::npos);
}

TEST_F(Cli, ChangedTablesAreRunAgain) {
  const auto table = [&](const char* reward) {
    for (const char* side : {"high", "low"}) {
      write(std::string("t/") + side + "/transitions.csv",
            std::string("state,action,next,probability,reward\n0,0,1,1,") + reward +
                "\n0,1,1,1,1\n1,0,1,1,0\n1,1,1,1,0\n");
      write(std::string("t/") + side + "/start.csv", "state,probability\n0,1\n");
    }
  };
  write("t.toml", R"(spec_version = 1
name = "t"
[problem]
kind = "table"
folder = "t"
[train]
episodes = 20
[[agent]]
kind = "mcrl"
)");
  table("2");
  EXPECT_NE(hilo({"run", "t.toml"}).out.find("1 of 1 runs done"), std::string::npos);
  EXPECT_NE(hilo({"run", "t.toml"}).out.find("nothing to do"), std::string::npos);
  table("3");
  EXPECT_NE(hilo({"run", "t.toml"}).out.find("1 of 1 runs done"), std::string::npos);
}

TEST_F(Cli, MergingConflictsLeavesNothingBehind) {
  write("tiny.toml", tiny_spec());
  hilo({"run", "tiny.toml", "--store", "a.db"});
  hilo({"run", "tiny.toml", "--store", "b.db", "--set", "train.episodes=20"});
  expect_failure({"merge", "a.db", "b.db", "--into", "c.db"}, 4, {"agent 'MCRL'"});
  EXPECT_FALSE(std::filesystem::exists(path("c.db")));
}

TEST_F(Cli, PoliciesCanBeAskedAndExported) {
  write("tiny.toml", tiny_spec(kTwoMfmcrl));
  hilo({"run", "tiny.toml"});
  expect_failure({"policy", "hilo.db"}, 2, {"which agent?", "MCRL, MFMCRL m=1, MFMCRL m=2"});
  const Finished f =
      hilo({"policy", "hilo.db", "--agent", "MFMCRL m=2", "--seed", "1", "--state", "3"});
  EXPECT_NE(f.out.find("state 3: take action"), std::string::npos) << f.err;
  EXPECT_EQ(hilo({"policy", "hilo.db", "--agent", "MCRL", "--csv", "p.csv"}).code, 0);
  EXPECT_EQ(std::ranges::count(testing::slurp(path("p.csv")), '\n'), 61);
  expect_failure({"policy", "hilo.db", "--agent", "MCRL", "--state", "99"}, 2, {"[0, 19]"});
  EXPECT_TRUE(hilo({"policy", "hilo.db", "--agent", "MCRL", "--csv", "-"})
                  .out.starts_with("state,action,q,greedy\n0,0,"));
  EXPECT_FALSE(std::filesystem::exists(path("-")));
  expect_failure({"policy", "hilo.db", "--agent", "nobody"}, 2, {"agent 'nobody'"});
}

TEST_F(Cli, SolveKnowsKindsSpecsAndFolders) {
  write("tiny.toml", tiny_spec());
  const auto of_spec = nlohmann::json::parse(hilo({"solve", "tiny.toml", "--json"}).out);
  EXPECT_EQ(of_spec["states"], 20);
  EXPECT_GT(of_spec["value"], 1);
  const Finished of_kind = hilo({"solve", "random-mdp", "--seed", "1", "--csv", "p.csv"});
  EXPECT_NE(of_kind.out.find("7.20272"), std::string::npos) << of_kind.out;  // as in the README
  write("m/transitions.csv",
        "state,action,next,probability,reward\n0,0,1,1,2\n0,1,1,1,5\n1,0,1,1,0\n1,1,1,1,0\n");
  write("m/start.csv", "state,probability\n0,1\n");
  EXPECT_EQ(nlohmann::json::parse(hilo({"solve", "m", "--json"}).out)["value"], 5);
  expect_failure({"solve", "nothing"}, 3, {"unknown problem kind 'nothing'"});
}

TEST_F(Cli, ReportsAndReproducesWithFewSeeds) {
  const Finished f = hilo({"reproduce", "figure-2a", "--seeds", "2", "--json"});
  EXPECT_LE(f.code, 1) << f.err;  // two seeds may miss the published values
  const auto json = nlohmann::json::parse(f.out);
  EXPECT_EQ(json["experiments"][0]["comparisons"].size(), 20U);
  EXPECT_EQ(json["experiments"][0]["figures"].size(), 12U);  // four, each as SVG, PDF and PNG
  EXPECT_LT(json["store_seconds"], json["seconds"]);
  for (const char* name : {"", "-variance-ratio", "-correlation", "-optimal-actions"})
    EXPECT_TRUE(std::filesystem::exists(path(std::string("figures/figure-2a") + name + ".png")));
  EXPECT_TRUE(std::filesystem::exists(path("report.html")));
  const Finished one = hilo({"reproduce", "figure-2a", "--seeds", "1", "--store", "one.db"});
  EXPECT_EQ(one.code, 1);  // nothing was compared, so nothing is reproduced
  EXPECT_NE(one.out.find("NO VERDICT, too few seeds"), std::string::npos);
  const Finished report = hilo({"report", "hilo.db"});
  EXPECT_NE(report.out.find("MFMCRL m=10 as-written"), std::string::npos);
  expect_failure({"report", "hilo.db", "--experiment", "figure-2b"}, 2,
                 {"did you mean 'figure-2a'"});
  EXPECT_EQ(nlohmann::json::parse(hilo({"list", "--json"}).out)["agents"].size(), 2U);

  // Runs that figures share are run once: figure-2b has MCRL and two of its eight from figure-2a.
  const auto more = nlohmann::json::parse(
      hilo({"reproduce", "figure-2a", "figure-2b", "figure-2c", "--seeds", "2", "--json"}).out);
  EXPECT_EQ(more["runs"], 26);
  EXPECT_EQ(more["done"], 12);
  EXPECT_EQ(more["experiments"].size(), 3U);
  const Finished again = hilo({"reproduce", "figure-2b", "--seeds", "2"});
  EXPECT_NE(again.out.find("nothing to do, all 18 runs"), std::string::npos) << again.out;

  // A page, twice the same but for the date; Markdown; and a name that says neither.
  EXPECT_EQ(hilo({"report", "hilo.db", "--out", "a.html"}).code, 0);
  EXPECT_EQ(hilo({"report", "hilo.db", "--out", "a.md"}).code, 0);
  EXPECT_GT(std::filesystem::file_size(path("a.html")), 300'000U);
  const std::string text = testing::slurp(path("a.md"));
  EXPECT_NE(text.find("### Episodes needed"), std::string::npos);
  EXPECT_NE(text.find("These runs are part of figure-2b"), std::string::npos);
  expect_failure({"report", "hilo.db", "--out", "a.txt"}, 2, {"a.txt", ".html", ".md"});
}

}  // namespace
}  // namespace hilo
