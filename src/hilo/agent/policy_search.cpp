#include "hilo/agent/policy_search.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/core/cma.hpp"
#include "hilo/core/parallel.hpp"

namespace hilo {
namespace {

constexpr double kExploded = -1e12;  // the return of a simulation that left the finite numbers

// The return of every network in one scenario. Paths that have ended go on in vain until all have.
// Returns the number of steps.
std::uint64_t run_scenario(const NetworkShape& shape, const Columns& weights, std::size_t count,
                           const Scenario& scenario, const Horizon& horizon,
                           std::span<double> returns) {
  const std::size_t actions = shape.actions.is_discrete() ? 1 : shape.actions.dimension();
  Columns states(shape.observations.dimension(), count), chosen(actions, count);
  states.fill(scenario.start);
  StepResults results;
  results.resize(states.padded());
  std::vector<double> alive(count, 1);
  std::ranges::fill(returns, 0.0);
  double discount = 1;
  std::uint64_t steps = 0;
  for (std::uint32_t t = 0; t < horizon.max_steps; ++t) {
    network_actions(shape, weights, states, chosen);
    if (scenario.action_noise > 0) {
      Rng rng = Rng::of_step(scenario.stream, t + 1);
      add_action_noise(shape.actions, scenario.action_noise, draw_action_words(rng), 0, count,
                       chosen);
    }
    scenario.simulator->step(states, chosen, {&scenario.stream, 1}, t + 1, results);
    bool any = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (alive[i] == 0) continue;
      returns[i] += discount * results.rewards[i];
      if (results.done[i] != 0)
        alive[i] = 0;
      else
        any = true;
    }
    steps += count;
    if (!any) break;
    discount *= horizon.gamma;
  }
  for (double& value : returns)
    if (!std::isfinite(value)) value = kExploded;
  return steps;
}

void add_up(const std::vector<std::uint64_t>& counts, std::uint64_t* steps) {
  if (steps == nullptr) return;
  for (const std::uint64_t count : counts) *steps += count;
}

}  // namespace

std::vector<double> mean_returns(const NetworkShape& shape, const Columns& weights,
                                 const std::vector<Scenario>& scenarios, const Horizon& horizon,
                                 std::size_t threads, std::uint64_t* steps) {
  const std::size_t count = weights.count();
  std::vector<std::vector<double>> all(scenarios.size(), std::vector<double>(count));
  std::vector<std::uint64_t> counts(scenarios.size());
  parallel_for(scenarios.size(), static_cast<unsigned>(threads), [&](std::size_t k) {
    counts[k] = run_scenario(shape, weights, count, scenarios[k], horizon, all[k]);
  });
  add_up(counts, steps);
  std::vector<double> out(count, 0.0);
  for (const std::vector<double>& returns : all)
    for (std::size_t i = 0; i < count; ++i)
      out[i] += returns[i] / static_cast<double>(scenarios.size());
  return out;
}

std::vector<double> returns_of(const NetworkShape& shape, std::span<const double> weights,
                               const std::vector<Scenario>& scenarios, const Horizon& horizon,
                               std::size_t threads, std::uint64_t* steps) {
  Columns one(weights.size(), 1);
  one.fill(weights);
  std::vector<double> out(scenarios.size());
  std::vector<std::uint64_t> counts(scenarios.size());
  parallel_for(scenarios.size(), static_cast<unsigned>(threads), [&](std::size_t k) {
    counts[k] = run_scenario(shape, one, 1, scenarios[k], horizon, {&out[k], 1});
  });
  add_up(counts, steps);
  return out;
}

SearchResult search_policy(const NetworkShape& shape, std::span<const double> start,
                           const std::vector<Scenario>& scenarios, const Horizon& horizon,
                           const SearchOptions& options, std::uint64_t seed, std::uint32_t episode,
                           std::uint32_t pair) {
  Cma cma(start, {.sigma = options.sigma, .population = options.population}, seed, episode, pair);
  SearchResult out;
  std::vector<double> losses(cma.population());
  double last_best = cma.best_value();
  std::uint32_t idle = 0;
  for (std::uint32_t g = 0; g < options.generations && !cma.is_exhausted(); ++g) {
    const std::vector<double> values =
        mean_returns(shape, cma.ask(), scenarios, horizon, options.threads, &out.steps);
    std::ranges::transform(values, losses.begin(), [](double value) { return -value; });
    cma.tell(losses);
    const double margin = 1e-6 * (1 + std::abs(cma.best_value()));
    idle = cma.best_value() < last_best - margin ? 0 : idle + 1;
    if (idle == 0) last_best = cma.best_value();
    if (idle >= options.patience) break;
  }
  out.weights = cma.best();
  out.value = -cma.best_value();
  return out;
}

}  // namespace hilo
