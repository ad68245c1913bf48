#include "hilo/agent/mfmcrl.hpp"

#include <cmath>

#include "support/expect_error.hpp"
#include "support/problems.hpp"
#include "support/train.hpp"

namespace hilo {
namespace {

using testing::expect_error;

// gamma = 1/2, m = 2, epsilon = 0, and three episodes that come from elsewhere:
//   E1: 1 -0-> 3 paying 4.                  (1,0): G_hi 4, G_lo 3
//   E2: 0 -0-> 1 -0-> 3 paying -10, -30.    (1,0): -30, 3;   (0,0): -25, 2.5
//   E3: 0 -0-> 0 -0-> 1 -0-> 3 paying 1, 2, 8: the second (0,0) is not a first visit.
//                                           (1,0): 8, 3;     (0,0): 4, 2.25
const Episode kEpisodes[] = {
    {{1, 3}, {0}, {4}, false},
    {{0, 1, 3}, {0, 0}, {-10, -30}, false},
    {{0, 0, 1, 3}, {0, 0, 0}, {1, 2, 8}, false},
};

Mfmcrl agent_of(const Variant& variant) {
  const auto simulator = make_simulator(testing::four_states());
  return {Fidelities(simulator, simulator),
          {.gamma = 0.5,
           .epsilon = 0,
           .low_rollouts = 2,
           .low_policy = variant.low_policy,
           .pool = variant.pool},
          /*seed=*/1};
}

void expect_pool(const Moments& pool, std::uint64_t count, double mean) {
  EXPECT_EQ(pool.count(), count);
  EXPECT_DOUBLE_EQ(pool.mean(), mean);
}

// RetsH, RetsL and the n of the pool are the same for both variants.
void expect_paired_returns(const Mfmcrl& agent) {
  const CoMoments& r10 = agent.paired_returns(1, 0);
  EXPECT_EQ(r10.count(), 3U);
  EXPECT_DOUBLE_EQ(r10.mean_x(), -6);       // 4, -30, 8
  EXPECT_DOUBLE_EQ(r10.variance_x(), 436);  // (100 + 576 + 196) / 2
  EXPECT_DOUBLE_EQ(r10.mean_y(), 3);
  EXPECT_EQ(r10.variance_y(), 0);
  const CoMoments& r00 = agent.paired_returns(0, 0);
  EXPECT_EQ(r00.count(), 2U);
  EXPECT_DOUBLE_EQ(r00.mean_x(), -10.5);  // -25, 4
  EXPECT_DOUBLE_EQ(r00.variance_x(), 420.5);
  EXPECT_DOUBLE_EQ(r00.mean_y(), 2.375);  // 2.5, 2.25
  EXPECT_DOUBLE_EQ(r00.variance_y(), 0.03125);
  EXPECT_DOUBLE_EQ(r00.covariance(), -3.625);
  EXPECT_EQ(agent.paired_returns(0, 1).count(), 0U);
  EXPECT_EQ(agent.paired_returns(2, 0).count(), 0U);
  expect_pool(agent.path_pool(0, 0), 2, 2.375);
  expect_pool(agent.path_pool(1, 0), 3, 3);
  EXPECT_EQ(agent.path_pool(2, 0).count(), 0U);
  EXPECT_DOUBLE_EQ(agent.q()(1, 0), -6);  // no spread in the low fidelity: the plain mean
}

// Following pi. E1: (1,0) returns 3 + 5/2 = 5.5, twice. E2: pi takes 0 in state 1, because Q(1,0)
// is 4: (0,0) returns 1 + 3/2 + 5/4 = 3.75. E3: now Q(1,0) = -13 and Q(0,0) = -25, so that pi takes
// 1 in both: (0,0) returns 1 + 4/2 + 2/4 + 5/8 = 4.125. Only start pairs are pooled.
TEST(Mfmcrl, AsWrittenMatchesTheHandComputedPools) {
  Mfmcrl agent = agent_of(kAsWritten);
  EXPECT_EQ(agent.learn(kEpisodes[0]).low_steps, 4U);
  expect_pool(agent.free_pool(1, 0), 2, 5.5);
  EXPECT_EQ(agent.learn(kEpisodes[1]).low_steps, 10U);
  expect_pool(agent.free_pool(0, 0), 2, 3.75);
  EXPECT_DOUBLE_EQ(agent.q()(1, 0), -13);
  EXPECT_DOUBLE_EQ(agent.q()(0, 0), -25);
  const LearnReport report = agent.learn(kEpisodes[2]);
  EXPECT_EQ(report.low_steps, 12U);
  EXPECT_NEAR(report.variance_ratio, 0.5, 1e-12);  // (0,0): rho^2 = 1; (1,0): no correction

  expect_paired_returns(agent);
  expect_pool(agent.free_pool(0, 0), 4, (3.75 + 4.125) / 2);
  expect_pool(agent.free_pool(1, 0), 6, 5.5);
  EXPECT_EQ(agent.free_pool(2, 0).count(), 0U);
  EXPECT_EQ(agent.free_pool(2, 1).count(), 0U);
  EXPECT_DOUBLE_EQ(agent.pool_mean(0, 0), 20.5 / 6);
  EXPECT_NEAR(agent.q()(0, 0), -10.5 - 116 * (20.5 / 6 - 2.375), 1e-11);  // alpha = -116
}

// Always action 0. A roll-out from (0,0) passes (1,0) and (2,0) and pools all three; once (1,0) has
// its two new returns from there, it is not rolled out again.
TEST(Mfmcrl, AsPublishedMatchesTheHandComputedPools) {
  Mfmcrl agent = agent_of(kAsPublished);
  EXPECT_EQ(agent.learn(kEpisodes[0]).low_steps, 4U);
  expect_pool(agent.free_pool(1, 0), 2, 5.5);
  expect_pool(agent.free_pool(2, 0), 2, 5);
  EXPECT_EQ(agent.learn(kEpisodes[1]).low_steps, 6U);
  EXPECT_EQ(agent.learn(kEpisodes[2]).low_steps, 6U);

  expect_paired_returns(agent);
  expect_pool(agent.free_pool(0, 0), 4, 3.75);
  expect_pool(agent.free_pool(1, 0), 6, 5.5);
  expect_pool(agent.free_pool(2, 0), 6, 5);
  EXPECT_EQ(agent.free_pool(2, 1).count(), 0U);
  EXPECT_DOUBLE_EQ(agent.pool_mean(0, 0), 19.75 / 6);
  EXPECT_NEAR(agent.q()(0, 0), -10.5 - 116 * (19.75 / 6 - 2.375), 1e-11);
}

// E4: 2 -1-> 3, then 1 -1-> 2 -1-> 3 in one episode order: (1,1) comes first, so its roll-outs go
// 1 -> 0 -> 1 -> 2 -> 3 under action 0 and pass (0,0), (1,0), (2,0) but not (2,1), which is then
// rolled out by itself.
TEST(Mfmcrl, FirstVisitsPoolRollsOutWhatWasNotPassed) {
  Mfmcrl agent = agent_of(kAsPublished);
  const LearnReport report = agent.learn({{1, 2, 3}, {1, 1}, {0, 0}, false});
  EXPECT_EQ(report.low_steps, 2U * 4 + 2U * 1);
  expect_pool(agent.free_pool(1, 1), 2, 4 + 3.75 / 2);
  expect_pool(agent.free_pool(0, 0), 2, 3.75);
  expect_pool(agent.free_pool(1, 0), 2, 5.5);
  expect_pool(agent.free_pool(2, 1), 2, 5);
}

// T sends the high states 0 and 1 to the low state 0, so that the path visits (0,0) twice there:
// the high pairs each get their own return, the pool only the first one.
TEST(Mfmcrl, ManyToOneMapsPoolFirstVisitsOfLowPairs) {
  const auto high = make_simulator(testing::small_mdp(1, 3, 2));
  const State terminal = 1;
  TabularBuilder builder(2, 2, {&terminal, 1});
  const double one = 1;
  builder.add_row({&terminal, 1}, {&one, 1}, 6);
  builder.add_row({&terminal, 1}, {&one, 1}, 7);
  builder.add_absorbing_row();
  builder.add_absorbing_row();
  const StartProbability start[] = {{0, 1}};
  const Fidelities pair(high, make_simulator(builder.build(start)), StateMap({0, 0, 1}, 2));
  Mfmcrl agent(pair, {.gamma = 0.5, .low_rollouts = 3}, 1);
  const LearnReport report = agent.learn({{0, 1, 2}, {0, 0}, {1, 2}, false});
  EXPECT_EQ(report.low_steps, 3U);  // one distinct low pair
  EXPECT_DOUBLE_EQ(agent.paired_returns(0, 0).mean_y(), 9);
  EXPECT_DOUBLE_EQ(agent.paired_returns(1, 0).mean_y(), 6);
  expect_pool(agent.path_pool(0, 0), 1, 9);
  expect_pool(agent.free_pool(0, 0), 3, 6);
}

TEST(Mfmcrl, CountsTruncatedRollOuts) {
  const auto simulator = make_simulator(testing::four_states());
  for (const Pool pool : {Pool::start_pairs, Pool::first_visits}) {
    Mfmcrl agent(Fidelities(simulator, simulator),
                 {.gamma = 0.5,
                  .epsilon = 0,
                  .low_rollouts = 2,
                  .low_policy = LowBehaviour::action_0,
                  .pool = pool,
                  .max_steps = 2,
                  .truncation = Truncation::terminal},
                 1);
    const LearnReport report = agent.learn({{0, 3}, {0}, {1}, false});
    EXPECT_EQ(report.truncated_rollouts, 2U);
    EXPECT_EQ(report.low_steps, 4U);
    expect_pool(agent.free_pool(0, 0), 2, 2.5);
  }
}

TEST(Mfmcrl, VariantsHaveNames) {
  EXPECT_EQ(variant_from_name("as-written").pool, Pool::start_pairs);
  EXPECT_EQ(variant_from_name("as-published").projection, Projection::bisection);
  expect_error([] { variant_from_name("as-is"); }, Errc::spec, {"'as-is'", "as-written"});
}

TEST(Mfmcrl, RejectsBadOptions) {
  const Fidelities pair = testing::small_pair(1);
  const auto make = [&](MfmcrlOptions o) { return [&pair, o] { Mfmcrl(pair, o, 1); }; };
  expect_error(make({.gamma = -1}), Errc::spec, {"gamma is -1"});
  expect_error(make({.epsilon = 2}), Errc::spec, {"epsilon is 2"});
  expect_error(make({.low_rollouts = 0}), Errc::spec, {"low_rollouts is 0"});
  expect_error(make({.max_steps = 0}), Errc::spec, {"max_steps is 0"});
}

// A cut episode teaches nothing, so the next must not be the same: each in a row adds to the
// exploration in both fidelities until one ends. The paper's estimator stays as it is.
TEST(Mfmcrl, ExploresMoreAfterCutEpisodes) {
  const Fidelities pair = testing::small_pair(1);
  const Episode cut = {{0, 1, 0}, {0, 1}, {1, 2}, true};
  const Episode whole = {{0, 11}, {0}, {1}, false};
  MfmcrlOptions options = mfmcrl_plus();
  Mfmcrl agent(pair, options, 1);
  for (int k = 1; k <= 3; ++k) {
    EXPECT_TRUE(agent.learn(cut).dropped);
    EXPECT_DOUBLE_EQ(agent.behaviour().epsilon, 0.1 * (1 + k));
    EXPECT_DOUBLE_EQ(agent.low_behaviour().epsilon, 0.1 * (1 + k));
  }
  Mfmcrl loaded(pair, options, 1);
  loaded.load(agent.save());
  EXPECT_DOUBLE_EQ(loaded.behaviour().epsilon, 0.4);
  EXPECT_DOUBLE_EQ(Mfmcrl(loaded).behaviour().epsilon, 0.4);
  for (int k = 0; k < 20; ++k) agent.learn(cut);
  EXPECT_EQ(agent.behaviour().epsilon, 1);
  agent.learn(whole);
  EXPECT_EQ(agent.behaviour().epsilon, 0.1);

  options.epsilon = 0;
  Mfmcrl greedy(pair, options, 1);
  greedy.learn(cut);
  EXPECT_EQ(greedy.behaviour().epsilon, 0.01);

  Mfmcrl paper(pair, {}, 1);
  paper.learn(cut);
  EXPECT_EQ(paper.behaviour().epsilon, 0.1);
}

}  // namespace
}  // namespace hilo
