#pragma once

#include <cstdint>
#include <memory>

#include "hilo/core/simd.hpp"
#include "hilo/env/vector_steps.hpp"

namespace hilo {

// Three classics of control, each with its torque or force limited so that the pole must be swung
// up by pumping energy into it.
//
//   pendulum    state: angle, velocity              action: torque +-2
//               reward of a step: -(angle^2 + 0.1 v^2 + 0.001 u^2)
//   cart_pole   state: x, x', angle, velocity       action: force +-10
//               reward of a step: (1 + cos)/2 - 0.01 x^2 - 0.0005 u^2
//   acrobot     state: two angles, two velocities   action: torque +-1
//               reward of a step: (height + 2)/4, links of length 1
//
// An angle of 0 is upright for pendulum and cart-pole and hanging for the acrobot, whose second
// angle is relative to the first link. Rewards belong to the state and the action before the step,
// so that two simulators of the same system agree on them. No state is terminal.
enum class ControlSystem : std::uint8_t { pendulum, cart_pole, acrobot };

enum class Integration : std::uint8_t { euler, runge_kutta };  // Euler's is semi-implicit

struct ControlOptions {
  ControlSystem system = ControlSystem::pendulum;
  // Of the pendulum; of the cart and the pole; of both links.
  double mass_1 = 1, mass_2 = 1;
  double length_1 = 1, length_2 = 1;      // of the pole half of it, as usual; of both links
  double friction_1 = 0, friction_2 = 0;  // of cart and pole; of both joints
  double strength = 1;                    // factor of the torque or force
  double gravity = 10;
  Integration integration = Integration::euler;
  std::uint32_t substeps = 1;
  double time_step = 0.05;
  std::uint32_t delay = 0;       // steps until an action takes effect; zero action until then
  double process_noise = 0;      // standard deviation that a step adds to every velocity
  double observation_noise = 0;  // standard deviation that is added to what is seen
  std::uint32_t steps = 0;  // of an episode, which is cut then; 0: 200 for the pendulum, else 150
  double wall = 0;          // cart-pole: the cart stops at +-wall; 0: there is none
};

// A control problem as a simulator: whole episodes, many of them in lockstep, and single steps from
// anywhere if the observation is the state.
class ControlSimulator final : public VectorSimulator, public VectorSteps {
 public:
  static constexpr std::uint32_t kMostDelay = 8;

  explicit ControlSimulator(const ControlOptions& options, SimdPath path = simd_path());
  // With the state space of another simulator of the same system, which may have a wall or noise.
  ControlSimulator(const ControlOptions& options, const Space& states, SimdPath path = simd_path());

  const ControlOptions& options() const { return options_; }
  std::uint32_t time_limit() const override { return options_.steps; }

  void run_episode(const Policy& policy, const StreamAddress& streams, const Horizon& horizon,
                   VectorEpisode& episode) const override;
  void run_episodes(const Policy& policy, const StreamAddress& streams, const Horizon& horizon,
                    std::span<RolloutSummary> summaries) const override;

  const Space& state_space() const override { return observation_space(); }
  const Space& control_space() const override { return action_space(); }
  std::span<const std::size_t> angles() const override;
  std::vector<std::string> tunable() const override;
  std::shared_ptr<const VectorSteps> tuned(std::span<const std::string> names,
                                           std::span<const double> values) const override;
  void start(const StreamAddress& streams, Columns& states) const override;
  // Not with noisy observations, which do not say where an episode begins.
  bool draw_starts(const StreamAddress& streams, Columns& states) const override {
    if (options_.observation_noise > 0) return false;
    start(streams, states);
    return true;
  }
  // Throws Errc::usage with a delay or with noisy observations, where the observation is not the
  // state.
  void step(Columns& states, const Columns& actions, std::span<const Stream> streams,
            std::uint32_t step, StepResults& out) const override;

 private:
  class Paths;

  // `action` takes effect now and `chosen` was chosen now; they differ if there is a delay.
  void advance_rows(Columns& states, const double* action, const double* chosen,
                    const Columns* noise, double* rewards, bool clamps) const;

  ControlOptions options_;
  SimdPath path_;
};

}  // namespace hilo
