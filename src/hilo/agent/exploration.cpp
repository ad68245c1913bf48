#include "hilo/agent/exploration.hpp"

#include <fmt/format.h>

#include "hilo/core/error.hpp"

namespace hilo {

Exploration exploration_from_name(std::string_view name) {
  if (name == name_of(Exploration::standard)) return Exploration::standard;
  if (name == name_of(Exploration::as_published)) return Exploration::as_published;
  throw Error(Errc::spec,
              fmt::format("exploration is '{}', but must be standard or as-published", name));
}

std::string_view name_of(Exploration exploration) {
  return exploration == Exploration::standard ? "standard" : "as-published";
}

double chance_of_uniform_action(Exploration exploration, double epsilon, std::size_t num_actions) {
  if (exploration == Exploration::standard) return epsilon;
  return epsilon * (1 - 1 / static_cast<double>(num_actions));
}

}  // namespace hilo
