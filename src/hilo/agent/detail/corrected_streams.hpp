#pragma once

#include <cstdint>

// For the sources of this folder only.
namespace hilo {

// "Pair" of the streams of purpose `search` of the agent `corrected`: what they are for. Searches
// have 16 and more.
enum CorrectedStream : std::uint32_t {
  kScenarioStarts = 0,   // and 1 for those that candidates are compared on
  kScenarioNumbers = 2,  // and 3: random numbers of their steps
  kFirstWeights = 4,
  kSamples = 6,  // and 7, of the model; 5 are its frequencies
  kTuning = 8,
  kFirstSearch = 16,
};
constexpr double kFarStep = 0.5;  // first step size of a search from scratch
constexpr std::uint32_t kForSearch = 0, kForComparison = 1;

}  // namespace hilo
