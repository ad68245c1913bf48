#include "hilo/exact/evaluate.hpp"

#include "support/expect_error.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

// line_mdp, uniform policy, gamma = 1/2:
//   q(1,0) = 4;  q(1,1) = 8 + v(1)/4;  v(1) = (q(1,0) + q(1,1)) / 2 = 6 + v(1)/8  =>  v(1) = 48/7
//   q(0,0) = 1 + v(1)/2;  q(0,1) = 2 + v(0)/4 + v(1)/4
//   v(0) = 3/2 + v(0)/8 + 3 v(1)/8  =>  v(0) = (12 + 3 v(1)) / 7
TEST(Evaluate, MatchesAHandComputedCase) {
  const auto mdp = testing::line_mdp();
  const QTable q(3, 2);
  const Values values = evaluate_policy(*mdp, policy_matrix(q.behaviour(1)), 0.5);
  const double v1 = 48.0 / 7;
  const double v0 = (12 + 3 * v1) / 7;
  EXPECT_NEAR(values.v[1], v1, 1e-14);
  EXPECT_NEAR(values.v[0], v0, 1e-14);
  EXPECT_EQ(values.v[2], 0);
  EXPECT_NEAR(values.q[0], 1 + v1 / 2, 1e-14);
  EXPECT_NEAR(values.q[1], 2 + v0 / 4 + v1 / 4, 1e-14);
  EXPECT_NEAR(values.q[3], 8 + v1 / 4, 1e-14);
  EXPECT_EQ(start_value(*mdp, values.v), values.v[0]);
}

// Above 300 states the sparse solver is used: v = r_pi + gamma P_pi v must hold all the same.
TEST(Evaluate, SparseSolverSolvesTheBellmanEquation) {
  constexpr double gamma = 0.99;
  const auto mdp = make_random_mdp({.states = 400, .actions = 2}, 3);
  const QTable q(400, 2);
  const PolicyMatrix pi = policy_matrix(q.behaviour(1));
  const Values values = evaluate_policy(*mdp, pi, gamma);
  std::vector<Outcome> outcomes;
  for (State s = 0; s < 399; ++s) {
    double v = 0;
    for (Action a = 0; a < 2; ++a) {
      mdp->outcomes(s, a, outcomes);
      for (const Outcome& o : outcomes)
        v += pi(s, a) * o.probability * (o.reward + gamma * values.v[o.next]);
    }
    EXPECT_NEAR(values.v[s], v, 1e-11);
  }
}

TEST(Evaluate, RejectsWhatDoesNotFit) {
  using testing::expect_error;
  const auto mdp = testing::line_mdp();
  const QTable other(4, 2);
  expect_error([&] { evaluate_policy(*mdp, policy_matrix(other.behaviour(1)), 0.5); }, Errc::usage,
               {"4 states and 2 actions", "3 and 2"});
  const QTable q(3, 2);
  expect_error([&] { evaluate_policy(*mdp, policy_matrix(q.behaviour(1)), 1.5); }, Errc::spec,
               {"gamma is 1.5"});
}

// A line of 50,000 states is sparse: evaluating it takes O(non-zeros), well within the test's
// limit.
TEST(Evaluate, LargeSparseProblemsAreCheap) {
  constexpr State n = 50'000;
  const State terminal = n - 1;
  TabularBuilder builder(n, 1, {&terminal, 1});
  for (State s = 0; s + 1 < n; ++s) {
    const State next[] = {s, s + 1};
    const double probability[] = {0.25, 0.75};
    builder.add_row(next, probability, 1);
  }
  builder.add_absorbing_row();
  const StartProbability start[] = {{0, 1}};
  const auto mdp = builder.build(start);
  const QTable q(n, 1);
  const Values values = evaluate_policy(*mdp, policy_matrix(q.behaviour(0)), 0.9);
  EXPECT_NEAR(values.v[0], 10, 1e-9);  // 1 / (1 - gamma): the end is far
  EXPECT_NEAR(values.v[n - 2], 1 / (1 - 0.9 * 0.25), 1e-12);
}

// With gamma = 1, a policy that never ends has no values.
TEST(Evaluate, SaysSoWhenThePolicyNeverEnds) {
  const State terminal = 1;
  TabularBuilder builder(2, 2, {&terminal, 1});
  const State stay = 0;
  const State go = 1;
  const double one = 1;
  builder.add_row({&stay, 1}, {&one, 1}, 1);
  builder.add_row({&go, 1}, {&one, 1}, 1);
  builder.add_absorbing_row();
  builder.add_absorbing_row();
  const StartProbability start[] = {{0, 1}};
  const auto mdp = builder.build(start);
  const PolicyMatrix always_stay = deterministic_policy({0, 0}, 2);
  testing::expect_error([&] { evaluate_policy(*mdp, always_stay, 1); }, Errc::data,
                        {"the policy never ends"});
}

}  // namespace
}  // namespace hilo
