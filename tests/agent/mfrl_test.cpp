#include "hilo/agent/mfrl.hpp"

#include "hilo/exact/evaluate.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"
#include "support/train.hpp"

namespace hilo {
namespace {

using testing::expect_error;

constexpr KnownModelOptions kModel = {
    .gamma = 0.5, .known_after = 2, .value_min = -1, .value_max = 10};

// gamma = 1/2, known after two visits. (0,0) ends and pays 1. (0,1) leads to state 1 and pays 2;
// there (1,0) ends and pays 4, and (1,1) is never tried: worth 10 to the optimist, -1 to the
// cautious, so that (0,1) is worth 2 + 10/2 or 2 + 4/2.
TEST(Rmax, MatchesTheHandComputedPlans) {
  Mfrl agent(3, 2, {}, {.model = kModel}, /*seed=*/1);
  const Episode ends = {{0, 2}, {0}, {1}, false};
  const Episode goes = {{0, 1, 2}, {1, 0}, {2, 4}, false};
  agent.learn(ends);
  EXPECT_EQ(agent.level(0).optimistic()(0, 0), 10);  // not known yet
  EXPECT_EQ(agent.q()(0, 0), -1);
  agent.learn(ends);
  EXPECT_EQ(agent.level(0).optimistic()(0, 0), 1);
  EXPECT_EQ(agent.q()(0, 0), 1);
  EXPECT_EQ(agent.behaviour().heads[0].first, 1U);
  EXPECT_EQ(agent.greedy().heads[0].first, 0U);
  agent.learn(goes);
  agent.learn(goes);
  EXPECT_NEAR(agent.level(0).optimistic()(0, 1), 7, 1e-3);  // plans to 1e-4 of the range of values
  EXPECT_NEAR(agent.q()(0, 1), 4, 1e-3);
  EXPECT_EQ(agent.level(0).optimistic()(1, 1), 10);
  EXPECT_EQ(agent.level(0).num_known(), 3U);
}

// A truncated last step leads on: nothing ends there.
TEST(Rmax, TruncatedStepsLeadOn) {
  Mfrl agent(3, 2, {}, {.model = kModel}, /*seed=*/1);
  for (int k = 0; k < 2; ++k) agent.learn({{0, 1}, {0}, {1}, true});
  EXPECT_NEAR(agent.level(0).optimistic()(0, 0), 1 + 10.0 / 2, 1e-3);
}

// The deterministic problem of four states as the low fidelity, known after one visit: its values
// are exact (temporal_difference_test.cpp has them), and the high fidelity starts from these plus
// beta.
TEST(Mfrl, HandsValuesUpWithTheirTolerance) {
  const auto low = make_simulator(testing::four_states());
  const MfrlOptions options = {.model = {.gamma = 0.5, .known_after = 2, .value_min = 0},
                               .low_known_after = 1,
                               .beta = 0.25,
                               .known_steps = 20};
  Mfrl agent(4, 2, {{low, std::make_shared<const StateMap>(StateMap::identity(4))}}, options,
             /*seed=*/1);
  EXPECT_GE(agent.prepare().low_steps, 20U);
  const QTable& upper = agent.level(0).optimistic();
  const auto near = [](double x, double y) { EXPECT_NEAR(x, y, 0.02); };  // 1e-4 of 100, twice
  near(upper(0, 0), 1 + 6.25 / 2 + 0.25);
  near(upper(0, 1), 4.5 + 0.25);
  near(upper(1, 0), 5.5 + 0.25);
  near(upper(1, 1), 6.25 + 0.25);
  near(upper(2, 0), 5 + 0.25);
  EXPECT_EQ(agent.q()(0, 0), 0);  // nothing is known of the high fidelity
}

// State 4 of the low fidelity is out of reach from its start. What the high fidelity meets there is
// looked up by starting the low fidelity there, once enough of it was met.
TEST(Mfrl, GoesDownWhereNothingIsKnown) {
  const State terminal = 3;
  TabularBuilder builder(5, 1, {&terminal, 1});
  const double one = 1;
  const auto row = [&](State next, double reward) {
    builder.add_row({&next, 1}, {&one, 1}, reward);
  };
  row(1, 1);
  row(3, 1);
  row(3, 1);
  builder.add_absorbing_row();
  row(3, 7);
  const StartProbability start[] = {{0, 1}};
  const auto low = make_simulator(builder.build(start));
  const MfrlOptions options = {.model = {.gamma = 0.5, .known_after = 100, .value_min = 0},
                               .low_known_after = 3,
                               .known_steps = 20,
                               .unknown_pairs = 2};
  Mfrl agent(5, 1, {{low, std::make_shared<const StateMap>(StateMap::identity(5))}}, options,
             /*seed=*/1);
  agent.prepare();
  EXPECT_EQ(agent.level(0).optimistic()(4, 0), 100);
  const Episode there = {{4, 3}, {0}, {1}, false};
  EXPECT_EQ(agent.learn(there).low_steps, 0U);
  EXPECT_GT(agent.learn(there).low_steps, 3U);
  EXPECT_NEAR(agent.level(0).optimistic()(4, 0), 7, 0.02);
}

// One known pair: it ends and pays 3, where the guess says 1. Another leads there and pays 0, where
// the guess says 1.5: 0 + 1/2 - 1.5 + 2/2 = 0.
TEST(Mfrl, EstimatesHowFarValuesLieAboveTheGuess) {
  KnownModel model(3, 1, kModel);
  for (int k = 0; k < 2; ++k) {
    model.observe(0, 0, 3, 2, true);
    model.observe(1, 0, 0, 0, false);
  }
  QTable guess(3, 1);
  guess.set(0, 0, 1);
  guess.set(1, 0, 1.5);
  EXPECT_NEAR(model.largest_excess(guess, StateMap::identity(3)), 2, 1e-3);
  guess.set(0, 0, 4);
  // -1 for the first; for the second 0 + 4/2 - 1.5 - 1/2: both values are 1.5.
  EXPECT_NEAR(model.largest_excess(guess, StateMap::identity(3)), 0, 1e-3);
  guess.set(1, 0, 1);
  EXPECT_NEAR(model.largest_excess(guess, StateMap::identity(3)), 0.5, 1e-3);
}

// A chain of three: the cheapest has the noisiest twin.
TEST(Mfrl, LearnsThroughAChain) {
  const auto mdp = testing::small_mdp(1);
  const auto high = make_simulator(mdp);
  std::vector<LowFidelity> chain;
  for (const double snr : {20.0, 5.0})
    chain.push_back({make_simulator(degrade(*mdp, {.snr_db = snr}, 1).mdp),
                     std::make_shared<const StateMap>(StateMap::identity(mdp->num_states()))});
  Mfrl agent(mdp->num_states(), mdp->num_actions(), chain,
             {.model = {}, .beta = 0.5, .known_steps = 1000}, /*seed=*/1);
  EXPECT_GT(agent.prepare().low_steps, 2000U);
  EXPECT_GT(agent.level(1).num_known(), 0U);
  EXPECT_GT(agent.level(2).num_known(), 0U);
  testing::train(agent, *high, 1, 0, 2000);
  const auto value = [&](const Behaviour& policy) {
    return start_value(*mdp, evaluate_policy(*mdp, policy_matrix(policy), 0.99).v);
  };
  EXPECT_GT(value(agent.greedy()), 0.95 * value(testing::optimal_q(*mdp, 0.99).behaviour(0)));
}

// What is learnt further below must not pass for knowledge of the level itself: after preparing, a
// chain of three knows what its middle level visits for known_steps steps in a row.
TEST(Mfrl, EveryLevelOfAChainIsLearnt) {
  const auto mdp = testing::small_mdp(1);
  std::vector<LowFidelity> chain;
  for (const double snr : {20.0, 5.0})
    chain.push_back({make_simulator(degrade(*mdp, {.snr_db = snr}, 1).mdp),
                     std::make_shared<const StateMap>(StateMap::identity(mdp->num_states()))});
  Mfrl agent(mdp->num_states(), mdp->num_actions(), chain,
             {.model = {}, .known_steps = 2000, .unknown_pairs = 1}, /*seed=*/1);
  agent.prepare();
  EXPECT_GT(agent.level(1).num_known(), 20U);  // of 33
  EXPECT_GT(agent.level(2).num_known(), 20U);
}

TEST(Mfrl, RejectsBadOptions) {
  const auto low = make_simulator(testing::four_states());
  expect_error([] { Mfrl(3, 2, {}, {.model = {.gamma = 1}}, 1); }, Errc::spec,
               {"gamma must be in [0, 1)"});
  expect_error([] { Mfrl(3, 2, {}, {.model = {.value_min = 200}}, 1); }, Errc::spec,
               {"value_min is 200"});
  expect_error([] { Mfrl(3, 2, {}, {.model = {}, .beta = -1}, 1); }, Errc::spec, {"beta is -1"});
  expect_error(
      [&] {
        Mfrl(3, 2, {{low, std::make_shared<const StateMap>(StateMap::identity(4))}}, {}, 1);
      },
      Errc::usage, {"chain of simulators"});
}

}  // namespace
}  // namespace hilo
