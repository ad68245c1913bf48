#include <fmt/format.h>

#include "hilo/env/control/control.hpp"
#include "hilo/env/detail/kinds.hpp"

namespace hilo {
namespace {

// A number of one system, and its name in a spec.
struct Quantity {
  const char* name;
  const char* description;
  double ControlOptions::*member;
  double high, low;  // defaults of the two sides
  double least;
};

constexpr double kMost = 1000;

std::vector<Quantity> quantities_of(ControlSystem system) {
  std::vector<Quantity> out;
  const auto add = [&](const char* name, const char* description, double ControlOptions::*member,
                       double high, double low, double least = 0) {
    out.push_back({name, description, member, high, low, least});
  };
  constexpr double kSmall = 1e-3;
  using Options = ControlOptions;
  switch (system) {
    case ControlSystem::pendulum:
      add("mass", "of the pendulum", &Options::mass_1, 1.4, 1, kSmall);
      add("length", "of the pendulum", &Options::length_1, 1, 1, kSmall);
      add("friction", "of the joint", &Options::friction_1, 0.15, 0);
      add("strength", "factor of the torque", &Options::strength, 0.85, 1, -kMost);
      add("gravity", "", &Options::gravity, 10, 10, -kMost);
      add("time_step", "in seconds", &Options::time_step, 0.05, 0.05, kSmall);
      break;
    case ControlSystem::cart_pole:
      add("cart_mass", "of the cart", &Options::mass_1, 1, 1.2, kSmall);
      add("pole_mass", "of the pole", &Options::mass_2, 0.5, 0.3, kSmall);
      add("half_length", "of the pole", &Options::length_1, 0.5, 0.6, kSmall);
      add("cart_friction", "of the cart", &Options::friction_1, 0.3, 0);
      add("pole_friction", "of the joint", &Options::friction_2, 0.02, 0);
      add("strength", "factor of the force", &Options::strength, 0.9, 1, -kMost);
      add("gravity", "", &Options::gravity, 9.8, 9.8, -kMost);
      add("time_step", "in seconds", &Options::time_step, 0.04, 0.04, kSmall);
      add("wall", "the cart stops at this distance; 0: there is no wall", &Options::wall, 0, 0);
      break;
    case ControlSystem::acrobot:
      add("mass_1", "of the first link", &Options::mass_1, 1, 1, kSmall);
      add("mass_2", "of the second link", &Options::mass_2, 1.3, 1, kSmall);
      add("length_1", "of the first link", &Options::length_1, 1, 1, kSmall);
      add("length_2", "of the second link", &Options::length_2, 1.1, 1, kSmall);
      add("friction_1", "of the first joint", &Options::friction_1, 0.1, 0);
      add("friction_2", "of the second joint", &Options::friction_2, 0.1, 0);
      add("strength", "the largest torque", &Options::strength, 1.8, 2, -kMost);
      add("gravity", "", &Options::gravity, 9.8, 9.8, -kMost);
      add("time_step", "in seconds", &Options::time_step, 0.1, 0.1, kSmall);
      break;
  }
  add("process_noise", "standard deviation that a step adds to every velocity",
      &Options::process_noise, 0, 0);
  return out;
}

std::vector<ParameterInfo> parameters_of(ControlSystem system) {
  std::vector<ParameterInfo> out;
  for (const bool is_high : {true, false}) {
    const std::string side = is_high ? "high" : "low";
    const auto add = [&](ParameterInfo info) {
      info.name = fmt::format("{}.{}", side, info.name);
      info.low_fidelity_only = !is_high;
      out.push_back(std::move(info));
    };
    for (const Quantity& q : quantities_of(system))
      add({.name = q.name,
           .description = q.description[0] != 0 ? q.description : q.name,
           .default_value = is_high ? q.high : q.low,
           .low = q.least,
           .high = kMost});
    add({.name = "integration",
         .description = "how the equations are integrated",
         .default_value = is_high ? "runge-kutta" : "euler",
         .choices = {"euler", "runge-kutta"}});
    add({.name = "substeps",
         .description = "of the integration in a time step",
         .default_value = std::int64_t{is_high ? 10 : 1},
         .low = 1,
         .high = 1000});
    if (!is_high) continue;  // a cheap simulator must show its whole state
    add({.name = "delay",
         .description = "steps until an action takes effect",
         .default_value = std::int64_t{0},
         .low = 0,
         .high = ControlSimulator::kMostDelay});
    add({.name = "observation_noise",
         .description = "standard deviation that is added to what is seen",
         .default_value = 0.0,
         .low = 0,
         .high = kMost});
  }
  out.push_back({.name = "steps",
                 .description = "of an episode, which is cut then",
                 .default_value = std::int64_t{system == ControlSystem::pendulum ? 200 : 150},
                 .low = 1,
                 .high = 100'000});
  return out;
}

ControlOptions options_of(ControlSystem system, const Parameters& p, const std::string& side) {
  ControlOptions out;
  out.system = system;
  for (const Quantity& q : quantities_of(system))
    out.*q.member = p.number(fmt::format("{}.{}", side, q.name));
  out.integration =
      p.text(side + ".integration") == "euler" ? Integration::euler : Integration::runge_kutta;
  out.substeps = static_cast<std::uint32_t>(p.integer(side + ".substeps"));
  out.steps = static_cast<std::uint32_t>(p.integer("steps"));
  if (side != "high") return out;
  out.delay = static_cast<std::uint32_t>(p.integer("high.delay"));
  out.observation_noise = p.number("high.observation_noise");
  return out;
}

ProblemKind kind_of(ControlSystem system, const char* name, const char* description) {
  return {.name = name,
          .description = description,
          .parameters = parameters_of(system),
          .build_vectors = [system](const Parameters& p, std::uint64_t /*seed*/) -> VectorProblem {
            auto high = std::make_shared<const ControlSimulator>(options_of(system, p, "high"));
            // Both sides have one state space, so that a cheap simulator does not know of a wall,
            // nor of noise in what is seen.
            auto low = std::make_shared<const ControlSimulator>(options_of(system, p, "low"),
                                                                high->observation_space());
            return {.pair = VectorFidelities(high, low)};
          },
          .same_for_all_seeds = true};
}

}  // namespace

ProblemKind pendulum_kind() {
  return kind_of(ControlSystem::pendulum, "pendulum",
                 "a pendulum is swung up; the low fidelity has another mass and no friction");
}
ProblemKind cart_pole_kind() {
  return kind_of(ControlSystem::cart_pole, "cart-pole",
                 "a pole on a cart is swung up; the low fidelity has other masses, no friction");
}
ProblemKind acrobot_kind() {
  return kind_of(ControlSystem::acrobot, "acrobot",
                 "two links are swung up by a torque between them; the low fidelity is lighter");
}

}  // namespace hilo
