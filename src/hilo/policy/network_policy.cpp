#include "hilo/policy/network_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/policy/detail/network_kernel.hpp"

namespace hilo {

std::size_t NetworkShape::num_weights() const {
  std::size_t inputs = num_inputs(), sum = 0;
  for (const std::size_t units : layers) {
    sum += units * (inputs + 1);
    inputs = units;
  }
  return sum + num_outputs() * (inputs + 1);
}

bool NetworkShape::is_angle(std::size_t coordinate) const {
  return std::ranges::binary_search(angles, coordinate);
}

void NetworkShape::check() const {
  const auto wrong = [](const std::string& what) {
    throw Error(Errc::usage, "a network for a policy " + what);
  };
  if (observations.is_discrete() || observations.dimension() == 0)
    wrong("needs observations that are vectors, not numbered ones");
  if (!actions.is_discrete())
    for (std::size_t d = 0; d < actions.dimension(); ++d)
      if (!std::isfinite(actions.low()[d]) || !std::isfinite(actions.high()[d]))
        wrong(fmt::format("needs actions in a bounded box, but they are {}", actions.describe()));
  if (num_inputs() > kMostUnits || num_outputs() > kMostUnits || layers.size() > 2 ||
      std::ranges::any_of(layers, [](std::size_t n) { return n < 1 || n > kMostUnits; }))
    wrong(
        fmt::format("has at most two layers of 1 to {0} units, and at most {0} inputs and {0} "
                    "outputs",
                    kMostUnits));
  if (centre.size() != observations.dimension() || scale.size() != observations.dimension() ||
      !std::ranges::all_of(centre, [](double x) { return std::isfinite(x); }) ||
      !std::ranges::all_of(scale, [](double x) { return x > 0 && std::isfinite(x); }))
    wrong("needs a finite centre and a positive scale for each coordinate of an observation");
  if (!std::ranges::is_sorted(angles) || std::ranges::adjacent_find(angles) != angles.end() ||
      (!angles.empty() && angles.back() >= observations.dimension()))
    wrong("needs angles that are coordinates of an observation, rising");
}

namespace {

void run(const NetworkShape& shape, const Columns& weights, const Columns& observations,
         Columns& out, bool gives_preferences, SimdPath path) {
  const bool is_shared = weights.count() == 1;
  if (weights.rows() != shape.num_weights() ||
      (!is_shared && weights.padded() != observations.padded()) ||
      out.padded() != observations.padded())
    throw Error(Errc::usage, "weights or actions do not fit the shape of a network");
  std::array<std::uint8_t, NetworkShape::kMostUnits> is_angle;
  std::array<double, NetworkShape::kMostUnits> inverse_scale;
  std::fill_n(is_angle.begin(), shape.scale.size(), std::uint8_t{0});
  for (const std::size_t d : shape.angles) is_angle[d] = 1;
  for (std::size_t d = 0; d < shape.scale.size(); ++d) inverse_scale[d] = 1 / shape.scale[d];
  run_network(path, {.shape = &shape,
                     .is_angle = is_angle.data(),
                     .inverse_scale = inverse_scale.data(),
                     .outputs = shape.num_outputs(),
                     .weights = weights.row(0),
                     .weight_stride = weights.padded(),
                     .is_shared = is_shared,
                     .observations = observations.row(0),
                     .actions = out.row(0),
                     .gives_preferences = gives_preferences,
                     .stride = observations.padded(),
                     .padded = observations.padded()});
}

}  // namespace

void network_actions(const NetworkShape& shape, const Columns& weights, const Columns& observations,
                     Columns& actions, SimdPath path) {
  run(shape, weights, observations, actions, false, path);
}

void network_preferences(const NetworkShape& shape, const Columns& weights,
                         const Columns& observations, Columns& preferences, SimdPath path) {
  if (!shape.actions.is_discrete() || preferences.rows() != shape.num_outputs())
    throw Error(Errc::usage, "preferences are those of discrete actions, a row for each");
  run(shape, weights, observations, preferences, true, path);
}

NetworkPolicy::NetworkPolicy(NetworkShape shape, std::vector<double> weights, double noise)
    : Policy(shape.observations, shape.actions),
      shape_(std::move(shape)),
      weights_(std::move(weights)),
      columns_(weights_.size(), 1),
      noise_(noise) {
  shape_.check();
  if (weights_.size() != shape_.num_weights())
    throw Error(Errc::usage, fmt::format("a network of this shape has {} weights, but {} are given",
                                         shape_.num_weights(), weights_.size()));
  if (!std::ranges::all_of(weights_, [](double x) { return std::isfinite(x); }) || !(noise >= 0))
    throw Error(Errc::usage, "the weights and the noise of a network must be finite numbers");
  columns_.fill(weights_);
}

// As many normal numbers as there are coordinates: the two words are the key of a stream.
void draw_action_noise(const Space& box, double noise, ActionWords words, std::span<double> added) {
  Rng rng(Stream(std::uint64_t{words.explore} << 32 | words.action, Purpose::user));
  for (std::size_t d = 0; d < box.dimension(); ++d)
    added[d] = noise * (box.high()[d] - box.low()[d]) / 2 * rng.normal();
}

void add_action_noise(const Space& space, double noise, ActionWords words, std::size_t first,
                      std::size_t last, Columns& actions) {
  if (space.is_discrete()) {
    if ((static_cast<double>(words.explore) + 0.5) * 0x1p-32 >= noise) return;
    const std::uint32_t drawn = scale_below(words.action, static_cast<std::uint32_t>(space.size()));
    for (std::size_t i = first; i < last; ++i) actions.at(0, i) = drawn;
    return;
  }
  std::array<double, NetworkShape::kMostUnits> added = {};
  draw_action_noise(space, noise, words, added);
  for (std::size_t d = 0; d < space.dimension(); ++d)
    for (std::size_t i = first; i < last; ++i)
      actions.at(d, i) = std::clamp(actions.at(d, i) + added[d], space.low()[d], space.high()[d]);
}

void NetworkPolicy::act_columns(const Columns& observations, std::span<const ActionWords> words,
                                Columns& actions) const {
  network_actions(shape_, columns_, observations, actions);
  if (noise_ <= 0) return;
  for (std::size_t i = 0; i < observations.count(); ++i)
    add_action_noise(action_space(), noise_, words[i], i, i + 1, actions);
}

void act_in_columns(const Policy& policy, const Points& observations,
                    std::span<const ActionWords> words, Points& actions) {
  const Space& space = policy.action_space();
  Columns seen(policy.observation_space().dimension(), observations.size());
  Columns chosen(space.is_discrete() ? 1 : space.dimension(), observations.size());
  for (std::size_t i = 0; i < observations.size(); ++i) seen.set(i, observations[i].coordinates());
  policy.act_columns(seen, words, chosen);
  actions.clear();
  std::vector<double> point(chosen.rows());
  for (std::size_t i = 0; i < observations.size(); ++i) {
    chosen.get(i, point);
    if (space.is_discrete())
      actions.push_back(static_cast<std::uint64_t>(point[0]));
    else
      actions.push_back(std::span<const double>(point));
  }
}

void NetworkPolicy::act(const Points& observations, std::span<const ActionWords> words,
                        Points& actions) const {
  act_in_columns(*this, observations, words, actions);
}

}  // namespace hilo
