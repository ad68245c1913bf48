#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hilo/evaluate/evaluation.hpp"
#include "hilo/evaluate/quantity.hpp"
#include "hilo/experiment/learn_spec.hpp"

namespace hilo {

// How an expensive episode and its cheap partners are tied together. All but `none` let them share
// the seed or the stream of random numbers; `start` also lets the cheap one begin where the
// expensive one began. `automatic` is `start` for programs that can, and `seed` otherwise.
enum class EvaluationCoupling : std::uint8_t { automatic, seed, start, none };

// Declared costs of one simulator.
struct EpisodeCosts {
  std::optional<double> episode, step;
  bool any() const { return episode || step; }
};

// A checked spec of an evaluation. It is a spec of `hilo learn`, whose agent, budget and pilot do
// not matter here, with a table [evaluate].
struct EvaluateSpec {
  Spec spec;  // its problem and the discount; its agent is never used
  std::uint64_t seed = 0;
  EvaluationRules rules;  // without the number of policies
  Quantity quantity;
  EvaluationCoupling coupling = EvaluationCoupling::automatic;
  std::vector<EpisodeCosts> costs;  // by simulator, the expensive one first
  FailureRules failures;

  const RunConfig& config() const { return spec.configs.front(); }
  double gamma() const { return config().train.number("gamma"); }
  std::uint32_t max_steps() const {
    return static_cast<std::uint32_t>(config().train.integer("max_steps"));
  }
  bool declares_costs() const;
};

EvaluateSpec parse_evaluate_spec(std::string_view toml, const std::string& where,
                                 const Overrides& overrides = {});
EvaluateSpec load_evaluate_spec(const std::filesystem::path& file, const Overrides& overrides = {});

// The keys of [evaluate].
std::span<const ParameterInfo> evaluate_parameters();

}  // namespace hilo
