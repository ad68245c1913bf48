#pragma once

#include <string>

#include "support/gradient_problems.hpp"

namespace hilo::testing {

// A problem, a cheap simulator, and the derivatives of the value of fixed weights.
struct GradientCase {
  std::string name;
  VectorFidelities pair;
  GradientOptions options;
  std::vector<double> weights;
  // For the network of an agent, whose scales it has learnt.
  std::function<std::vector<double>(const PolicyGradient&)> truth;
};

inline GradientOptions fixed_options(GradientControl control) {
  return {.layers = {},
          .batch = 10,
          .low_rollouts = 10,
          .control = control,
          .noise = LinearQuadratic::kSpread / LinearQuadratic::kBox,
          .step_size = 0,  // the policy stays
          .gamma = 0.95,
          .max_steps = 6};
}

inline GradientCase linear_case(const std::string& name, const LinearQuadratic& low,
                                std::uint64_t seed_shift = 0) {
  const LinearQuadratic high;
  GradientOptions options = fixed_options(GradientControl::low);
  return {
      .name = "linear-quadratic, " + name,
      .pair = VectorFidelities(make_vector_simulator(high),
                               std::make_shared<const StepsOf<LinearQuadratic>>(low, seed_shift)),
      .options = options,
      .weights = {-0.4 / LinearQuadratic::kBox, -0.6 / LinearQuadratic::kBox,
                  0.2 / LinearQuadratic::kBox},
      .truth = [high, options](const PolicyGradient& agent) {
        const NetworkShape shape = agent.shape();
        const auto value = [&](const std::vector<double>& scaled) {
          std::array<double, 3> f = {scaled[0] / shape.scale[0], scaled[1] / shape.scale[1],
                                     scaled[2]};
          f[2] -= f[0] * shape.centre[0] + f[1] * shape.centre[1];
          return high.value_of(f, options.gamma, options.max_steps);
        };
        std::vector<double> at;
        for (const double w : agent.weights()) at.push_back(w * LinearQuadratic::kBox);
        std::vector<double> out = derivatives(value, at, 1e-4);
        for (double& x : out) x *= LinearQuadratic::kBox;
        return out;
      }};
}

inline std::vector<GradientCase> linear_cases() {
  return {linear_case("identical", {}),
          linear_case("other dynamics", {.pull = 0.6, .noise = 0.15}),
          linear_case("noisy rewards", {.reward_noise = 3}),
          linear_case("misleading: reversed rewards", {.reward_factor = -1}),
          linear_case("constant rewards", {.reward_factor = 0}),
          linear_case("unrelated random numbers", {.pull = -0.5, .noise = 0.5}, 1'000'003)};
}

// Random tables, whose episodes end after about ten steps. `low` is a twin with noise.
inline GradientCase table_case(const std::string& name, std::uint64_t problem, double snr_db,
                               double reward_factor = 1, std::uint64_t seed_shift = 0) {
  const auto high = small_mdp(problem, 6, 3);
  const auto low =
      degrade(*high, {.snr_db = snr_db, .projection = Projection::simplex}, problem).mdp;
  GradientOptions options = fixed_options(GradientControl::low);
  options.gamma = 0.9;
  options.max_steps = 250;  // reached with a probability of 1e-11
  std::vector<double> weights(3 * 7);
  for (std::size_t k = 0; k < weights.size(); ++k)
    weights[k] = 0.4 * std::sin(3.0 * static_cast<double>(k) + static_cast<double>(problem));
  return {.name = "table, " + name,
          .pair = VectorFidelities(make_vector_simulator(CornerTable{high}),
                                   std::make_shared<const StepsOf<CornerTable>>(
                                       CornerTable{low, reward_factor}, seed_shift)),
          .options = options,
          .weights = weights,
          .truth = [high, options](const PolicyGradient& agent) {
            const std::vector<double> at(agent.weights().begin(), agent.weights().end());
            return derivatives(
                [&](const std::vector<double>& w) {
                  return softmax_value(*high, agent.shape(), w, options.gamma);
                },
                at, 1e-5);
          }};
}

inline std::vector<GradientCase> table_cases() {
  return {table_case("identical", 1, 100), table_case("noisy", 2, 10),
          table_case("reversed rewards", 3, 20, -1), table_case("constant rewards", 4, 10, 0),
          table_case("unrelated", 5, -20, 1, 1'000'003)};
}

// Batches of one agent at the fixed weights.
inline GradientSums run_gradient_case(const GradientCase& c, std::uint64_t batches,
                                      std::uint64_t seed) {
  PolicyGradient agent(c.pair, c.options, seed);
  agent.set_weights(c.weights);
  agent.prepare();
  const std::vector<double> truth = c.truth(agent);
  GradientSums sums;
  VectorEpisode episode(c.pair.high());
  for (std::uint32_t e = 0; e < batches * c.options.batch; ++e) {
    c.pair.high().run_episode(
        *agent.policy(), {.seed = seed, .purpose = Purpose::high_episode, .episode = e},
        {.gamma = c.options.gamma, .max_steps = c.options.max_steps}, episode);
    agent.learn(episode);
    if ((e + 1) % c.options.batch == 0) sums.add(agent, truth);
  }
  return sums;
}

}  // namespace hilo::testing
