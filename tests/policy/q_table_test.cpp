#include "hilo/policy/q_table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "hilo/core/random.hpp"
#include "support/expect_error.hpp"

namespace hilo {
namespace {

std::vector<Action> greedy(const QTable& q, State s) {
  const auto actions = q.greedy_actions(s);
  return {actions.begin(), actions.end()};
}

TEST(QTable, FollowsTheMaximumAndItsTies) {
  QTable q(2, 3);
  EXPECT_EQ(greedy(q, 1), (std::vector<Action>{0, 1, 2}));
  q.set(1, 1, 2);  // a new maximum
  EXPECT_EQ(greedy(q, 1), (std::vector<Action>{1}));
  q.set(1, 0, 2);  // joins it, in order
  EXPECT_EQ(greedy(q, 1), (std::vector<Action>{0, 1}));
  q.set(1, 0, 1);  // leaves it
  EXPECT_EQ(greedy(q, 1), (std::vector<Action>{1}));
  q.set(1, 1, -1);  // the last one falls: scan
  EXPECT_EQ(greedy(q, 1), (std::vector<Action>{0}));
  q.set(1, 0, -1);
  EXPECT_EQ(greedy(q, 1), (std::vector<Action>{2}));
  EXPECT_EQ(greedy(q, 0), (std::vector<Action>{0, 1, 2}));
}

// After any sequence of changes the greedy actions are those of a scan.
RC_GTEST_PROP(QTable, GreedyActionsEqualAScan, ()) {
  QTable q(1, 5);
  const auto changes = *rc::gen::container<std::vector<std::pair<std::uint32_t, int>>>(
      rc::gen::pair(rc::gen::inRange<std::uint32_t>(0, 5), rc::gen::inRange(-2, 3)));
  for (const auto& [a, value] : changes) {
    q.set(0, a, value);
    double best = q(0, 0);
    for (Action k = 1; k < 5; ++k) best = std::max(best, q(0, k));
    std::vector<Action> expected;
    for (Action k = 0; k < 5; ++k)
      if (q(0, k) == best) expected.push_back(k);
    RC_ASSERT(greedy(q, 0) == expected);
    QTable copy(1, 5);
    copy.assign(q.values());
    RC_ASSERT(greedy(copy, 0) == expected);
  }
}

TEST(QTable, BehaviourExploresAndBreaksTiesUniformly) {
  QTable q(1, 4);
  q.set(0, 1, 1);
  q.set(0, 3, 1);
  const Behaviour behaviour = q.behaviour(0.2);
  constexpr int n = 400'000;
  std::vector<int> counts(4);
  Rng rng(Stream(1, Purpose::user));
  for (int i = 0; i < n; ++i) {
    const std::uint32_t explore_word = rng.u32();
    ++counts[behaviour.choose(0, explore_word, rng.u32())];
  }
  const double expected[] = {0.05, 0.45, 0.05, 0.45};
  double chi2 = 0;
  for (std::size_t a = 0; a < 4; ++a)
    chi2 += std::pow(counts[a] - n * expected[a], 2) / (n * expected[a]);
  EXPECT_LT(chi2, 30.7);  // 3 degrees of freedom: false alarm 1e-6
}

TEST(QTable, EpsilonZeroNeverAndOneAlwaysExplores) {
  QTable q(1, 2);
  q.set(0, 1, 1);
  EXPECT_EQ(q.behaviour(0).choose(0, 0, 0), 1U);
  EXPECT_EQ(q.behaviour(1).choose(0, 0xffffffffU, 0), 0U);
}

TEST(QTable, RejectsBadInput) {
  using testing::expect_error;
  expect_error([] { QTable(0, 3); }, Errc::spec, {"number of states is 0"});
  expect_error([] { QTable(3, 0); }, Errc::spec, {"number of actions is 0"});
  expect_error([] { QTable(std::size_t{1} << 63, 2); }, Errc::spec, {"number of states is"});
  QTable q(1, 2);
  expect_error([&] { q.set(0, 1, std::nan("")); }, Errc::data, {"Q of state 0, action 1 is nan"});
  EXPECT_EQ(q(0, 1), 0);
  expect_error([&] { q.assign(std::vector<double>{1}); }, Errc::data, {"2 Q values are needed"});
}

}  // namespace
}  // namespace hilo
