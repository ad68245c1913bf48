// What people do to a program by mistake: outputs in the place of inputs, specs without end,
// streams that nobody reads, names mistyped.
#include <nlohmann/json.hpp>

#include "cli/cli_fixture.hpp"
#include "hilo/env/nas/table.hpp"
#include "support/specs.hpp"
#include "support/stores.hpp"

namespace hilo {
namespace {

using testing::kTwoMfmcrl;
using testing::read_text;
using testing::tiny_spec;
namespace fs = std::filesystem;

TEST_F(Cli, OutputsNeverTakeThePlaceOfInputs) {
  write("tiny.toml", tiny_spec(kTwoMfmcrl));
  ASSERT_EQ(hilo({"run", "tiny.toml", "--store", "base.db"}).code, 0);
  const std::string store = read_text(path("base.db")), spec = read_text(path("tiny.toml"));
  fs::create_symlink("base.db", path("link.db"));
  fs::create_symlink("base.db", path("link.html"));
  fs::create_symlink("base.db", path("link.md"));
  for (const char* out : {"base.db", "./base.db", "link.db", "base.db-wal", "base.db.lock"}) {
    expect_failure({"export", "base.db", "--csv", out}, 2, {out});
    expect_failure({"export", "base.db", "--csv", out, "--force"}, 2, {out});
    expect_failure({"policy", "base.db", "--agent", "MCRL", "--csv", out, "--force"}, 2, {out});
  }
  for (const char* out : {"link.html", "link.md"})
    expect_failure({"report", "base.db", "--out", out, "--force"}, 2, {out});
  expect_failure({"solve", "tiny.toml", "--csv", "tiny.toml", "--force"}, 2, {"tiny.toml"});
  expect_failure({"solve", "tiny.toml", "--csv", "base.db", "--force"}, 2, {"base.db"});
  fs::create_hard_link(path("tiny.toml"), path("hard.csv"));
  expect_failure({"solve", "tiny.toml", "--csv", "hard.csv", "--force"}, 2, {"hard.csv"});
  EXPECT_EQ(read_text(path("base.db")), store);
  EXPECT_EQ(read_text(path("tiny.toml")), spec);
  EXPECT_EQ(export_of("base.db"), export_of("base.db"));
}

// Logs and locks of any store, and links to them.
TEST_F(Cli, NothingIsWrittenOverPartsOfAStore) {
  write("tiny.toml", tiny_spec());
  ASSERT_EQ(hilo({"run", "tiny.toml", "--store", "a.db"}).code, 0);
  ASSERT_EQ(hilo({"run", "tiny.toml", "--store", "b.db"}).code, 0);
  write("b.db-wal", "x");
  write("elsewhere", std::string("\x37\x7f\x06\x82", 4) + "a log by its first bytes");
  fs::create_symlink("b.db-wal", path("log.csv"));
  fs::create_symlink("b.db.lock", path("lock.csv"));
  fs::create_symlink("round.csv", path("round.csv"));
  for (const char* out : {"b.db-wal", "b.db-shm", "b.db.lock", "log.csv", "lock.csv", "elsewhere"})
    expect_failure({"export", "a.db", "--csv", out, "--force"}, 2, {"belongs to a store"});
  expect_failure({"export", "a.db", "--csv", "round.csv"}, 5, {"circle"});
  expect_failure({"export", "round.csv"}, 5, {"circle"});
  expect_failure({"export", "a.db", "--csv", "no/x.csv"}, 5, {"there is no folder no"});
  expect_failure({"export", "a.db", "--csv", ""}, 2, {"argument 4", "empty"});
  EXPECT_EQ(read_text(path("b.db-wal")), "x");
}

// A figure takes the place of a link, not of what that leads to.
TEST_F(Cli, FiguresAreNotWrittenThroughLinks) {
  write("tiny.toml", tiny_spec(kTwoMfmcrl));
  ASSERT_EQ(hilo({"run", "tiny.toml"}).code, 0);
  write("thesis", "my thesis");
  fs::create_directories(path("figures"));
  for (const char* name : {"figures/tiny.png", "figures/tiny.svg", "figures/tiny.gnuplot"})
    fs::create_symlink(path("thesis"), path(name));
  ASSERT_EQ(hilo({"report", "hilo.db", "--figures", "figures"}).code, 0);
  EXPECT_EQ(read_text(path("thesis")), "my thesis");
  EXPECT_FALSE(fs::is_symlink(path("figures/tiny.gnuplot")));
}

TEST_F(Cli, ADamagedStoreIsNotContinued) {
  write("tiny.toml", tiny_spec());
  ASSERT_EQ(hilo({"run", "tiny.toml"}).code, 0);
  testing::execute(path("hilo.db"), "UPDATE measurement SET value = 7 WHERE episode = 10");
  expect_failure({"run", "tiny.toml"}, 4, {"is not what was written", "--skip-damaged"});
}

TEST_F(Cli, SmallThingsAreSaid) {
  write("tiny.toml", tiny_spec());
  ASSERT_EQ(hilo({"run", "tiny.toml"}).code, 0);
  expect_failure({"policy", "hilo.db", "--agent", "MCLR"}, 2, {"did you mean 'MCRL'"});
  expect_failure({"policy", "hilo.db", "--seed", "99"}, 2, {"the seeds 0, 1, 2"});
  expect_failure({"report", "hilo.db", "--metric", "test_rewrd"}, 2,
                 {"did you mean 'test_reward'"});
  expect_failure({"list", "agnets"}, 2, {"did you mean 'agents'"});
  expect_failure({"run", "tiny.toml", "--set", "train.episodes=\"60\""}, 3, {"is \"60\""});
  expect_failure({"run", "tiny.toml", "--set", "agent.1.label=\"  \""}, 3, {"blank"});
  const auto out = [&](const char* command) {
    return testing::run_program("/bin/sh", {"-c", std::string(HILO_PROGRAM) + command}, path("."));
  };
  EXPECT_EQ(out(" --version > /dev/full").code, 5);
  // A name that is no text is still a name.
  EXPECT_EQ(out(" merge hilo.db --into \"$(printf 'a\\377.db')\" --json > ok.json").code, 0);
  // Interrupted, as documented, whatever the command.
  EXPECT_EQ(out(" diagnose tiny.toml --set agent.1.kind=mfmcrl --pilot 4000000 & sleep 0.3; "
                "kill -TERM $!; wait $!")
                .code,
            130);
}

// Kept from before the seams were cut: what was run then is not run again, and reads the same.
TEST_F(Cli, StoresOfEarlierProgramsAreContinued) {
  const fs::path data = fs::path(HILO_SOURCE_DIR) / "tests/store/data";
  for (const char* name : {"store-0.1.db", "store-3.db"}) {
    fs::copy_file(data / name, path(name));
    const std::string before = export_of(name);
    const Finished run = hilo({"run", (data / "small.toml").string(), "--store", name});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.out.find("nothing to do, all 4 runs"), std::string::npos) << run.out;
    EXPECT_EQ(export_of(name), before);
    EXPECT_EQ(hilo({"report", name, "--out", "report.html", "--force"}).code, 0);
  }
  // And what is run now is what was run then.
  ASSERT_EQ(hilo({"run", (data / "small.toml").string(), "--store", "new.db"}).code, 0);
  const Finished merged = hilo({"merge", "store-3.db", "--into", "new.db"});
  EXPECT_EQ(merged.code, 0) << merged.err;  // it stops where numbers differ
  EXPECT_NE(merged.out.find("0 runs added, 4 in all"), std::string::npos) << merged.out;
}

// The trials of a dry run take cut episodes as the run would.
TEST_F(Cli, ADryRunKnowsWhatACutEpisodeIs) {
  write("cut.toml", tiny_spec());
  const Finished f =
      hilo({"run", "cut.toml", "--dry-run", "--set", "train.max_steps=1", "--set",
            "train.truncation=terminal", "--set", "problem.terminal_probability=1e-6"});
  EXPECT_EQ(f.code, 0) << f.err;
}

TEST_F(Cli, AnImportNeverReplacesItsInput) {
  std::vector<double> accuracies;
  for (std::uint32_t k = 0; k < NasSpace().size(); ++k) accuracies.push_back(50 + k % 40);
  save_accuracies(path("nas.csv"), {"a"},
                  {std::make_shared<const std::vector<double>>(std::move(accuracies))});
  const std::string before = read_text(path("nas.csv"));
  fs::create_hard_link(path("nas.csv"), path("hard.csv"));
  for (const char* out : {"nas.csv", "./nas.csv", "hard.csv"})
    expect_failure({"import", "nasbench201", "nas.csv", "--out", out, "--force"}, 2, {out});
  EXPECT_EQ(read_text(path("nas.csv")), before);
  EXPECT_EQ(hilo({"import", "nasbench201", "nas.csv", "--out", "other.csv"}).code, 0);
}

TEST_F(Cli, FilesOfOthersAreReplacedByForceOnly) {
  write("tiny.toml", tiny_spec());
  ASSERT_EQ(hilo({"run", "tiny.toml"}).code, 0);
  for (const char* name : {"x.csv", "x.html", "x.md"}) write(name, "my thesis");
  const std::vector<std::vector<std::string>> commands = {{"export", "hilo.db", "--csv", "x.csv"},
                                                          {"policy", "hilo.db", "--csv", "x.csv"},
                                                          {"solve", "random-mdp", "--csv", "x.csv"},
                                                          {"report", "hilo.db", "--out", "x.html"},
                                                          {"report", "hilo.db", "--out", "x.md"}};
  for (std::vector<std::string> command : commands) {
    write(command.back(), "my thesis");
    expect_failure(command, 2, {command.back(), "hilo did not write it", "--force"});
    EXPECT_EQ(read_text(path(command.back())), "my thesis");
    command.emplace_back("--force");
    EXPECT_EQ(hilo(command).code, 0);
    command.pop_back();
    EXPECT_EQ(hilo(command).code, 0);  // now it is ours
  }
}

TEST_F(Cli, SpecsThatAreNone) {
  std::string deep = tiny_spec();
  for (int i = 0; i < 60000; ++i) deep += "a.";
  write("deep.toml", deep + "a = 1\n");
  expect_failure({"run", "deep.toml"}, 3, {"deep.toml:", "parts"});
  std::string nested = tiny_spec() + "[x]\ny = ";
  nested += std::string(60000, '[') + std::string(60000, ']') + "\n";
  write("nested.toml", nested);
  EXPECT_EQ(hilo({"run", "nested.toml"}).code, 3);
  write("tiny.toml", tiny_spec());
  std::string key;
  for (int i = 0; i < 60000; ++i) key += "a.";
  expect_failure({"run", "tiny.toml", "--set", key + "a=1"}, 2, {"parts"});
  expect_failure({"run", "/dev/zero"}, 3, {"/dev/zero", "more than"});
  write("long.toml", tiny_spec() + "#" + std::string(2 << 20, 'x'));
  EXPECT_EQ(hilo({"run", "long.toml"}).code, 3);
  write("empty.toml", "");
  expect_failure({"run", "empty.toml"}, 3, {"is empty"});
  expect_failure({"run", "none.toml"}, 5, {"there is no such file"});
  fs::create_directory(path("folder.toml"));
  expect_failure({"run", "folder.toml"}, 5, {"is a folder"});
  fs::create_symlink("b.toml", path("a.toml"));
  fs::create_symlink("a.toml", path("b.toml"));
  expect_failure({"run", "a.toml"}, 5, {"lead in a circle"});
  fs::create_symlink("nowhere", path("lost.toml"));
  expect_failure({"run", "lost.toml"}, 5, {"a link to a file that is not there"});
}

TEST_F(Cli, SpecErrorsHaveTheLineOfTheKey) {
  const std::string spec = tiny_spec("[[agent]]\nkind = \"mfmcrl\"\nlow_rollouts = 0\n");
  write("x.toml", spec);
  const auto line =
      1 + std::count(spec.begin(),
                     spec.begin() + static_cast<std::ptrdiff_t>(spec.find("low_rollouts")), '\n');
  expect_failure({"run", "x.toml"}, 3,
                 {std::string("x.toml:").append(std::to_string(line)).append(": agent 2")});
  write("y.toml", tiny_spec("[[agent]]\nkind = \"mfmcrl\"\nlow_rolouts = 1\n"));
  expect_failure({"run", "y.toml"}, 3,
                 {std::string("y.toml:").append(std::to_string(line)).append(": "),
                  "did you mean 'low_rollouts'"});
  write("z.toml", "spec_version = 1\nname = \"a+b\"\n");
  expect_failure({"run", "z.toml", "--set", "problem.kind=docking"}, 3, {"z.toml"});
}

TEST_F(Cli, StoresOfTheFirstVersionAreUnverified) {
  fs::copy_file(fs::path(HILO_SOURCE_DIR) / "tests/store/data/store-0.1.db", path("old.db"));
  const Finished f = hilo({"export", "old.db"});
  EXPECT_EQ(f.code, 0);
  EXPECT_NE(f.err.find("4 runs are unverified"), std::string::npos) << f.err;
  EXPECT_EQ(hilo({"report", "old.db", "--out", "old.html"}).code, 0);
}

TEST_F(Cli, SweepsHaveALimit) {
  std::string list = "1";
  for (int i = 2; i <= 2000; ++i) list += "," + std::to_string(i);
  write("x.toml", tiny_spec("[[agent]]\nkind = \"mfmcrl\"\nsweep.low_rollouts = [" + list +
                            "]\nsweep.alpha = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]\n"));
  expect_failure({"run", "x.toml", "--dry-run"}, 3, {"x.toml", "more than 10000"});
}

// 1e3 is a whole number; the run is the same as with 1000.
TEST_F(Cli, WholeNumbersMayBeWrittenInAnyWay) {
  write("tiny.toml", tiny_spec());
  const auto hash = [&](const char* episodes) {
    const Finished f = hilo({"run", "tiny.toml", "--dry-run", "--json", "--set",
                             std::string("train.episodes=") + episodes});
    EXPECT_EQ(f.code, 0) << f.err;
    return nlohmann::json::parse(f.out)["agents"][0]["hash"].get<std::string>();
  };
  EXPECT_EQ(hash("1e3"), hash("1000"));
  expect_failure({"run", "tiny.toml", "--set", "train.episodes=1.5"}, 3,
                 {"must be a whole number"});
}

TEST_F(Cli, StreamsThatNobodyReads) {
  write("tiny.toml", tiny_spec());
  const auto shell = [&](const std::string& command) {
    return testing::run_program("/bin/sh", {"-c", std::string(HILO_PROGRAM) + command},
                                folder_.path())
        .code;
  };
  for (const char* stream : {" 2>/dev/full", " 2>&-", ""}) {
    EXPECT_EQ(shell(" run none.toml" + std::string(stream)), 5) << stream;
    EXPECT_EQ(shell(" rnu" + std::string(stream)), 2) << stream;
  }
  EXPECT_EQ(shell(" list agents >/dev/full"), 5);
  EXPECT_EQ(shell(" list agents >&-"), 5);
  // Nothing of what is said may get into a file that took the place of a closed stream.
  EXPECT_EQ(shell(" run tiny.toml --store s.db <&- >&- 2>&-"), 5);
  EXPECT_EQ(hilo({"export", "s.db"}).code, 0);
}

// A terminal that is closed stops a run as Ctrl-C does.
TEST_F(Cli, StopsCleanlyWhenItsTerminalIsClosed) {
  write("tiny.toml", tiny_spec());
  const auto f = testing::run_program(
      "/bin/sh",
      {"-c", std::string(HILO_PROGRAM) +
                 " run tiny.toml --store s.db --seeds 400 --threads 1 --set train.episodes=3000 & "
                 "while [ ! -e s.db-wal ]; do sleep 0.01; done; sleep 0.3; kill -HUP $!; wait $!"},
      folder_.path());
  EXPECT_EQ(f.code, 130) << f.err << f.out;
  EXPECT_FALSE(fs::exists(path("s.db-wal")));
  EXPECT_EQ(hilo({"export", "s.db"}).code, 0);
}

// What a run is told to ignore it ignores: that is how nohup works.
TEST_F(Cli, NohupWorks) {
  write("tiny.toml", tiny_spec());
  const auto f = testing::run_program(
      "/bin/sh",
      {"-c", "trap '' HUP; " + std::string(HILO_PROGRAM) +
                 " run tiny.toml --store s.db --seeds 30 --threads 1 --set train.episodes=2000 & "
                 "while [ ! -e s.db-wal ]; do sleep 0.01; done; sleep 0.1; kill -HUP $!; wait $!"},
      folder_.path());
  EXPECT_EQ(f.code, 0) << f.err << f.out;
}

TEST_F(Cli, MistypedNamesGetTheNearest) {
  expect_failure({"rnu"}, 2, {"'rnu' is no command", "did you mean 'run'", "export"});
  expect_failure({"exprt", "x.db"}, 2, {"did you mean 'export'"});
  write("tiny.toml", tiny_spec());
  expect_failure({"run", "tiny.toml", "--seedz", "3"}, 2, {"did you mean '--seeds'"});
  expect_failure({"run", "tiny.toml", "--dryrun"}, 2, {"did you mean '--dry-run'"});
}

TEST_F(Cli, DiagnosesAFolderOfTables) {
  const std::string table = "state,action,next,probability,reward\n0,0,1,1,1\n0,1,1,1,0\n";
  for (const char* side : {"high", "low"}) {
    fs::create_directories(path("my \"pair\"") / side);
    folder_.write(std::string("my \"pair\"/") + side + "/transitions.csv",
                  table + "1,0,1,1,0\n1,1,1,1,0\n");
    folder_.write(std::string("my \"pair\"/") + side + "/start.csv", "state,probability\n0,1\n");
  }
  const Finished f = hilo({"diagnose", "my \"pair\"", "--pilot", "30"});
  EXPECT_EQ(f.code, 0) << f.err;
  EXPECT_NE(f.out.find("Looked at: table"), std::string::npos) << f.out;
}

TEST_F(Cli, RefusesWhatDoesNotFitIntoMemory) {
  write("big.toml", tiny_spec(kTwoMfmcrl));
  const std::vector<std::string> size = {"--set", "problem.states=10000", "--set",
                                         "problem.actions=40"};
  std::vector<std::string> run = {"run", "big.toml"};
  run.insert(run.end(), size.begin(), size.end());
  expect_failure(run, 2, {"GB", "memory are left", "--ignore-memory"});
  EXPECT_FALSE(fs::exists(path("hilo.db")));
  std::vector<std::string> diagnose = {"diagnose", "big.toml"};
  diagnose.insert(diagnose.end(), size.begin(), size.end());
  expect_failure(diagnose, 2, {"GB", "memory are left"});
  std::string big = tiny_spec();
  big.replace(big.find("states = 20\nactions = 3"), 23, "states = 10000\nactions = 40");
  write("solve.toml", big);
  expect_failure({"solve", "solve.toml"}, 2, {"GB", "memory are left"});
  run.emplace_back("--dry-run");
  const Finished f = hilo(run);  // which makes nothing large
  EXPECT_EQ(f.code, 0) << f.err;
  EXPECT_NE(f.out.find("too large to be tried"), std::string::npos) << f.out;
}

TEST_F(Cli, AStoreThatIsRemovedDuringARunIsMissed) {
  write("tiny.toml", tiny_spec());
  const auto f = testing::run_program(
      "/bin/sh",
      {"-c", std::string(HILO_PROGRAM) +
                 " run tiny.toml --store s.db --seeds 400 --threads 1 --set train.episodes=3000 & "
                 "while [ ! -e s.db-wal ]; do sleep 0.01; done; sleep 0.3; rm s.db; wait $!"},
      folder_.path());
  EXPECT_EQ(f.code, 5) << f.err << f.out;
  EXPECT_NE(f.err.find("removed or replaced"), std::string::npos) << f.err;
  EXPECT_EQ(f.out.find("results in"), std::string::npos) << f.out;
  EXPECT_EQ(hilo({"export", "s.db.rescued"}).code, 0);
}

}  // namespace
}  // namespace hilo
