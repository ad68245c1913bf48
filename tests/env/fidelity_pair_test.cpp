#include "hilo/env/fidelity_pair.hpp"

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

TEST(FidelityPair, ChecksThatBothSidesFit) {
  const auto two = make_simulator(testing::line_mdp());  // 3 states, 2 actions
  const auto three = make_simulator(testing::small_mdp(1, 3, 3));
  const auto larger = make_simulator(testing::small_mdp(1, 5, 2));
  EXPECT_NO_THROW(FidelityPair(two, two));
  EXPECT_NO_THROW(FidelityPair(larger, two, StateMap({0, 1, 0, 1, 2}, 3)));
  expect_error([&] { FidelityPair(two, three); }, Errc::data, {"2 actions", "3"});
  expect_error([&] { FidelityPair(larger, two); }, Errc::data, {"T maps 5 states to 5"});
  expect_error(
      [&] {
        FidelityPair(larger, two, StateMap({0, 1, 0, 1, 1}, 3));
      },
      Errc::data, {"terminal state 4 to 1, which is not terminal"});
  expect_error([&] { FidelityPair(nullptr, two); }, Errc::usage, {"two simulators"});
}

}  // namespace
}  // namespace hilo
