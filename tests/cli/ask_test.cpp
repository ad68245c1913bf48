// The commands that ask: policies, exact solutions, reports, and the paper's experiments.
#include <nlohmann/json.hpp>

#include "cli/cli_fixture.hpp"
#include "hilo/agent/catalogue.hpp"
#include "support/specs.hpp"

namespace hilo {
namespace {

using testing::kTwoMfmcrl;
using testing::tiny_spec;

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
  EXPECT_EQ(nlohmann::json::parse(hilo({"list", "--json"}).out)["agents"].size(),
            agent_kinds().size());

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
