#include "hilo/env/docking.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "hilo/exact/solve.hpp"
#include "support/expect_error.hpp"

namespace hilo {
namespace {

constexpr Docking::ActionOrder kPlain = {Docking::Thrust::coast, Docking::Thrust::right,
                                         Docking::Thrust::left, Docking::Thrust::up,
                                         Docking::Thrust::down};
constexpr DockingOptions kStillAir = {.cells = 10, .speeds = 3, .drag = 0, .wind = 0, .gusts = 0};

std::map<State, double> outcomes_of(const Docking& docking, const Docking::Motion& from, Action a) {
  std::vector<Outcome> outcomes;
  docking.outcomes(docking.state(from), a, outcomes);
  std::map<State, double> out;
  for (const Outcome& o : outcomes) out[o.next] = o.probability;
  return out;
}

TEST(Docking, MovesByTheLawsOfMotion) {
  const Docking docking(kStillAir, kPlain);
  // At rest in cell (4, 2), centre (4.5, 2.5), and coasting: it stays, unless the mission is over.
  auto next = outcomes_of(docking, {4, 2, 1, 1}, 0);
  EXPECT_EQ(next.size(), 2U);
  EXPECT_NEAR(next[docking.state({4, 2, 1, 1})], 0.98, 1e-12);
  EXPECT_NEAR(next[docking.over()], 0.02, 1e-12);
  // Thrust to the right: half a metre on, so half the mass goes to the next cell.
  next = outcomes_of(docking, {4, 2, 1, 1}, 1);
  EXPECT_EQ(next.size(), 3U);
  EXPECT_NEAR(next[docking.state({4, 2, 2, 1})], 0.49, 1e-12);
  EXPECT_NEAR(next[docking.state({5, 2, 2, 1})], 0.49, 1e-12);
  // Moving up at 1 m/s and coasting: one whole cell.
  next = outcomes_of(docking, {4, 2, 1, 2}, 0);
  EXPECT_NEAR(next[docking.state({4, 3, 1, 2})], 0.98, 1e-12);
}

TEST(Docking, EndsWhereItShould) {
  const Docking docking(kStillAir, kPlain);
  // In cell 0 moving to the left, centre 0.5: it leaves the square.
  EXPECT_NEAR(outcomes_of(docking, {0, 5, 0, 1}, 0)[docking.lost()], 1, 1e-12);
  // Below the dock, centre (4.5, 6.5), moving up: at (4.5, 7.5) it is 1.12 m from the centre.
  EXPECT_EQ(outcomes_of(docking, {4, 6, 1, 2}, 0).count(docking.docked()), 0U);
  // From (4.5, 7.5): at (4.5, 8.5), 0.5 m from the centre, straight and gently.
  EXPECT_NEAR(outcomes_of(docking, {4, 7, 1, 2}, 0)[docking.docked()], 1, 1e-12);
  // The same with a lateral speed: too rough.
  EXPECT_NEAR(outcomes_of(docking, {4, 7, 2, 2}, 0)[docking.lost()], 1, 1e-12);
  // Rewards: time, fuel, and the end.
  const State s = docking.state({4, 7, 1, 2});
  EXPECT_DOUBLE_EQ(docking.reward(s, 0, docking.docked()), 0.99);
  EXPECT_DOUBLE_EQ(docking.reward(s, 1, docking.lost()), -1.03);
  EXPECT_DOUBLE_EQ(docking.reward(s, 0, docking.over()), -0.01);
  EXPECT_DOUBLE_EQ(docking.reward(docking.lost(), 0, docking.lost()), 0);
}

// Drag by hand: speeds -1, 0, 1; at rest in a wind of 0.4 the velocity gains 0.3 * 0.16 = 0.048.
TEST(Docking, AirCarriesAndGustsKick) {
  const Docking docking({.cells = 10, .speeds = 3, .drag = 0.3, .wind = 0.4, .gusts = 0}, kPlain);
  double carried = 0;
  for (const auto& [next, p] : outcomes_of(docking, {4, 2, 1, 1}, 0))
    if (next < docking.docked() && docking.motion(next).jx == 2) carried += p;
  EXPECT_NEAR(carried, 0.98 * 0.048, 1e-12);
  const Docking gusty({.cells = 10, .speeds = 3, .drag = 0, .wind = 0, .gusts = 0.2}, kPlain);
  double kicked = 0;
  for (const auto& [next, p] : outcomes_of(gusty, {4, 2, 1, 1}, 0))
    if (next < gusty.docked() && gusty.motion(next).jy == 2) kicked += p;
  // A quarter of the gusts goes up, 0.5 m/s is half a step of the velocity grid.
  EXPECT_NEAR(kicked, 0.98 * 0.2 / 4 / 2, 1e-12);
}

// What step draws is what outcomes says: 200,000 draws, 4.5 standard errors, fixed seed.
TEST(Docking, DrawsFromItsDistribution) {
  const Docking docking({}, kPlain);
  const State s = docking.state({3, 3, 2, 1});
  std::vector<Outcome> outcomes;
  docking.outcomes(s, 3, outcomes);
  std::map<State, double> count;
  constexpr int kDraws = 200'000;
  for (int k = 0; k < kDraws; ++k) {
    Rng rng(Stream(1, Purpose::user, static_cast<std::uint32_t>(k)));
    const Step step = docking.step(s, 3, rng);
    EXPECT_EQ(step.reward, docking.reward(s, 3, step.next));
    ++count[step.next];
  }
  for (const Outcome& o : outcomes) {
    const double se = std::sqrt(o.probability * (1 - o.probability) / kDraws);
    EXPECT_NEAR(count[o.next] / kDraws, o.probability, 4.5 * se);
    count.erase(o.next);
  }
  EXPECT_TRUE(count.empty());
}

TEST(Docking, NoActionIsFavouredByItsNumber) {
  std::set<Docking::Thrust> first;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto order = Docking::shuffled_actions(seed);
    EXPECT_EQ(std::set<Docking::Thrust>(order.begin(), order.end()).size(), 5U);
    first.insert(order[0]);
  }
  EXPECT_EQ(first.size(), 5U);
}

TEST(Docking, TheMapTakesCellsToTheNearestCoarseOne) {
  const DockingOptions options{.cells = 11};
  const auto high = make_docking(options, 1);
  const Fidelities pair = make_docking_pair(options, 1, high);
  const auto order = Docking::shuffled_actions(1);
  const Docking fine(options, order);
  const Docking coarse(low_fidelity_of(options), order);
  ASSERT_EQ(coarse.cells(), 6U);
  for (State s = 0; s < fine.docked(); ++s) {
    const auto m = fine.motion(s);
    const auto low = coarse.motion(pair.map().low_of(s));
    EXPECT_EQ(fine.state(m), s);
    EXPECT_EQ(low.jx, m.jx);
    EXPECT_EQ(low.jy, m.jy);
    for (std::uint32_t i = 0; i < coarse.cells(); ++i)
      EXPECT_LE(std::abs(coarse.centre(low.ix) - fine.centre(m.ix)),
                std::abs(coarse.centre(i) - fine.centre(m.ix)) + 1e-12);
  }
  EXPECT_EQ(pair.map().low_of(fine.docked()), coarse.docked());
  EXPECT_EQ(pair.map().low_of(fine.lost()), coarse.lost());
  EXPECT_EQ(pair.map().low_of(fine.over()), coarse.over());
}

// Whoever sees the next reward alone never thrusts; the optimum must, to get anywhere.
TEST(Docking, TheFutureMatters) {
  const Docking docking({}, kPlain);
  const Solution solution = policy_iteration(docking, 0.99);
  EXPECT_GT(start_value(docking, solution.values.v), 0.4);
  const std::vector<Action> never(docking.num_states(), 0);
  const Values coasting = evaluate_policy(docking, deterministic_policy(never, 5), 0.99);
  EXPECT_LT(start_value(docking, coasting.v), 0);
}

TEST(Docking, BadOptionsAreRefused) {
  testing::expect_error([] { (void)Docking({.speeds = 4}, kPlain); }, Errc::spec,
                        {"speeds", "odd"});
  testing::expect_error([] { (void)Docking({.cells = 2}, kPlain); }, Errc::spec, {"cells", "2"});
}

}  // namespace
}  // namespace hilo
