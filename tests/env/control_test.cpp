#include "hilo/env/control/control.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "hilo/core/error.hpp"
#include "hilo/env/catalogue.hpp"
#include "hilo/policy/function_policy.hpp"
#include "hilo/policy/network_policy.hpp"

namespace hilo {
namespace {

constexpr ControlSystem kSystems[] = {ControlSystem::pendulum, ControlSystem::cart_pole,
                                      ControlSystem::acrobot};

ControlOptions plain(ControlSystem system) {
  ControlOptions out;
  out.system = system;
  out.length_1 = system == ControlSystem::cart_pole ? 0.5 : 1;
  return out;
}

NetworkPolicy some_network(const ControlSimulator& simulator, double noise = 0) {
  const std::size_t d = simulator.observation_space().dimension();
  NetworkShape shape{.observations = simulator.observation_space(),
                     .actions = simulator.action_space(),
                     .angles = {simulator.angles().begin(), simulator.angles().end()},
                     .centre = std::vector<double>(d, 0.1),
                     .scale = std::vector<double>(d, 2.0),
                     .layers = {5}};
  std::vector<double> weights(shape.num_weights());
  for (std::size_t k = 0; k < weights.size(); ++k)
    weights[k] = portable_sin(static_cast<double>(k + 1));
  return {shape, weights, noise};
}

// Energy of the frictionless systems without a torque, from their Lagrangians.
double energy(const ControlOptions& p, std::span<const double> s) {
  const double m1 = p.mass_1, m2 = p.mass_2, l1 = p.length_1, l2 = p.length_2, g = p.gravity;
  switch (p.system) {
    case ControlSystem::pendulum:  // a rod: I = m l^2/3, centre at l/2, upright at 0
      return m1 * l1 * l1 / 6 * s[1] * s[1] + m1 * g * l1 / 2 * std::cos(s[0]);
    case ControlSystem::cart_pole:  // a rod of length 2 l on a cart
      return (m1 + m2) / 2 * s[1] * s[1] + 2.0 / 3 * m2 * l1 * l1 * s[3] * s[3] +
             m2 * l1 * s[1] * s[3] * std::cos(s[2]) + m2 * g * l1 * std::cos(s[2]);
    case ControlSystem::acrobot: {  // moments of inertia of 1 about the centres
      const double c1 = l1 / 2, c2 = l2 / 2, w1 = s[2], w2 = s[2] + s[3];
      const double kinetic = (m1 * c1 * c1 + 1 + m2 * l1 * l1) / 2 * w1 * w1 +
                             (m2 * c2 * c2 + 1) / 2 * w2 * w2 +
                             m2 * l1 * c2 * w1 * w2 * std::cos(s[1]);
      return kinetic - (m1 * c1 + m2 * l1) * g * std::cos(s[0]) -
             m2 * g * c2 * std::cos(s[0] + s[1]);
    }
  }
  return 0;
}

TEST(Control, KeepsItsEnergyWithoutFrictionAndTorque) {
  for (const ControlSystem system : kSystems) {
    ControlOptions options = plain(system);
    options.mass_2 = 0.7;
    options.length_2 = 1.2;
    options.integration = Integration::runge_kutta;
    options.substeps = 50;
    const ControlSimulator simulator(options);
    Columns state(simulator.observation_space().dimension(), 1), action(1, 1);
    std::vector<double> point(state.rows());
    state.fill(system == ControlSystem::pendulum ? std::vector<double>{1.0, 0.5}
                                                 : std::vector<double>{0.3, -0.4, 1.0, 0.5});
    StepResults results;
    results.resize(state.padded());
    const Stream stream(0, Purpose::user);
    state.get(0, point);
    const double before = energy(simulator.options(), point);
    for (std::uint32_t t = 1; t <= 100; ++t)
      simulator.step(state, action, {&stream, 1}, t, results);
    state.get(0, point);
    EXPECT_NEAR(energy(simulator.options(), point), before, 1e-6 * (1 + std::abs(before)))
        << static_cast<int>(system);
  }
}

TEST(Control, EveryPathHasTheSameBits) {
  for (const ControlSystem system : kSystems) {
    ControlOptions options = plain(system);
    options.integration = Integration::runge_kutta;
    options.substeps = 2;
    options.friction_1 = 0.1;
    options.process_noise = 0.01;
    options.delay = 2;
    options.steps = 60;
    std::vector<RolloutSummary> first;
    for (const SimdPath path : simd_paths()) {
      const ControlSimulator simulator(options, path);
      std::vector<RolloutSummary> summaries(37);
      simulator.run_episodes(some_network(simulator, 0.1), {.seed = 5}, {.gamma = 0.99}, summaries);
      if (first.empty()) first = summaries;
      // Whole episodes, one after the other, are the same paths.
      StreamAddress streams{.seed = 5};
      VectorEpisode episode(simulator);
      for (std::size_t i = 0; i < summaries.size(); ++i) {
        EXPECT_EQ(summaries[i].discounted_return, first[i].discounted_return) << name_of(path);
        EXPECT_EQ(summaries[i].steps, 60U);
        streams.first_rollout = static_cast<std::uint32_t>(i);
        simulator.run_episode(some_network(simulator, 0.1), streams, {.gamma = 0.99}, episode);
        EXPECT_EQ(summarise(episode, 0.99).discounted_return, first[i].discounted_return);
        EXPECT_TRUE(episode.truncated);
      }
    }
  }
}

// Gymnasium's Pendulum-v1, computed by hand: semi-implicit Euler with m = l = 1, g = 10, dt = 0.05.
TEST(Control, PendulumIsGymnasiums) {
  const ControlSimulator simulator(plain(ControlSystem::pendulum));
  VectorEpisode episode(simulator);
  const FunctionPolicy constant(simulator, [](const Point&, ActionWords, Points& action) {
    const double torque = 1.5;
    action.push_back(std::span<const double>(&torque, 1));
  });
  simulator.run_episode(constant, {.seed = 3}, {.gamma = 1, .max_steps = 200}, episode);
  ASSERT_EQ(episode.length(), 200U);
  for (std::size_t t = 0; t < episode.length(); ++t) {
    const double angle = episode.observations[t].coordinates()[0];
    const double speed = episode.observations[t].coordinates()[1];
    EXPECT_NEAR(episode.rewards[t], -(angle * angle + 0.1 * speed * speed + 0.001 * 1.5 * 1.5),
                1e-12);
    const double next = std::clamp(speed + 0.05 * (15 * std::sin(angle) + 3 * 1.5), -8.0, 8.0);
    EXPECT_NEAR(episode.observations[t + 1].coordinates()[1], next, 1e-12);
    const double moved = std::remainder(angle + 0.05 * next, 2 * std::numbers::pi);
    if (std::abs(next) < 8) {
      EXPECT_NEAR(episode.observations[t + 1].coordinates()[0], moved, 1e-12);
    }
  }
}

TEST(Control, DelayHoldsActionsBack) {
  ControlOptions options = plain(ControlSystem::pendulum);
  options.delay = 3;
  const ControlSimulator delayed(options), prompt(plain(ControlSystem::pendulum));
  const auto policy = [](const ControlSimulator& simulator) {
    return FunctionPolicy(simulator, [](const Point&, ActionWords, Points& action) {
      const double torque = 2;
      action.push_back(std::span<const double>(&torque, 1));
    });
  };
  VectorEpisode late(delayed), now(prompt);
  delayed.run_episode(policy(delayed), {.seed = 1}, {.gamma = 1, .max_steps = 5}, late);
  prompt.run_episode(policy(prompt), {.seed = 1}, {.gamma = 1, .max_steps = 5}, now);
  // Three steps without a torque, which the reward of the chosen action does not show.
  double angle = late.observations[0].coordinates()[0],
         speed = late.observations[0].coordinates()[1];
  for (std::size_t t = 0; t < 4; ++t) {
    speed += 0.05 * (15 * std::sin(angle) + (t < 3 ? 0 : 6));
    angle += 0.05 * speed;
    EXPECT_NEAR(late.observations[t + 1].coordinates()[1], speed, 1e-12) << t;
  }
  EXPECT_NE(now.observations[1].coordinates()[1], late.observations[1].coordinates()[1]);
  EXPECT_EQ(now.rewards[0], late.rewards[0]);
  Columns states(2, 4), actions(1, 4);
  StepResults results;
  results.resize(states.padded());
  const Stream stream(0, Purpose::user);
  EXPECT_THROW(delayed.step(states, actions, {&stream, 1}, 1, results), Error);
}

TEST(Control, AWallStopsTheCart) {
  ControlOptions options = plain(ControlSystem::cart_pole);
  options.wall = 0.5;
  const ControlSimulator simulator(options);
  VectorEpisode episode(simulator);
  const FunctionPolicy push(simulator, [](const Point&, ActionWords, Points& action) {
    const double force = 10;
    action.push_back(std::span<const double>(&force, 1));
  });
  simulator.run_episode(push, {.seed = 3}, {.gamma = 1}, episode);
  bool touched = false;
  for (std::size_t t = 0; t <= episode.length(); ++t) {
    const double x = episode.observations[t].coordinates()[0];
    EXPECT_LE(x, 0.5);
    if (x == 0.5 && t > 0) touched = touched || episode.observations[t].coordinates()[1] == 0;
  }
  EXPECT_TRUE(touched);
}

TEST(Control, BadOptionsAndActionsAreRefused) {
  ControlOptions options = plain(ControlSystem::pendulum);
  options.mass_1 = 0;
  EXPECT_THROW(ControlSimulator{options}, Error);
  options = plain(ControlSystem::acrobot);
  options.delay = 9;
  EXPECT_THROW(ControlSimulator{options}, Error);
  options = plain(ControlSystem::acrobot);
  options.time_step = std::nan("");
  EXPECT_THROW(ControlSimulator{options}, Error);
  const ControlSimulator simulator(plain(ControlSystem::pendulum));
  const FunctionPolicy wild(simulator, [](const Point&, ActionWords, Points& action) {
    const double torque = 5;
    action.push_back(std::span<const double>(&torque, 1));
  });
  std::vector<RolloutSummary> summaries(3);
  EXPECT_THROW(simulator.run_episodes(wild, {.seed = 1}, {.gamma = 1}, summaries), Error);
}

TEST(Control, KindsAreInTheCatalogue) {
  for (const char* name : {"pendulum", "cart-pole", "acrobot"}) {
    const ProblemKind& kind = problem_kind(name);
    ASSERT_TRUE(kind.has_vectors({}));
    const VectorProblem problem = build_vector_problem(kind, {}, 0);
    EXPECT_TRUE(problem.pair.has_low());
    EXPECT_THROW(build_high_fidelity(kind, {}, 0), Error);
    EXPECT_THROW(build_vector_problem(kind, {{"high.gravty", 1.0}}, 0), Error);
  }
  // A wall and noise are the expensive simulator's: the cheap one has its state space.
  EXPECT_NO_THROW(build_vector_problem(problem_kind("cart-pole"),
                                       {{"high.wall", 1.0}, {"high.observation_noise", 0.1}}, 0));
  EXPECT_THROW(build_vector_problem(problem_kind("random-mdp"), {}, 0), Error);
}

}  // namespace
}  // namespace hilo
