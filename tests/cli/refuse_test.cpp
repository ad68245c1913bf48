// What the program refuses or says, so that nothing is answered that was not asked.
#include <nlohmann/json.hpp>

#include "cli/cli_fixture.hpp"
#include "support/specs.hpp"

namespace hilo {
namespace {

using testing::kTwoMfmcrl;
using testing::tiny_spec;

// A number that wraps around, saturates or is none gives an answer to a question nobody asked.
TEST_F(Cli, NumbersThatAreNone) {
  write("tiny.toml", tiny_spec(kTwoMfmcrl));
  hilo({"run", "tiny.toml"});
  const std::string too_large = "99999999999999999999999";
  for (const std::string& seed : {std::string("-1"), std::string("1.5"), too_large}) {
    const std::vector<std::string> parts = {"--seed", seed, "must be a whole number in [0, "};
    expect_failure({"solve", "random-mdp", "--seed", seed}, 2, parts);
    expect_failure({"policy", "hilo.db", "--agent", "MCRL", "--seed", seed}, 2, parts);
    expect_failure({"diagnose", "tiny.toml", "--seed", seed}, 2, parts);
    expect_failure({"policy", "hilo.db", "--agent", "MCRL", "--state", seed}, 2, {"--state", seed});
    expect_failure({"run", "tiny.toml", "--threads", seed}, 2, {"--threads", seed});
    expect_failure({"reproduce", "figure-2a", "--threads", seed}, 2, {"--threads", seed});
    expect_failure({"diagnose", "tiny.toml", "--pilot", seed}, 2, {"--pilot", seed});
    expect_failure({"run", "tiny.toml", "--seeds", seed}, 2, {"--seeds", seed});
  }
  for (const char* flag : {"--sd", "--correlation", "--error", "--confidence", "--gap", "--returns",
                           "--cost-high", "--cost-low"})
    for (const char* value : {"nan", "inf", "1e999", "2x"})
      expect_failure({"plan", "--sd", "1", "--correlation", "0.5", "--error", "0.1", "--gap", "1",
                      flag, value},
                     2, {flag});
  expect_failure({"plan", "--sd", "1", "--error", "1", "--rewards", "0", "nan"}, 2, {"--rewards"});
  for (const char* flag : {"--returns", "--cost-high", "--cost-low"})
    expect_failure({"diagnose", "tiny.toml", flag, "nan"}, 2, {flag, "nan"});
  expect_failure({"solve", "random-mdp", "--gamma", "nan"}, 2, {"--gamma", "nan"});
}

// A flag that would do nothing is refused.
TEST_F(Cli, FlagsThatWouldBeIgnored) {
  write("tiny.toml", tiny_spec());
  hilo({"run", "tiny.toml"});
  expect_failure({"export", "hilo.db", "--json", "--csv", "x.csv"}, 2, {"--json", "--csv"});
  expect_failure({"policy", "hilo.db", "--csv", "-", "--state", "1"}, 2, {"--csv -", "--state"});
  expect_failure({"report", "hilo.db", "--out", "x.html", "--metric", "test_return"}, 2,
                 {"--metric"});
  expect_failure({"plan", "--correlation", "0.5", "--confidence", "0.9"}, 2,
                 {"--confidence", "--error"});
  expect_failure({"plan", "--correlation", "0.5", "--returns", "9"}, 2, {"--returns", "--gap"});
}

TEST_F(Cli, SaysWhatItDoesNotDoAsWritten) {
  write("twice.toml", tiny_spec("[[agent]]\nkind = \"mcrl\"\n"
                                "[[agent]]\nkind = \"mcrl\"\nlabel = \"again\"\n"));
  for (const bool dry : {true, false}) {
    std::vector<std::string> command = {"run", "twice.toml"};
    if (dry) command.emplace_back("--dry-run");
    const Finished f = hilo(command);
    EXPECT_EQ(f.code, 0) << f.err;
    EXPECT_NE(f.out.find("note: twice.toml: agent 2 (mcrl): it is the same agent"),
              std::string::npos)
        << f.out;
    command.emplace_back("--json");
    EXPECT_EQ(nlohmann::json::parse(hilo(command).out)["notes"].size(), 1U);
  }
  // One run under two names.
  EXPECT_NE(hilo({"run", "twice.toml"}).out.find("all 3 runs"), std::string::npos);
  EXPECT_NE(hilo({"policy", "hilo.db", "--agent", "again", "--seed", "2"}).out.find("again"),
            std::string::npos);
}

}  // namespace
}  // namespace hilo
