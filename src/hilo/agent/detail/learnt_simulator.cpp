#include "hilo/agent/detail/learnt_simulator.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/model/corrected_steps.hpp"

namespace hilo {
namespace {

constexpr std::uint32_t kExplorationPair = 1;  // of streams of low roll-outs

}  // namespace

LearntSimulator::LearntSimulator(std::shared_ptr<const VectorSteps> slow)
    : slow_(std::move(slow)),
      data_(slow_->state_space(), slow_->control_space(),
            {slow_->angles().begin(), slow_->angles().end()}),
      ends_(slow_->state_space().dimension()) {}

void LearntSimulator::explore(const NetworkShape& shape,
                              const std::vector<std::vector<double>>& networks, double noise,
                              std::uint64_t steps, std::uint32_t max_length, std::uint64_t seed,
                              std::uint32_t round) {
  const std::size_t dimension = shape.observations.dimension();
  const std::size_t width = shape.actions.is_discrete() ? 1 : shape.actions.dimension();
  const std::uint64_t end = data_.size() + steps;
  std::vector<double> before(dimension), after(dimension), action(width);
  for (std::uint32_t path = 0; data_.size() < end; ++path) {
    Columns states(dimension, 1), actions(width, 1);
    slow_->start({.seed = seed,
                  .purpose = Purpose::low_rollout,
                  .episode = round,
                  .first_pair = kExplorationPair,
                  .first_rollout = path},
                 states);
    const Stream stream(seed, Purpose::low_rollout, round, kExplorationPair, path);
    const std::vector<double>& weights = networks[path % networks.size()];
    Columns columns(weights.size(), 1);
    columns.fill(weights);
    StepResults results;
    results.resize(states.padded());
    states.get(0, before);
    ends_.add(before, false);
    for (std::uint32_t t = 0; t < max_length && data_.size() < end; ++t) {
      network_actions(shape, columns, states, actions);
      Rng rng = Rng::of_step(stream, t + 1);
      add_action_noise(shape.actions, noise, draw_action_words(rng), 0, 1, actions);
      slow_->step(states, actions, {&stream, 1}, t + 1, results);
      states.get(0, after);
      actions.get(0, action);
      data_.add(num_paths_, before, action, after, results.rewards[0], before, 0);
      if (data_.seen.back() == 0) break;  // it exploded
      ends_.add(after, results.done[0] != 0);
      if (results.done[0] != 0) break;
      // It may leave it to its caller to stay in the box. What is learnt from has not been clamped.
      Correction().apply(*slow_, states, actions, states, results);
      states.get(0, before);
    }
    ++num_paths_;
  }
  if (std::ranges::all_of(data_.seen, [](double seen) { return seen == 0; }))
    throw Error(Errc::simulator,
                "the cheap simulator gave states or rewards that are not finite numbers, wherever "
                "it was tried");
}

void LearntSimulator::fit(const ResidualOptions& options, std::uint64_t seed) {
  model_ = std::make_shared<const ResidualModel>(data_, options, seed, model_.get());
  ends_.fit();
}

std::shared_ptr<const VectorSteps> LearntSimulator::simulator() const {
  auto nothing =
      std::make_shared<const NoSimulator>(data_.states, data_.actions, data_.angles, slow_);
  return std::make_shared<const CorrectedSteps>(
      nothing, Correction(model_, model_ != nullptr ? model_->mean() : ResidualSample(), ends_));
}

void LearntSimulator::restore(ResidualData data, EndLimits ends, const ProcessScales& scales,
                              const ResidualOptions& options, std::uint64_t seed) {
  data_ = std::move(data);
  ends_ = std::move(ends);
  model_ = std::make_shared<const ResidualModel>(data_, options, seed, scales);
}

}  // namespace hilo
