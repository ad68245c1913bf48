#include "hilo/policy/softmax_policy.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"

namespace hilo {

SoftmaxPolicy::SoftmaxPolicy(NetworkShape shape, std::vector<double> weights)
    : Policy(shape.observations, shape.actions),
      shape_(std::move(shape)),
      weights_(std::move(weights)),
      columns_(weights_.size(), 1) {
  shape_.check();
  if (!shape_.actions.is_discrete() || weights_.size() != shape_.num_weights() ||
      !std::ranges::all_of(weights_, [](double x) { return std::isfinite(x); }))
    throw Error(Errc::usage,
                "a softmax policy needs discrete actions, and as many finite weights as its "
                "network has");
  columns_.fill(weights_);
}

void draw_gumbel(ActionWords words, std::span<double> out) {
  Rng rng(Stream(std::uint64_t{words.explore} << 32 | words.action, Purpose::user));
  for (double& x : out) x = -portable_log(-portable_log(rng.uniform()));
}

void SoftmaxPolicy::act_columns(const Columns& observations, std::span<const ActionWords> words,
                                Columns& actions) const {
  const std::size_t choices = shape_.num_outputs();
  thread_local Columns preferences;
  if (preferences.rows() != choices || preferences.count() != observations.count())
    preferences.resize(choices, observations.count());
  network_preferences(shape_, columns_, observations, preferences);
  std::vector<double> noise(choices);
  for (std::size_t i = 0; i < observations.count(); ++i) {
    draw_gumbel(words[i], noise);
    std::size_t best = 0;
    double largest = preferences.at(0, i) + noise[0];
    for (std::size_t u = 1; u < choices; ++u)
      if (const double x = preferences.at(u, i) + noise[u]; x > largest) {
        largest = x;
        best = u;
      }
    actions.at(0, i) = static_cast<double>(best);
  }
}

void SoftmaxPolicy::act(const Points& observations, std::span<const ActionWords> words,
                        Points& actions) const {
  act_in_columns(*this, observations, words, actions);
}

}  // namespace hilo
