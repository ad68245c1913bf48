#include "hilo/policy/low_policy.hpp"

#include <gtest/gtest.h>

namespace hilo {
namespace {

TEST(LowPolicy, SumsOverThePreimage) {
  const StateMap map({0, 1, 0, 1}, 2);
  QTable q(4, 2);
  LowPolicy low(map, 2);
  const auto set = [&](State s, Action a, double value) {
    q.set(s, a, value);
    low.update(map, q, s, a);
  };
  set(0, 1, 3);
  set(2, 1, -5);
  set(3, 0, 7);
  EXPECT_EQ(low.q()(0, 1), -2);
  EXPECT_EQ(low.q()(0, 0), 0);
  EXPECT_EQ(low.q()(1, 0), 7);
  EXPECT_EQ(low.q().greedy_actions(0)[0], 0U);
  set(2, 1, -3);  // back to an exact tie
  EXPECT_EQ(low.q().greedy_actions(0).size(), 2U);

  LowPolicy rebuilt(map, 2);
  rebuilt.update_all(map, q);
  for (State s = 0; s < 2; ++s)
    for (Action a = 0; a < 2; ++a) EXPECT_EQ(rebuilt.q()(s, a), low.q()(s, a));
}

TEST(FixedActionPolicy, TakesItsActionUnlessItExplores) {
  const FixedActionPolicy policy(3, 4, 2);
  EXPECT_EQ(policy.behaviour(0).choose(1, 0, 0), 2U);
  EXPECT_EQ(policy.behaviour(0.5).choose(1, 0xffffffffU, 0), 2U);
  EXPECT_EQ(policy.behaviour(0.5).choose(1, 0, 0xffffffffU), 3U);
}

}  // namespace
}  // namespace hilo
