#include "hilo/env/fidelities.hpp"

#include "hilo/agent/catalogue.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

using testing::expect_error;

TEST(StateMap, KnowsImagesAndPreimages) {
  const StateMap map({2, 0, 2, 1}, 4);
  EXPECT_EQ(map.low_of(3), 1U);
  const auto preimage = map.high_of(2);
  EXPECT_EQ(std::vector<State>(preimage.begin(), preimage.end()), (std::vector<State>{0, 2}));
  EXPECT_TRUE(map.high_of(3).empty());
  expect_error([] { StateMap({0, 4}, 4); }, Errc::data, {"T maps state 1 to 4", "only 4"});
}

TEST(Fidelities, ChecksThatBothSidesFit) {
  const auto two = make_simulator(testing::line_mdp());  // 3 states, 2 actions
  const auto three = make_simulator(testing::small_mdp(1, 3, 3));
  const auto larger = make_simulator(testing::small_mdp(1, 5, 2));
  EXPECT_NO_THROW(Fidelities(two, two));
  EXPECT_NO_THROW(Fidelities(larger, two, StateMap({0, 1, 0, 1, 2}, 3)));
  expect_error([&] { Fidelities(two, three); }, Errc::data, {"2 actions", "3"});
  expect_error([&] { Fidelities(larger, two); }, Errc::data, {"T maps 5 states to 5"});
  expect_error(
      [&] {
        Fidelities(larger, two, StateMap({0, 1, 0, 1, 1}, 3));
      },
      Errc::data, {"terminal state 4 to 1, which is not terminal"});
  expect_error([&] { Fidelities(nullptr, two); }, Errc::usage, {"high fidelity"});
}

// Any number of cheap simulators, or none. Agents that can use one only say so.
TEST(Fidelities, AgentsSayHowManyTheyTake) {
  const auto high = make_simulator(testing::small_mdp(1));
  const auto map = std::make_shared<const StateMap>(StateMap::identity(high->num_states()));
  const Fidelities none(high, std::vector<LowFidelity>{});
  const Fidelities one(high, {{high, map, 0.1}});
  const Fidelities two(high, {{high, map, 0.1}, {high, map, 0.01}});
  EXPECT_EQ(two.lows().size(), 2U);
  EXPECT_EQ(&two.low(1), high.get());
  expect_error([&] { (void)none.low(); }, Errc::usage, {"no low fidelity"});
  expect_error([&] { (void)one.map(1); }, Errc::usage, {"no low fidelity 1"});
  for (const AgentKind& kind : agent_kinds()) {
    const auto require = [&](const Fidelities& f) { return [&] { require_fidelities(kind, f); }; };
    EXPECT_NO_THROW(require(one)()) << kind.name;
    if (!kind.uses_low_fidelity()) {
      EXPECT_NO_THROW(require(none)());
      EXPECT_NO_THROW(require(two)());
      continue;
    }
    expect_error(require(none), Errc::spec, {kind.name, "needs a low fidelity"});
    if (kind.name == "mfrl")
      EXPECT_NO_THROW(require(two)());
    else
      expect_error(require(two), Errc::spec, {kind.name, "uses one low fidelity, but 2"});
  }
}

}  // namespace
}  // namespace hilo
