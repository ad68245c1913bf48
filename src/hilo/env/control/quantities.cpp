#include "hilo/env/control/detail/quantities.hpp"

namespace hilo {
namespace {

constexpr double kMost = 1000;

}  // namespace

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

}  // namespace hilo
