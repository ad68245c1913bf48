#include "hilo/env/detail/lockstep.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <set>
#include <tuple>

#include "hilo/env/detail/tabular_simulator.hpp"
#include "hilo/env/one_path_simulator.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

bool same(const RolloutSummary& a, const RolloutSummary& b) {
  return bits(a.discounted_return) == bits(b.discounted_return) &&
         bits(a.reward_sum) == bits(b.reward_sum) && a.steps == b.steps &&
         a.truncated == b.truncated;
}

// A policy with ties, and a batch with every number set.
struct Setting {
  std::shared_ptr<const TabularMdp> mdp;
  std::shared_ptr<const Simulator> simulator;
  QTable q;
  StreamAddress streams;
  Horizon horizon;
  Behaviour policy;
  std::vector<StateAction> starts;

  Setting(std::uint64_t seed, std::size_t states, std::size_t actions, std::size_t num_starts,
          double epsilon, std::uint32_t max_steps, SimdPath path = simd_path())
      : mdp(testing::small_mdp(seed, states, actions)),
        simulator(std::make_shared<const TabularSimulator>(mdp, path)),
        q(states, actions) {
    Rng rng(Stream(seed, Purpose::user, 7));
    for (State s = 0; s < states; s += 2)
      for (Action a = 0; a < actions; ++a) q.set(s, a, static_cast<double>(rng.below(3)));
    for (std::size_t i = 0; i < num_starts; ++i)
      starts.push_back({rng.below(static_cast<std::uint32_t>(states)),
                        rng.below(static_cast<std::uint32_t>(actions))});
    policy = q.behaviour(epsilon);
    streams = {.seed = seed ^ 0x9e3779b97f4a7c15U,
               .purpose = Purpose::low_rollout,
               .episode = 5,
               .first_pair = 3,
               .first_rollout = 11,
               .first_step = 2};
    horizon = {.gamma = 0.97, .max_steps = max_steps};
  }

  std::vector<RolloutSummary> roll_out(std::uint32_t rollouts) const {
    std::vector<RolloutSummary> summaries(starts.size() * rollouts);
    simulator->roll_out(policy, streams, horizon, starts, rollouts, summaries);
    return summaries;
  }
  std::vector<RolloutSummary> run_episodes(std::size_t count) const {
    std::vector<RolloutSummary> summaries(count);
    simulator->run_episodes(policy, streams, horizon, summaries);
    return summaries;
  }
};

// Takes so many paths of each pair, fewer of later ones as earlier ones come, as an agent does that
// counts visits.
class Collector final : public PathVisitor {
 public:
  explicit Collector(std::uint32_t most) : most_(most) {}
  std::uint32_t wanted(std::size_t i) const override {
    const std::size_t seen = i < paths.size() ? paths[i].size() : 0;
    // Long paths of any pair count for all.
    const std::size_t limit = most_ > long_ ? most_ - long_ : 0;
    return seen < limit ? static_cast<std::uint32_t>(limit - seen) : 0;
  }
  void see(std::size_t i, const Episode& path) override {
    if (paths.size() <= i) paths.resize(i + 1);
    paths[i].push_back(path);
    long_ += path.length() > 12 ? 1 : 0;
  }
  std::vector<std::vector<Episode>> paths;

 private:
  std::uint32_t most_;
  std::uint32_t long_ = 0;
};

bool same(const Episode& a, const Episode& b) {
  return a.states == b.states && a.actions == b.actions && a.rewards == b.rewards &&
         a.truncated == b.truncated;
}

RC_GTEST_PROP(Lockstep, EveryPathGivesTheBitsOfTheReference, ()) {
  const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1000);
  const auto states = *rc::gen::inRange<std::size_t>(3, 60);
  const auto actions = *rc::gen::inRange<std::size_t>(1, 9);
  const auto num_starts = *rc::gen::inRange<std::size_t>(1, 40);
  const auto rollouts = *rc::gen::inRange<std::uint32_t>(1, 60);
  const double epsilon = *rc::gen::element(0.0, 0.1, 0.5, 1.0);
  const auto max_steps = *rc::gen::element<std::uint32_t>(1, 2, 5, 9, 10'000);

  const auto with = [&](SimdPath path) {
    const Setting setting(seed, states, actions, num_starts, epsilon, max_steps, path);
    Collector collector(rollouts * 3);
    setting.simulator->record_paths(setting.policy, setting.streams, setting.horizon,
                                    setting.starts, collector);
    return std::tuple(setting.roll_out(rollouts), setting.run_episodes(rollouts), collector.paths);
  };
  const auto [rolled, run, paths] = with(SimdPath::scalar);
  for (const SimdPath path : simd_paths()) {
    if (path == SimdPath::scalar) continue;
    const auto [rolled_fast, run_fast, paths_fast] = with(path);
    for (std::size_t i = 0; i < rolled.size(); ++i) RC_ASSERT(same(rolled[i], rolled_fast[i]));
    for (std::size_t i = 0; i < run.size(); ++i) RC_ASSERT(same(run[i], run_fast[i]));
    RC_ASSERT(paths.size() == paths_fast.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      RC_ASSERT(paths[i].size() == paths_fast[i].size());
      for (std::size_t j = 0; j < paths[i].size(); ++j)
        RC_ASSERT(same(paths[i][j], paths_fast[i][j]));
    }
  }
}

// More paths than are under way at once, so that parts follow each other.
TEST(Lockstep, ManyPathsComeInParts) {
  const Setting setting(4, 20, 3, 7, 0.1, 10'000, SimdPath::scalar);
  const auto expected = setting.roll_out(400);
  const auto expected_episodes = setting.run_episodes(1500);
  for (const SimdPath path : simd_paths()) {
    const Setting other(4, 20, 3, 7, 0.1, 10'000, path);
    const auto found = other.roll_out(400);
    const auto found_episodes = other.run_episodes(1500);
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_TRUE(same(expected[i], found[i])) << i;
    for (std::size_t i = 0; i < expected_episodes.size(); ++i)
      ASSERT_TRUE(same(expected_episodes[i], found_episodes[i])) << i;
  }
}

// A visitor may call a simulator itself.
TEST(Lockstep, AVisitorMayRollOutToo) {
  const Setting setting(4, 20, 3, 7, 0.1, 10'000);
  class Nosy final : public PathVisitor {
   public:
    explicit Nosy(const Setting& setting) : setting_(setting) {}
    std::uint32_t wanted(std::size_t i) const override {
      return i == 0 && seen.size() < 20 ? 5 : 0;
    }
    void see(std::size_t /*i*/, const Episode& path) override {
      seen.push_back(path);
      setting_.roll_out(10);
    }
    std::vector<Episode> seen;

   private:
    const Setting& setting_;
  };
  const StateAction start = {1, 0};
  Nosy nosy(setting);
  setting.simulator->record_paths(setting.policy, setting.streams, setting.horizon, {&start, 1},
                                  nosy);
  ASSERT_EQ(nosy.seen.size(), 20U);
  StreamAddress one = setting.streams;
  Episode expected;
  for (const Episode& path : nosy.seen) {
    setting.simulator->record(setting.policy, one, setting.horizon, start, expected);
    EXPECT_TRUE(same(path, expected));
    ++one.first_rollout;
  }
}

// The property above could hold because both sides do nothing.
TEST(Lockstep, PathsAreLongAndDiffer) {
  const Setting setting(4, 20, 3, 7, 0.1, 10'000);
  std::uint64_t steps = 0;
  std::set<double> returns;
  for (const RolloutSummary& summary : setting.roll_out(50)) {
    steps += summary.steps;
    returns.insert(summary.discounted_return);
  }
  EXPECT_GT(steps, 350U);
  EXPECT_GT(returns.size(), 100U);
}

}  // namespace
}  // namespace hilo
