// Agents with the cheap simulator against the same without it, paired by seed, on problems where
// the future matters and the cheap simulator is wrong in some way. Restrict it by
//   HILO_SEQUENTIAL   development (default), held-out, all, or names divided by commas
//   HILO_SEEDS        A..B, from A to B (default 0..23)
//   HILO_BUDGET       the largest number of episodes (default 2000)
//   HILO_FINDINGS     1: print what the agents say of themselves
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>

#include "hilo/agent/bayes.hpp"
#include "hilo/agent/mcrl.hpp"
#include "hilo/agent/mfmcrl.hpp"
#include "hilo/core/moments.hpp"
#include "hilo/core/parallel.hpp"
#include "hilo/exact/solve.hpp"
#include "support/sequential_problems.hpp"

namespace hilo {
namespace {

using testing::SequentialProblem;

constexpr std::array<std::uint32_t, 8> kBudgets = {10, 20, 50, 100, 200, 500, 1000, 2000};
constexpr double kClear = 1;  // per cent of optimal minus uniform, besides two standard errors
constexpr double kMostLosses = 0.04;

using Make = std::function<std::unique_ptr<TabularAgent>(const SequentialProblem& problem,
                                                         std::uint64_t seed)>;
using Curve = std::array<double, kBudgets.size()>;

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

std::vector<SequentialProblem> chosen_problems() {
  const std::string choice = setting("HILO_SEQUENTIAL", "development");
  std::vector<SequentialProblem> chosen;
  for (SequentialProblem& p : testing::sequential_problems()) {
    bool take = choice == "all" || choice == (p.held_out ? "held-out" : "development");
    std::istringstream names(choice);
    for (std::string name; std::getline(names, name, ',');) take = take || name == p.name;
    if (take) chosen.push_back(std::move(p));
  }
  return chosen;
}

// The greedy policy's exact value from the start, in per cent of the way from uniform to optimal.
struct Scale {
  double uniform, optimal;

  double operator()(double value) const { return 100 * (value - uniform) / (optimal - uniform); }
};

double value_of(const SequentialProblem& p, const Behaviour& policy) {
  return evaluate_from_start(*p.pair.high().model(), policy_matrix(policy), p.gamma, 0).value;
}

Scale scale_of(const SequentialProblem& p) {
  const Model& model = *p.pair.high().model();
  const QTable zero(model.num_states(), model.num_actions());
  return {value_of(p, zero.behaviour(1)),
          start_value(model, value_iteration(model, p.gamma, 1e-9).values.v)};
}

Curve learn(const SequentialProblem& p, const Scale& scale, const Make& make, std::uint64_t seed,
            std::uint32_t most) {
  const auto agent = make(p, seed);
  agent->prepare();
  Curve curve{};
  Episode episode;
  std::uint32_t k = 0;
  for (std::size_t b = 0; b < kBudgets.size() && kBudgets[b] <= most; ++b) {
    for (; k < kBudgets[b]; ++k) {
      p.pair.high().run_episode(agent->behaviour(),
                                {.seed = seed, .purpose = Purpose::high_episode, .episode = k},
                                {.gamma = p.gamma, .max_steps = p.max_steps}, episode);
      agent->learn(episode);
    }
    curve[b] = scale(value_of(p, agent->greedy()));
    if (std::getenv("HILO_FINDINGS") != nullptr) {
      std::printf("  seed %u, %4u episodes, %5.1f:", static_cast<unsigned>(seed), k, curve[b]);
      for (const Fact& fact : agent->findings())
        std::printf(" %s %.3g", fact.name.c_str(), fact.value);
      std::printf("\n");
    }
  }
  return curve;
}

struct Count {
  int cells = 0, gains = 0, losses = 0, last_losses = 0;
};

void compare(const SequentialProblem& p, const Make& with, const Make& without, Count& count) {
  unsigned first = 0, last = 23;
  std::sscanf(setting("HILO_SEEDS", "0..23").c_str(), "%u..%u", &first, &last);
  const auto most = static_cast<std::uint32_t>(std::stoul(setting("HILO_BUDGET", "2000")));
  const Scale scale = scale_of(p);
  std::vector<Curve> a(last - first + 1), b(a.size());
  parallel_for(2 * a.size(), 0, [&](std::size_t i) {
    const std::uint64_t seed = first + i / 2;
    (i % 2 == 0 ? a : b)[i / 2] = learn(p, scale, i % 2 == 0 ? with : without, seed, most);
  });
  std::printf("%-34s", p.name.c_str());
  for (std::size_t k = 0; k < kBudgets.size() && kBudgets[k] <= most; ++k) {
    Moments difference, level;
    for (std::size_t i = 0; i < a.size(); ++i) {
      difference.add(a[i][k] - b[i][k]);
      level.add(a[i][k]);
    }
    const double error = std::sqrt(difference.variance() / static_cast<double>(a.size()));
    const bool gain = difference.mean() > std::max(kClear, 2 * error);
    const bool loss = difference.mean() < -std::max(kClear, 2 * error);
    ++count.cells;
    count.gains += gain ? 1 : 0;
    count.losses += loss ? 1 : 0;
    count.last_losses += loss && kBudgets[k] == kBudgets.back() ? 1 : 0;
    std::printf(" %+6.1f~%-4.1f(%4.0f)%c", difference.mean(), error, level.mean(),
                gain ? '+' : (loss ? '-' : ' '));
  }
  std::printf("\n");
  std::fflush(stdout);
}

void compare_all(const Make& with, const Make& without) {
  std::printf("difference ~ its standard error (level) at");
  for (const std::uint32_t budget : kBudgets) std::printf(" %u", budget);
  std::printf(" episodes; per cent of optimal minus uniform\n");
  Count count;
  for (const SequentialProblem& p : chosen_problems()) compare(p, with, without, count);
  std::printf("%d cells: %d clear gains, %d clear losses (%d at the last budget)\n", count.cells,
              count.gains, count.losses, count.last_losses);
  EXPECT_GT(count.cells, 0);
  EXPECT_LE(count.losses, kMostLosses * count.cells);
  EXPECT_EQ(count.last_losses, 0);
  EXPECT_GT(count.gains, count.losses);
}

// Solves them exactly, and trains nothing: this may look at those that are held out.
TEST(SequentialSlow, ProblemsCanBeLearnt) {
  int development = 0, held_out = 0;
  for (const SequentialProblem& p : testing::sequential_problems()) {
    const Scale scale = scale_of(p);
    std::printf("%-34s %5zu states, %4zu cheap ones, uniform %+8.3f, optimal %+8.3f\n",
                p.name.c_str(), p.pair.high().num_states(), p.pair.low().num_states(),
                scale.uniform, scale.optimal);
    EXPECT_GT(scale.optimal, scale.uniform + 0.1 * std::abs(scale.optimal)) << p.name;
    ++(p.held_out ? held_out : development);
  }
  EXPECT_GE(development, 12);
  EXPECT_GE(held_out, 12);
}

TEST(SequentialSlow, BayesIsNotMisled) {
  const auto make = [](bool use_low) {
    return [=](const SequentialProblem& p, std::uint64_t seed) -> std::unique_ptr<TabularAgent> {
      return std::make_unique<Bayes>(p.pair, BayesOptions{.gamma = p.gamma, .use_low = use_low},
                                     seed);
    };
  };
  compare_all(make(true), make(false));
}

// As a user would compare them: MCRL has equal weights and no extra exploration after cut episodes.
std::unique_ptr<TabularAgent> make_mfmcrl_plus(const SequentialProblem& p, std::uint64_t seed) {
  MfmcrlOptions options = mfmcrl_plus();
  options.gamma = p.gamma;
  options.max_steps = p.max_steps;
  return std::make_unique<Mfmcrl>(p.pair, options, seed);
}

std::unique_ptr<TabularAgent> make_mcrl(const SequentialProblem& p, std::uint64_t /*seed*/) {
  return std::make_unique<Mcrl>(p.pair.high().num_states(), p.pair.num_actions(),
                                McrlOptions{.gamma = p.gamma});
}

TEST(SequentialSlow, MfmcrlPlusIsNotMisled) { compare_all(make_mfmcrl_plus, make_mcrl); }

// docs/estimators.md, "When it hurts at first": T must keep what the best action depends on. Seeds
// of their own; the standard errors are about 4 at 200 episodes and 4 at 1000, in units of value.
TEST(SequentialSlow, AMapThatForgetsTheOrderCostsAtFirst) {
  constexpr std::uint64_t kFirst = 500, kSeeds = 48;
  for (const bool counts : {false, true}) {
    const SequentialProblem p = {"", false, 0.98, 1000, testing::inventory_with_one_order(counts)};
    const Scale values = {0, 100};  // no scale
    std::array<Moments, kBudgets.size()> difference;
    for (std::uint64_t seed = kFirst; seed < kFirst + kSeeds; ++seed) {
      const Curve with = learn(p, values, make_mfmcrl_plus, seed, 1000);
      const Curve without = learn(p, values, make_mcrl, seed, 1000);
      for (std::size_t k = 0; k < kBudgets.size(); ++k) difference[k].add(with[k] - without[k]);
    }
    std::printf("%s\n", counts ? "T adds the order to the stock" : "T forgets the order");
    for (std::size_t k = 0; k < kBudgets.size() && kBudgets[k] <= 1000; ++k)
      std::printf("  %4u episodes: %+.1f ~ %.1f\n", kBudgets[k], difference[k].mean(),
                  std::sqrt(difference[k].variance() / static_cast<double>(kSeeds)));
    if (counts)
      EXPECT_GT(difference[4].mean(), 0);
    else
      EXPECT_LT(difference[4].mean(), 0);
    EXPECT_GT(difference[6].mean(), 0);
  }
}

}  // namespace
}  // namespace hilo
