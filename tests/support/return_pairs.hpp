#pragma once

#include <array>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace hilo::testing {

// A kind of pair of an expensive simulator and up to four cheap ones, as returns: element 0 is the
// expensive one's.
struct ReturnPair {
  using Returns = std::array<double, 5>;
  std::string name;
  double mean = 0, variance = 1;  // of the expensive return, exact
  double skewness = 0;            // of the expensive return, exact or nearly so
  std::function<void(std::mt19937_64&, Returns&)> draw;
};

// Kinds that are as different as can be: identical, noisy, reversed, constant, unrelated, with rare
// events in one or both, heavy tails, and others.
std::vector<ReturnPair> return_pairs();

// Further kinds, on which nothing is tuned: they are for looking at how well a rule carries over.
std::vector<ReturnPair> other_return_pairs();

}  // namespace hilo::testing
