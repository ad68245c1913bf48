#include "hilo/rollout/truncation.hpp"

#include <fmt/format.h>

#include "hilo/core/error.hpp"

namespace hilo {

Truncation truncation_from_name(std::string_view name) {
  if (name == "drop") return Truncation::drop;
  if (name == "terminal") return Truncation::terminal;
  throw Error(Errc::spec,
              fmt::format("truncation is '{}', but must be one of drop, terminal", name));
}

}  // namespace hilo
