#include "hilo/model/end_limits.hpp"

#include <gtest/gtest.h>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

std::vector<std::uint8_t> marked(const EndLimits& ends, const std::vector<double>& places) {
  Columns states(2, places.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    states.set(i, std::vector<double>{places[i], 0.5});
  std::vector<std::uint8_t> done(states.padded(), 0);
  ends.mark(states, done);
  done.resize(places.size());
  return done;
}

TEST(EndLimits, LieHalfwayBetweenWhatWentOnAndWhatEnded) {
  EndLimits ends(2);
  for (const double x : {-1.0, 0.0, 0.8}) ends.add(std::vector<double>{x, x + 0.5}, false);
  ends.fit();
  EXPECT_EQ(marked(ends, {-100, 100}), (std::vector<std::uint8_t>{0, 0}));  // nothing has ended
  ends.add(std::vector<double>{1.2, 0.5}, true);
  ends.add(std::vector<double>{3, 0.5}, true);
  ends.fit();
  EXPECT_EQ(marked(ends, {-100, 0.99, 1.01}), (std::vector<std::uint8_t>{0, 0, 1}));
  EXPECT_EQ(ends.unexplained(), 0U);
  ends.add(std::vector<double>{-3, 0.5}, true);
  ends.add(std::vector<double>{0.1, 0.5}, true);  // where others went on: no limit explains it
  ends.fit();
  EXPECT_EQ(marked(ends, {-2.01, -1.99}), (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(ends.unexplained(), 1U);
}

TEST(EndLimits, AreTheSameFromTheirParts) {
  EndLimits ends(2);
  ends.add(std::vector<double>{0, 0}, false);
  ends.add(std::vector<double>{1, 1}, false);
  ends.add(std::vector<double>{2, 1}, true);
  const EndLimits again = EndLimits::from(ends.least(), ends.most(), ends.ended());
  EXPECT_EQ(marked(again, {1.4, 1.6}), (std::vector<std::uint8_t>{0, 1}));
  EXPECT_THROW(EndLimits::from({0, 0}, {1}, {}), Error);
  EXPECT_THROW(EndLimits::from({0, 0}, {1, 1}, {3}), Error);
}

}  // namespace
}  // namespace hilo
