#include "hilo/core/random.hpp"
#include "hilo/experiment/spec.hpp"

namespace hilo {
namespace {

constexpr double kMaxEpisodes = 4e9;  // an episode index has 32 bits

}  // namespace

std::span<const ParameterInfo> train_parameters() {
  static const std::vector<ParameterInfo> kInfos = {
      {"episodes",
       "budget in high-fidelity episodes; 0 if steps is given",
       std::int64_t{0},
       0,
       kMaxEpisodes,
       {}},
      {"steps",
       "budget in high-fidelity steps; 0 if episodes is given",
       std::int64_t{0},
       0,
       1e15,
       {}},
      {"gamma", "discount", 0.99, 0, 1, {}},
      {"epsilon", "exploration", 0.1, 0, 1, {}},
      {"max_steps",
       "an episode or roll-out is cut after so many steps",
       std::int64_t{10'000},
       1,
       double{kMaxSteps},
       {}},
      {.name = "pilot_episodes",
       .description = "the first so many episodes follow the uniform policy, as hilo diagnose does",
       .default_value = std::int64_t{0},
       .low = 0,
       .high = kMaxEpisodes,
       .choices = {},
       .silent_default = true},
      {.name = "truncation",
       .description = "what a learner from returns does with an episode that was cut: leave it "
                      "out, or count the cut as its end",
       .default_value = "drop",
       .choices = {"drop", "terminal"},
       .silent_default = true},
  };
  return kInfos;
}

std::span<const ParameterInfo> test_parameters() {
  static const std::vector<ParameterInfo> kInfos = {
      {"every", "training episodes between two tests", std::int64_t{50}, 1, kMaxEpisodes, {}},
      {"episodes", "test episodes in each test; 0: none", std::int64_t{200}, 0, 1e6, {}},
      {"exact_every",
       "training episodes between exact values, a multiple of every; 0: none",
       std::int64_t{0},
       0,
       kMaxEpisodes,
       {}},
      {.name = "count_steps",
       .description = "whether tests record the steps spent so far in both fidelities",
       .default_value = false,
       .choices = {},
       .silent_default = true},
  };
  return kInfos;
}

}  // namespace hilo
