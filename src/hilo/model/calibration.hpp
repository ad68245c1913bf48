#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hilo/env/vector_steps.hpp"

namespace hilo {

// A number of a cheap simulator that may be wrong, and where it may lie.
struct TuneRange {
  std::string name;
  double low = 0, high = 0;
};

// "mass 0.5 2, friction 0 1": names, each with the two ends of its range; "none" for none. Throws
// Errc::spec.
std::vector<TuneRange> parse_tune(std::string_view text);

std::vector<std::string> names_of(const std::vector<TuneRange>& ranges);

// Steps of an expensive simulator, one column for each.
struct SeenSteps {
  Columns before, actions, after;
};

struct Calibration {
  std::vector<double> values;      // in the order of the ranges
  std::vector<double> deviations;  // standard deviations, of a normal posterior
};

// The values with which a cheap simulator agrees best with the steps that were seen, and how well
// these determine them. The likelihood is that of normal errors whose variance, for each
// coordinate, is that of the errors themselves; the largest errors are left out, so that a few
// contacts do not decide. The prior is uniform. Steps that ended at the bounds of the box tell
// nothing about a coordinate. Random numbers of the search are those of purpose `search` with this
// seed, episode and pair. Adds the steps of the simulator to `steps`.
Calibration calibrate(const VectorSteps& cheap, const std::vector<TuneRange>& ranges,
                      const SeenSteps& seen, std::span<const double> start, std::uint64_t seed,
                      std::uint32_t episode, std::uint32_t pair, std::uint64_t& steps);

}  // namespace hilo
