#include "hilo/diagnose/diagnosis.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/problems.hpp"
#include "support/realised_change.hpp"
#include "support/train.hpp"

namespace hilo {
namespace {

constexpr double kGamma = 0.99;

Pilot pilot_of(const Fidelities& pair, std::uint32_t episodes, std::uint64_t seed = 1) {
  const QTable q(pair.high().num_states(), pair.num_actions());
  return run_pilot(pair, q, {.episodes = episodes, .low_rollouts = 5, .seed = seed},
                   [] { return true; });
}

Fidelities twin(std::uint64_t seed) {
  const auto mdp = testing::small_mdp(seed);
  return {make_simulator(mdp), make_simulator(mdp)};
}

TEST(Diagnose, AnIdenticalSimulatorIsUsed) {
  const Fidelities pair = twin(1);
  const Diagnosis d = diagnose(pair, pilot_of(pair, 500), {.returns = 50});
  EXPECT_EQ(d.advice, Advice::use) << d.reason;
  EXPECT_NEAR(d.correlation, 1, 1e-9);
  EXPECT_LT(d.change.high, -0.5);
  // A true null: about one pair in twenty is called different. 36 pairs: 0 to 8 in all but 1e-4.
  EXPECT_GT(d.pairs_tested, 20U);
  EXPECT_LE(d.pairs_different, 8U);
  EXPECT_GT(d.break_even_cost_ratio, 0);
}

TEST(Diagnose, AConstantSimulatorIsDropped) {
  const auto mdp = testing::small_mdp(1);
  const Fidelities pair(make_simulator(mdp), make_simulator(testing::with_rewards(
                                                 *mdp, [](State, Action) { return 0.0; })));
  const Diagnosis d = diagnose(pair, pilot_of(pair, 300), {});
  EXPECT_EQ(d.advice, Advice::drop) << d.reason;
  EXPECT_EQ(d.change.value, 0);
}

TEST(Diagnose, DifferentDynamicsShow) {
  // A low fidelity that ends three times as often.
  const RandomMdpOptions options = {.states = 12, .actions = 3, .start_states = 4};
  RandomMdpOptions hasty = options;
  hasty.terminal_probability = 0.3;
  const Fidelities pair(make_simulator(make_random_mdp(options, 1)),
                        make_simulator(make_random_mdp(hasty, 1)));
  const Diagnosis d = diagnose(pair, pilot_of(pair, 2000), {.returns = 50});
  EXPECT_TRUE(d.dynamics_differ);
  EXPECT_GT(d.pairs_different, d.pairs_tested / 4);
}

TEST(Diagnose, AShortPilotCannotTellAndSaysWhatWould) {
  const Fidelities pair = twin(1);
  Diagnosis d = diagnose(pair, pilot_of(pair, 5), {});
  EXPECT_EQ(d.advice, Advice::cannot_tell);
  EXPECT_GT(d.more_episodes, 0);
  // Pure noise: a few episodes cannot tell, whatever the answer.
  const Fidelities noise =
      testing::degraded_pair(testing::small_mdp(1), -40, Projection::simplex, 1);
  d = diagnose(noise, pilot_of(noise, 40), {});
  EXPECT_NE(d.advice, Advice::use);
  EXPECT_FALSE(d.reason.empty());
}

// The prediction is what happens: 300 trainings, whose ratio has a standard error of 0.02.
TEST(Diagnose, PredictsTheRealisedChange) {
  for (const double snr_db : {-10.0, 3.0}) {
    SCOPED_TRACE(snr_db);
    const Fidelities pair = testing::small_pair(3, snr_db);
    const Diagnosis d = diagnose(pair, pilot_of(pair, 20'000), {.returns = 30});
    const double realised = testing::realised_change(pair, {.returns = 30, .trainings = 300});
    EXPECT_NEAR(d.change.value, realised, 0.10);
    EXPECT_LT(d.change.low - 0.06, realised);
    EXPECT_GT(d.change.high + 0.06, realised);
  }
}

// The pairs of an episode share its luck. With the same dynamics that is all of the offset, and it
// must not be promised away: the prediction stays near what happens.
TEST(Diagnose, DoesNotPromiseTooMuchOfIdenticalSimulators) {
  const Fidelities pair = twin(2);
  const Diagnosis d = diagnose(pair, pilot_of(pair, 2000), {.returns = 50});
  const double realised = testing::realised_change(pair, {.trainings = 100});
  EXPECT_EQ(d.advice, Advice::use) << d.reason;
  EXPECT_LT(d.change.low - 0.02, realised);
  EXPECT_GT(d.change.high + 0.02, realised);
  EXPECT_NE(d.reason.find("same weights"), std::string::npos) << d.reason;
}

// MFMCRL+ learns from three pairs or more; with fewer it is plain Monte Carlo, and the verdict says
// so instead of promising anything.
TEST(Diagnose, SaysThatAFewPairsChangeNothing) {
  for (const std::size_t actions : {1, 2}) {
    SCOPED_TRACE(actions);
    const RandomMdpOptions options = {.states = 2, .actions = actions, .start_states = 1};
    const auto mdp = make_random_mdp(options, 1);
    const Fidelities pair(make_simulator(mdp), make_simulator(mdp));
    const Diagnosis d = diagnose(pair, pilot_of(pair, 500), {.returns = 50});
    EXPECT_EQ(d.advice, Advice::drop);
    EXPECT_NE(d.reason.find("is plain Monte Carlo"), std::string::npos) << d.reason;
    EXPECT_EQ(d.change.value, 0);
    EXPECT_EQ(testing::realised_change(pair, {.trainings = 2}), 0);
  }
}

// Correlations of both signs and a short pilot: no verdict rests on a wild number.
TEST(Diagnose, StaysSaneWithCorrelationsOfBothSigns) {
  const auto mdp = testing::small_mdp(4, 40, 4);
  const Fidelities pair(make_simulator(mdp),
                        make_simulator(testing::with_rewards(*mdp, [&](State s, Action a) {
                          const double r = mdp->expected_reward(s, a);
                          return s % 4 == 0 ? -r : r;
                        })));
  const double realised = testing::realised_change(pair, {.trainings = 10});
  ASSERT_LT(realised, -0.05);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Diagnosis d = diagnose(pair, pilot_of(pair, 50, seed), {.returns = 50});
    EXPECT_NE(d.advice, Advice::drop) << d.reason;
    EXPECT_LT(std::abs(d.change.value), 1.5);
  }
}

// Its episodes are those of a training that follows the same policy.
TEST(Pilot, HasTheEpisodesOfTraining) {
  const Fidelities pair = testing::small_pair(1);
  const QTable q(12, 3);
  const Pilot pilot = pilot_of(pair, 20, 9);
  Episode episode;
  std::size_t steps = 0;
  for (std::uint32_t k = 0; k < 20; ++k) {
    pair.high().run_episode(q.behaviour(1),
                            {.seed = 9, .purpose = Purpose::high_episode, .episode = k},
                            {.max_steps = 10'000}, episode);
    steps += episode.length();
  }
  EXPECT_EQ(pilot.high_steps, steps);
  EXPECT_EQ(pilot.episodes, 20U);
}

}  // namespace
}  // namespace hilo
