// The program as a user meets it: exit codes, messages, and results that survive anything.
#include <nlohmann/json.hpp>

#include "cli/cli_fixture.hpp"
#include "hilo/core/random.hpp"
#include "support/specs.hpp"

namespace hilo {
namespace {

using testing::kTwoMfmcrl;
using testing::tiny_spec;

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
  expect_failure({"run", "tiny.toml", "--store", "future.db"}, 4, {"version 9", "versions 2 to 4"});

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
  write("t.toml", testing::table_spec("t", testing::kNeverEnds));
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
  write("t.toml", testing::table_spec("t"));
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

}  // namespace
}  // namespace hilo
