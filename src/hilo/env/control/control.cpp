#include "hilo/env/control/control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "hilo/core/error.hpp"
#include "hilo/env/control/detail/advance.hpp"
#include "hilo/env/control/detail/quantities.hpp"

namespace hilo {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kBlock = 256;  // paths that advance together; their states stay in the cache

// Rows of the positions and velocities in a state.
struct Layout {
  std::size_t freedom;  // degrees of
  std::array<std::size_t, 2> q, v;
  std::vector<std::size_t> angles;
  std::vector<double> bounds;   // of the state, on either side
  double action;                // its bound
  std::array<double, 2> speed;  // limits of velocities, those of Gymnasium's environments
};

const Layout& layout_of(ControlSystem system) {
  static const std::array<Layout, 3> all = {{
      {1, {0, 0}, {1, 1}, {0}, {kPi, 8}, 2, {8, 0}},
      {2, {0, 2}, {1, 3}, {2}, {kInfinity, kInfinity, kPi, kInfinity}, 10, {kInfinity, kInfinity}},
      {2, {0, 1}, {2, 3}, {0, 1}, {kPi, kPi, 4 * kPi, 9 * kPi}, 1, {4 * kPi, 9 * kPi}},
  }};
  return all[static_cast<std::size_t>(system)];
}

Space symmetric(const std::vector<double>& bounds) {
  std::vector<double> low = bounds;
  for (double& bound : low) bound = -bound;
  return Space::box(low, bounds);
}

Space states_of(const ControlOptions& options) {
  std::vector<double> bounds = layout_of(options.system).bounds;
  if (options.observation_noise > 0)
    bounds.assign(bounds.size(), kInfinity);
  else if (options.system == ControlSystem::cart_pole && options.wall > 0)
    bounds[0] = options.wall;
  return symmetric(bounds);
}

void require(bool holds, const char* what, double value, const char* allowed) {
  if (!holds)
    throw Error(Errc::usage,
                fmt::format("a control problem's {} is {}, but must be {}", what, value, allowed));
}

// Uniform on (-reach, reach).
double around_zero(Rng& rng, double reach) { return reach * (2 * rng.uniform() - 1); }

void draw_start(ControlSystem system, Rng& rng, std::span<double> state) {
  if (system == ControlSystem::pendulum) {
    state[0] = around_zero(rng, kPi);
    state[1] = around_zero(rng, 1);
    return;
  }
  for (double& x : state) x = around_zero(rng, 0.1);
  // Hanging, where the angle has its seam.
  if (system == ControlSystem::cart_pole) state[2] += state[2] < 0 ? kPi : -kPi;
}

}  // namespace

ControlSimulator::ControlSimulator(const ControlOptions& options, SimdPath path)
    : ControlSimulator(options, states_of(options), path) {}

ControlSimulator::ControlSimulator(const ControlOptions& options, const Space& states,
                                   SimdPath path)
    : VectorSimulator(states, symmetric({layout_of(options.system).action})),
      options_(options),
      path_(path) {
  require_simd_path(path);
  if (options_.steps == 0) options_.steps = options.system == ControlSystem::pendulum ? 200 : 150;
  for (const double value : {options.mass_1, options.mass_2, options.length_1, options.length_2})
    require(value > 0 && value < 1e6, "mass or length", value, "positive");
  for (const double value : {options.friction_1, options.friction_2, options.process_noise,
                             options.observation_noise, options.wall})
    require(value >= 0 && value < 1e6, "friction, noise or wall", value, "0 or positive");
  require(std::abs(options.strength) < 1e6, "strength", options.strength, "a finite number");
  require(std::abs(options.gravity) < 1e6, "gravity", options.gravity, "a finite number");
  require(options.time_step > 0 && options.time_step <= 10, "time step", options.time_step,
          "positive, and at most 10 seconds");
  require(options.substeps >= 1 && options.substeps <= 1000, "number of substeps", options.substeps,
          "from 1 to 1000");
  require(options.delay <= kMostDelay, "delay", options.delay, "from 0 to 8 steps");
}

std::span<const std::size_t> ControlSimulator::angles() const {
  return layout_of(options_.system).angles;
}

void ControlSimulator::start(const StreamAddress& streams, Columns& states) const {
  std::array<double, 4> state = {};
  const std::span<double> used(state.data(), observation_space().dimension());
  for (std::size_t i = 0; i < states.padded(); ++i) {
    Rng rng = Rng::of_step(
        streams.stream(0, static_cast<std::uint32_t>(std::min(i, states.count() - 1))), 0);
    draw_start(options_.system, rng, used);
    if (options_.wall > 0) used[0] = std::clamp(used[0], -options_.wall, options_.wall);
    states.set(i, used);
  }
}

// Paths that advance together. With a delay, actions wait in rows of a ring.
class ControlSimulator::Paths {
 public:
  Paths(const ControlSimulator& simulator, const Policy& policy, const StreamAddress& streams,
        std::size_t first, std::size_t count)
      : simulator_(simulator),
        policy_(policy),
        options_(simulator.options_),
        states_(simulator.observation_space().dimension(), count),
        seen_(states_.rows(), count),
        actions_(1, count),
        waiting_(options_.delay, count),
        noise_(layout_of(options_.system).freedom, count),
        rewards_(1, count),
        words_(count),
        is_random_(policy.is_random() || options_.process_noise > 0 ||
                   options_.observation_noise > 0) {
    StreamAddress own = streams;
    own.first_rollout += static_cast<std::uint32_t>(first);
    for (std::uint32_t i = 0; i < count; ++i) streams_.push_back(own.stream(0, i));
    simulator.start(own, states_);
    if (options_.observation_noise > 0) {
      // The reset has drawn its words; noise comes after them.
      std::array<double, 4> drawn = {};
      for (std::size_t i = 0; i < count; ++i) {
        Rng rng = Rng::of_step(streams_[i], 0);
        draw_start(options_.system, rng, std::span(drawn.data(), states_.rows()));
        look(i, &rng);
      }
    } else {
      look_at_all();
    }
  }

  const Columns& seen() const { return seen_; }
  const Columns& actions() const { return actions_; }
  const double* rewards() const { return rewards_.row(0); }

  // `t` counts steps of the path from 0, `stream_step` is their step in the streams.
  void step(std::uint32_t t, std::uint32_t stream_step) {
    const std::size_t count = states_.count();
    rngs_.clear();
    if (is_random_)
      for (std::size_t i = 0; i < count; ++i) {
        rngs_.push_back(Rng::of_step(streams_[i], stream_step));
        words_[i] = draw_action_words(rngs_.back());
      }
    policy_.act_columns(seen_, words_, actions_);
    check_actions();

    const double* now = actions_.row(0);
    double* slot = options_.delay > 0 ? waiting_.row(t % options_.delay) : nullptr;
    if (slot != nullptr) {
      std::swap_ranges(slot, slot + waiting_.padded(), actions_.row(0));
    }
    // After the swap the row of actions has those that take effect now, and the slot the new ones.
    const double* chosen = slot != nullptr ? slot : now;
    draw_noise();
    simulator_.advance_rows(states_, now, chosen, options_.process_noise > 0 ? &noise_ : nullptr,
                            rewards_.row(0), true);
    if (slot != nullptr) std::copy_n(slot, waiting_.padded(), actions_.row(0));
    if (options_.observation_noise > 0)
      for (std::size_t i = 0; i < count; ++i) look(i, &rngs_[i]);
    else
      look_at_all();
  }

 private:
  void draw_noise() {
    if (options_.process_noise <= 0) return;
    for (std::size_t i = 0; i < states_.count(); ++i)
      for (std::size_t k = 0; k < noise_.rows(); ++k) noise_.at(k, i) = rngs_[i].normal();
  }
  void look(std::size_t i, Rng* rng) {
    for (std::size_t d = 0; d < states_.rows(); ++d)
      seen_.at(d, i) = states_.at(d, i) + options_.observation_noise * rng->normal();
  }
  void look_at_all() {
    for (std::size_t d = 0; d < states_.rows(); ++d)
      std::copy_n(states_.row(d), states_.padded(), seen_.row(d));
  }
  void check_actions() const {
    const double bound = layout_of(options_.system).action;
    bool is_inside = actions_.rows() == 1 && actions_.count() == states_.count();
    const double* row = actions_.row(0);
    for (std::size_t i = 0; is_inside && i < states_.count(); ++i)
      is_inside = std::abs(row[i]) <= bound;
    if (is_inside) return;
    for (std::size_t i = 0; i < states_.count(); ++i)
      if (!(std::abs(row[i]) <= bound))
        require_in_space(simulator_.action_space(), std::span<const double>(row + i, 1),
                         "the action");
  }

  const ControlSimulator& simulator_;
  const Policy& policy_;
  const ControlOptions& options_;
  Columns states_, seen_, actions_, waiting_, noise_, rewards_;
  std::vector<ActionWords> words_;
  std::vector<Stream> streams_;
  std::vector<Rng> rngs_;
  bool is_random_;
};

void ControlSimulator::advance_rows(Columns& states, const double* action, const double* chosen,
                                    const Columns* noise, double* rewards, bool clamps) const {
  const Layout& layout = layout_of(options_.system);
  const bool has_two = layout.freedom == 2;
  // Left to the caller where the declared box has the same bound.
  const auto bound = [&](std::size_t k) {
    const bool is_declared = std::isfinite(observation_space().high()[layout.v[k]]);
    return clamps || !is_declared ? layout.speed[k] : kInfinity;
  };
  hilo::advance(path_, options_,
                {.q = {states.row(layout.q[0]), states.row(layout.q[1])},
                 .v = {states.row(layout.v[0]), states.row(layout.v[1])},
                 .noise = {noise != nullptr ? noise->row(0) : nullptr,
                           noise != nullptr && has_two ? noise->row(1) : nullptr},
                 .action = action,
                 .chosen = chosen,
                 .reward = rewards,
                 .speed_bound = {bound(0), bound(1)},
                 .padded = states.padded()});
}

std::vector<std::string> ControlSimulator::tunable() const {
  std::vector<std::string> out;
  for (const Quantity& quantity : quantities_of(options_.system)) out.emplace_back(quantity.name);
  return out;
}

std::shared_ptr<const VectorSteps> ControlSimulator::tuned(std::span<const std::string> names,
                                                           std::span<const double> values) const {
  ControlOptions other = options_;
  const std::vector<Quantity> all = quantities_of(options_.system);
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto found = std::ranges::find(all, names[k], &Quantity::name);
    if (found == all.end() || !(values[k] >= found->least))
      throw Error(Errc::spec, fmt::format("{} cannot be {}", names[k], values[k]));
    other.*found->member = values[k];
  }
  return std::make_shared<const ControlSimulator>(other, observation_space(), path_);
}

void ControlSimulator::step(Columns& states, const Columns& actions,
                            std::span<const Stream> streams, std::uint32_t step,
                            StepResults& out) const {
  if (options_.delay > 0 || options_.observation_noise > 0)
    throw Error(Errc::usage,
                "a control problem with a delay or with noisy observations cannot be started in "
                "any state: what is seen is not the whole state");
  Columns noise;
  if (options_.process_noise > 0) {
    noise.resize(layout_of(options_.system).freedom, states.count());
    for (std::size_t i = 0; i < states.count(); ++i) {
      Rng rng = Rng::of_step(streams[streams.size() == 1 ? 0 : i], step);
      (void)draw_action_words(rng);
      for (std::size_t k = 0; k < noise.rows(); ++k) noise.at(k, i) = rng.normal();
    }
  }
  std::ranges::fill(out.done, std::uint8_t{0});
  advance_rows(states, actions.row(0), actions.row(0), noise.rows() > 0 ? &noise : nullptr,
               out.rewards.data(), false);
}

void ControlSimulator::run_episode(const Policy& policy, const StreamAddress& streams,
                                   const Horizon& horizon, VectorEpisode& episode) const {
  check(policy, streams, horizon, 1);
  const PolicyPath path(policy, Rng::of_step(streams.stream(), 0).u32() >> 1);
  Paths paths(*this, policy, streams, 0, 1);
  episode.clear();
  std::array<double, 4> point = {};
  const std::span<double> used(point.data(), observation_space().dimension());
  paths.seen().get(0, used);
  episode.observations.push_back(std::span<const double>(used));
  for (std::uint32_t t = 0; t < std::min(horizon.max_steps, options_.steps); ++t) {
    paths.step(t, streams.first_step + t + 1);
    paths.seen().get(0, used);
    episode.actions.push_back(std::span<const double>(paths.actions().row(0), 1));
    episode.rewards.push_back(paths.rewards()[0]);
    episode.observations.push_back(std::span<const double>(used));
    check_step(episode);
  }
  episode.truncated = true;
}

void ControlSimulator::run_episodes(const Policy& policy, const StreamAddress& streams,
                                    const Horizon& horizon,
                                    std::span<RolloutSummary> summaries) const {
  check(policy, streams, horizon, summaries.size());
  if (!policy.is_memoryless()) {
    VectorEpisode episode(*this);
    StreamAddress own = streams;
    for (RolloutSummary& summary : summaries) {
      run_episode(policy, own, horizon, episode);
      summary = summarise(episode, horizon.gamma);
      ++own.first_rollout;
    }
    return;
  }
  for (std::size_t first = 0; first < summaries.size(); first += kBlock) {
    const std::size_t count = std::min(kBlock, summaries.size() - first);
    Paths paths(*this, policy, streams, first, count);
    std::vector<double> sums(count), returns(count);
    double discount = 1;
    const std::uint32_t steps = std::min(horizon.max_steps, options_.steps);
    for (std::uint32_t t = 0; t < steps; ++t) {
      paths.step(t, streams.first_step + t + 1);
      const double* rewards = paths.rewards();
      for (std::size_t i = 0; i < count; ++i) {
        sums[i] += rewards[i];
        returns[i] += discount * rewards[i];
      }
      discount *= horizon.gamma;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!std::isfinite(sums[i]))
        throw Error(Errc::simulator, "rewards of a control problem are not finite any more");
      summaries[first + i] = {.discounted_return = returns[i],
                              .reward_sum = sums[i],
                              .steps = steps,
                              .truncated = true};
    }
  }
}

}  // namespace hilo
