#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/driver/learner.hpp"
#include "hilo/exact/evaluate.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

// How often the interval of the final test holds the exact value of the policy that was learnt,
// over `runs` learn runs with a seed each. Prints a line of the table in docs/statistics.md.
double coverage(const std::string& problem, const std::string& agent, int reserve, int runs) {
  const testing::TemporaryFolder folder;
  int held = 0;
  double skewness = 0;
  for (int seed = 0; seed < runs; ++seed) {
    const std::string text = fmt::format(
        "spec_version = 1\nname = \"x\"\nseed = {}\nagent = \"{}\"\n[problem]\n{}\n[train]\ngamma "
        "= "
        "0.95\nmax_steps = 1000\n[budget]\nepisodes = {}\nreserve = {}\n",
        seed, agent, problem, 40 + reserve, reserve);
    const LearnSpec spec = parse_learn_spec(text, "x.toml");
    Learner learner(
        spec, {.journal = folder.path() / "x.journal", .durable = false, .use_checkpoint = false});
    while (!learner.step()) {
    }
    const TestedValue value = learner.outcome().value;
    const HighSimulator high =
        build_high_fidelity(*spec.config().problem_kind, spec.config().problem, spec.seed);
    const double exact =
        evaluate_from_start(*high->model(), policy_matrix(learner.table_agent()->greedy()), 0.95,
                            1000)
            .value;
    held += value.returns.low <= exact && exact <= value.returns.high ? 1 : 0;
    skewness += value.skewness / runs;
    std::filesystem::remove(folder.path() / "x.journal");
  }
  const double share = static_cast<double>(held) / runs;
  fmt::print("| {} | {} | {} | {:.1f} % | {:+.2f} |\n", problem.substr(8, problem.find('"', 8) - 8),
             reserve, runs, 100 * share, skewness);
  return share;
}

// With 4000 runs the standard error of a share of 0.95 is 0.0034.
TEST(LearnCoverage, TheIntervalHoldsTheExactValueOnRandomMdps) {
  const std::string problem = "kind = \"random-mdp\"\nstates = 20\nactions = 3\n";
  for (const auto& [reserve, runs] :
       {std::pair(5, 1000), std::pair(10, 4000), std::pair(20, 1000), std::pair(50, 1000)})
    EXPECT_GE(coverage(problem, "q-learning", reserve, runs), 0.90) << reserve;
}

// Returns in docking are skewed: most episodes dock, some never do. Here the table says what is
// true, whatever it is, and only a break of the method is an error.
TEST(LearnCoverage, DockingIsMeasured) {
  const std::string problem = "kind = \"docking\"\ncells = 6\n";
  for (const int reserve : {5, 10, 20, 50})
    EXPECT_GE(coverage(problem, "bayes", reserve, 200), 0.60) << reserve;
}

}  // namespace
}  // namespace hilo
