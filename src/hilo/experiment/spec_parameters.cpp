#include "hilo/core/random.hpp"
#include "hilo/experiment/spec.hpp"

namespace hilo {
namespace {

constexpr double kMaxEpisodes = 4e9;  // an episode index has 32 bits

}  // namespace

std::span<const ParameterInfo> train_parameters() {
  static const std::vector<ParameterInfo> kInfos = {
      {.name = "episodes",
       .description = "budget in high-fidelity episodes; 0 if steps is given",
       .default_value = std::int64_t{0},
       .low = 0,
       .high = kMaxEpisodes},
      {.name = "steps",
       .description = "budget in high-fidelity steps; 0 if episodes is given",
       .default_value = std::int64_t{0},
       .low = 0,
       .high = 1e15},
      {.name = "gamma", .description = "discount", .default_value = 0.99, .low = 0, .high = 1},
      {.name = "epsilon", .description = "exploration", .default_value = 0.1, .low = 0, .high = 1},
      {.name = "max_steps",
       .description = "an episode or roll-out is cut after so many steps",
       .default_value = std::int64_t{10'000},
       .low = 1,
       .high = double{kMaxSteps}},
      {.name = "pilot_episodes",
       .description = "the first so many episodes follow the uniform policy, as hilo diagnose does",
       .default_value = std::int64_t{0},
       .low = 0,
       .high = kMaxEpisodes,
       .silent_default = true},
      {.name = "truncation",
       .description = "what a learner from returns does with an episode that was cut: leave it "
                      "out, or count the cut as its end",
       .default_value = "drop",
       .choices = {"drop", "terminal"},
       .silent_default = true},
      {.name = "lag",
       .description =
           "an episode acts on what was learnt up to so many episodes before it, so that "
           "so many can run at the same time",
       .default_value = std::int64_t{1},
       .low = 1,
       .high = 1000,
       .silent_default = true},
  };
  return kInfos;
}

std::span<const ParameterInfo> test_parameters() {
  static const std::vector<ParameterInfo> kInfos = {
      {.name = "every",
       .description = "training episodes between two tests",
       .default_value = std::int64_t{50},
       .low = 1,
       .high = kMaxEpisodes},
      {.name = "episodes",
       .description = "test episodes in each test; 0: none",
       .default_value = std::int64_t{200},
       .low = 0,
       .high = 1e6},
      {.name = "exact_every",
       .description = "training episodes between exact values, a multiple of every; 0: none",
       .default_value = std::int64_t{0},
       .low = 0,
       .high = kMaxEpisodes},
      {.name = "count_steps",
       .description = "whether tests record the steps spent so far in both fidelities",
       .default_value = false,
       .silent_default = true},
      {.name = "metrics",
       .description = "metrics of your own that tests record, with commas between",
       .default_value = "",
       .silent_default = true},
  };
  return kInfos;
}

}  // namespace hilo
