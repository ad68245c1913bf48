#pragma once

#include <array>
#include <vector>

#include "hilo/env/vector_environment.hpp"
#include "hilo/env/vector_steps.hpp"

namespace hilo::testing {

// An environment whose observation is its state, as a cheap simulator. It must make a state of an
// observation: `state_at(std::span<const double>)`.
template <VectorEnvironment E>
class StepsOf final : public VectorSteps {
 public:
  // With a shift, its random numbers have nothing to do with those of other simulators.
  explicit StepsOf(E env, std::uint64_t seed_shift = 0)
      : env_(std::move(env)),
        states_(env_.observation_space()),
        controls_(env_.action_space()),
        seed_shift_(seed_shift) {}

  const Space& state_space() const override { return states_; }
  const Space& control_space() const override { return controls_; }

  void start(const StreamAddress& streams, Columns& states) const override {
    StreamAddress own = streams;
    own.seed += seed_shift_;
    for (std::uint32_t i = 0; i < states.count(); ++i) {
      Rng rng = Rng::of_step(own.stream(0, i), 0);
      const auto seen = env_.observe(env_.reset(rng));
      states.set(i, std::span<const double>(seen));
    }
  }

  void step(Columns& states, const Columns& actions, std::span<const Stream> streams,
            std::uint32_t step, StepResults& out) const override {
    std::vector<double> point(states.rows()), control(actions.rows());
    for (std::size_t i = 0; i < states.count(); ++i) {
      const Stream& given = streams[streams.size() == 1 ? 0 : i];
      const Stream own(given.seed() + seed_shift_, Purpose::user, given.episode(),
                       given.pair_and_purpose() >> 8, given.rollout());
      Rng rng = Rng::of_step(seed_shift_ == 0 ? given : own, step);
      (void)draw_action_words(rng);
      states.get(i, point);
      actions.get(i, control);
      const Point action = controls_.is_discrete() ? Point(static_cast<std::uint64_t>(control[0]))
                                                   : Point(std::span<const double>(control));
      const auto next = env_.step(env_.state_at(point), action, rng);
      const auto seen = env_.observe(next.next);
      states.set(i, std::span<const double>(seen));
      out.rewards[i] = next.reward;
      out.done[i] = next.done ? 1 : 0;
    }
  }

 private:
  E env_;
  Space states_, controls_;
  std::uint64_t seed_shift_;
};

}  // namespace hilo::testing
