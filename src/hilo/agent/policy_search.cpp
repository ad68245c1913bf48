#include "hilo/agent/policy_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/core/cma.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/parallel.hpp"

namespace hilo {
namespace {

constexpr double kProgress = 1e-4;  // of a value: less than that is none

// Scenarios that advance together where a simulator prefers many paths are in so many groups. Their
// number must not depend on that of threads: what a simulator computes for a path may depend, in
// the last bits, on how many others there are.
constexpr std::size_t kGroups = 4;

// Paths of several scenarios, side by side: those of scenario k are `count` columns from k times
// `stride` on. Paths that have ended go on in vain until all have.
class Batch {
 public:
  Batch(const NetworkShape& shape, const Columns& weights, std::span<const Scenario> scenarios,
        const Horizon& horizon)
      : shape_(shape),
        scenarios_(scenarios),
        horizon_(horizon),
        count_(weights.count()),
        stride_(scenarios.size() > 1 ? weights.padded() : weights.count()),
        columns_((scenarios.size() - 1) * stride_ + count_),
        states_(shape.observations.dimension(), columns_),
        actions_(shape.actions.is_discrete() ? 1 : shape.actions.dimension(), columns_),
        alive_(columns_, 1) {
    results_.resize(states_.padded());
    if (scenarios.size() == 1) {
      states_.fill(scenarios[0].start);
      weights_ = &weights;
      streams_.assign(1, scenarios[0].stream);
      return;
    }
    repeated_.resize(weights.rows(), columns_);
    for (std::size_t k = 0; k < scenarios.size(); ++k)
      for (std::size_t i = 0; i < stride_ && k * stride_ + i < columns_; ++i) {
        states_.set(k * stride_ + i, scenarios[k].start);
        for (std::size_t w = 0; w < weights.rows(); ++w)
          repeated_.at(w, k * stride_ + i) = weights.at(w, i);
        streams_.push_back(scenarios[k].stream);
        if (i >= count_) alive_[k * stride_ + i] = 0;
      }
    weights_ = &repeated_;
  }

  // Returns the number of steps. There is a list of returns for each scenario.
  std::uint64_t run(std::span<std::vector<double>> returns) {
    for (std::vector<double>& list : returns) std::ranges::fill(list, 0.0);
    double discount = 1;
    std::uint64_t steps = 0;
    for (std::uint32_t t = 1; t <= horizon_.max_steps; ++t) {
      step(t);
      steps += count_ * scenarios_.size();
      bool any = false;
      for (std::size_t k = 0; k < scenarios_.size(); ++k)
        for (std::size_t i = 0; i < count_; ++i) {
          const std::size_t column = k * stride_ + i;
          if (alive_[column] == 0) continue;
          returns[k][i] += discount * results_.rewards[column];
          alive_[column] = results_.done[column] == 0 ? 1 : 0;
          any = any || alive_[column] != 0;
        }
      if (!any) break;
      discount *= horizon_.gamma;
    }
    for (std::vector<double>& list : returns)
      for (double& value : list)
        if (!std::isfinite(value)) value = kExplodedReturn;
    return steps;
  }

 private:
  void step(std::uint32_t t) {
    network_actions(shape_, *weights_, states_, actions_);
    for (std::size_t k = 0; k < scenarios_.size(); ++k) {
      if (!(scenarios_[k].action_noise > 0)) continue;
      Rng rng = Rng::of_step(scenarios_[k].stream, t);
      add_action_noise(shape_.actions, scenarios_[k].action_noise, draw_action_words(rng),
                       k * stride_, std::min(k * stride_ + count_, columns_), actions_);
    }
    const bool is_corrected = scenarios_[0].correction.has_residual();
    if (is_corrected) before_ = states_;
    const VectorSteps& simulator = *scenarios_[0].simulator;
    simulator.step(states_, actions_, streams_, t, results_);
    if (scenarios_.size() == 1) {
      scenarios_[0].correction.apply(simulator, before_, actions_, states_, results_);
      return;
    }
    for (std::size_t k = 0; k < scenarios_.size(); ++k) correct_part(k, is_corrected);
  }

  // Each scenario has a correction of its own.
  void correct_part(std::size_t k, bool is_corrected) {
    const std::size_t first = k * stride_;
    const auto take = [&](const Columns& all, Columns& part) {
      if (part.rows() != all.rows()) part.resize(all.rows(), stride_);
      for (std::size_t d = 0; d < all.rows(); ++d)
        std::copy_n(all.row(d) + first, stride_, part.row(d));
    };
    if (is_corrected) take(before_, part_before_);
    take(actions_, part_actions_);
    take(states_, part_states_);
    if (part_results_.rewards.size() != stride_) part_results_.resize(stride_);
    std::copy_n(results_.rewards.data() + first, stride_, part_results_.rewards.data());
    std::copy_n(results_.done.data() + first, stride_, part_results_.done.data());
    scenarios_[k].correction.apply(*scenarios_[k].simulator, part_before_, part_actions_,
                                   part_states_, part_results_);
    for (std::size_t d = 0; d < states_.rows(); ++d)
      std::copy_n(part_states_.row(d), stride_, states_.row(d) + first);
    std::copy_n(part_results_.rewards.data(), stride_, results_.rewards.data() + first);
    std::copy_n(part_results_.done.data(), stride_, results_.done.data() + first);
  }

  const NetworkShape& shape_;
  std::span<const Scenario> scenarios_;
  const Horizon& horizon_;
  std::size_t count_, stride_, columns_;
  Columns states_, actions_, before_, repeated_;
  const Columns* weights_ = nullptr;
  std::vector<Stream> streams_;
  StepResults results_;
  std::vector<std::uint8_t> alive_;
  Columns part_before_, part_actions_, part_states_;
  StepResults part_results_;
};

// Returns of all networks in each of the scenarios.
std::vector<std::vector<double>> all_returns(const NetworkShape& shape, const Columns& weights,
                                             std::span<const Scenario> scenarios,
                                             const Horizon& horizon, std::size_t threads,
                                             std::uint64_t* steps) {
  std::vector<std::vector<double>> out(scenarios.size(), std::vector<double>(weights.count()));
  if (scenarios.empty()) return out;
  const std::size_t groups = scenarios[0].simulator->prefers_many_paths()
                                 ? std::min(kGroups, scenarios.size())
                                 : scenarios.size();
  std::vector<std::uint64_t> counts(groups);
  parallel_for(groups, static_cast<unsigned>(threads), [&](std::size_t g) {
    const std::size_t first = g * scenarios.size() / groups;
    const std::size_t size = (g + 1) * scenarios.size() / groups - first;
    counts[g] = Batch(shape, weights, scenarios.subspan(first, size), horizon)
                    .run(std::span(out).subspan(first, size));
  });
  if (steps != nullptr)
    for (const std::uint64_t count : counts) *steps += count;
  return out;
}

}  // namespace

std::vector<double> mean_returns(const NetworkShape& shape, const Columns& weights,
                                 const std::vector<Scenario>& scenarios, const Horizon& horizon,
                                 std::size_t threads, std::uint64_t* steps) {
  std::vector<double> out(weights.count(), 0.0);
  for (const auto& returns : all_returns(shape, weights, scenarios, horizon, threads, steps))
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] += returns[i] / static_cast<double>(scenarios.size());
  return out;
}

std::vector<double> returns_of(const NetworkShape& shape, std::span<const double> weights,
                               const std::vector<Scenario>& scenarios, const Horizon& horizon,
                               std::size_t threads, std::uint64_t* steps) {
  Columns one(weights.size(), 1);
  one.fill(weights);
  std::vector<double> out;
  for (const auto& returns : all_returns(shape, one, scenarios, horizon, threads, steps))
    out.push_back(returns[0]);
  return out;
}

void require_searchable(const NetworkShape& shape) {
  constexpr std::size_t kMostWeights = 3000;
  if (shape.num_weights() > kMostWeights)
    throw Error(Errc::spec,
                fmt::format("the network of the policy has {} weights, but a search can handle at "
                            "most {}: take fewer layers or units",
                            shape.num_weights(), kMostWeights));
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
    const double margin = kProgress * (1 + std::abs(cma.best_value()));
    idle = cma.best_value() < last_best - margin ? 0 : idle + 1;
    if (idle == 0) last_best = cma.best_value();
    if (idle >= options.patience) break;
  }
  out.weights = cma.best();
  out.value = -cma.best_value();
  return out;
}

}  // namespace hilo
