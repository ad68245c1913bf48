#include "hilo/core/error.hpp"

#include <cmath>

#include "support/expect_error.hpp"

namespace hilo {
namespace {

using testing::expect_error;

TEST(Error, RequireWithinNamesTheValueAndTheRange) {
  EXPECT_NO_THROW(require_within("epsilon", 0.0, 0, 1));
  EXPECT_NO_THROW(require_within("epsilon", 1.0, 0, 1));
  expect_error([] { require_within("epsilon", 1.5, 0, 1); }, Errc::spec,
               {"epsilon is 1.5, but must be in [0, 1]"});
  expect_error([] { require_within("epsilon", std::nan(""), 0, 1); }, Errc::spec,
               {"epsilon is nan"});
  expect_error([] { require_within("states", std::uint64_t{1}, 2, 9, Errc::data); }, Errc::data,
               {"states is 1, but must be in [2, 9]"});
}

}  // namespace
}  // namespace hilo
