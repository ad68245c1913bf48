#include <fmt/format.h>

#include "hilo/env/control/control.hpp"
#include "hilo/env/control/detail/quantities.hpp"
#include "hilo/env/detail/kinds.hpp"

namespace hilo {
namespace {

constexpr double kMost = 1000;

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
