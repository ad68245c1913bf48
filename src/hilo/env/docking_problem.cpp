#include "hilo/env/detail/kinds.hpp"
#include "hilo/env/docking.hpp"

namespace hilo {
namespace {

DockingOptions options_of(const Parameters& p) {
  return {.cells = static_cast<std::size_t>(p.integer("cells")),
          .speeds = static_cast<std::size_t>(p.integer("speeds")),
          .drag = p.number("drag"),
          .wind = p.number("wind"),
          .gusts = p.number("gusts")};
}

}  // namespace

ProblemKind docking_kind() {
  return {
      .name = "docking",
      .description = "a vehicle and a dock; the low fidelity has no air and a coarse grid",
      .parameters = {{.name = "cells",
                      .description = "grid cells per side",
                      .default_value = std::int64_t{10},
                      .low = 6,
                      .high = 120},
                     {.name = "speeds",
                      .description = "speeds per axis, odd",
                      .default_value = std::int64_t{3},
                      .low = 3,
                      .high = 15},
                     {.name = "drag",
                      .description = "of the high fidelity, per metre",
                      .default_value = 0.3,
                      .low = 0,
                      .high = 1},
                     {.name = "wind",
                      .description = "of the high fidelity along x, in m/s",
                      .default_value = 0.4,
                      .low = -1,
                      .high = 1},
                     {.name = "gusts",
                      .description = "chance of a gust in a second, in the high fidelity",
                      .default_value = 0.2,
                      .low = 0,
                      .high = 1}},
      .build_high = [](const Parameters& p,
                       std::uint64_t seed) { return make_docking(options_of(p), seed); },
      .build = [](const Parameters& p, std::uint64_t seed, const HighSimulator& high) -> Problem {
        Fidelities pair = make_docking_pair(options_of(p), seed, high);
        const std::size_t bytes = pair.map().num_high_states() * 2 * sizeof(State);
        return {.pair = std::move(pair), .facts = {}, .memory_bytes = bytes};
      },
      .validate =
          [](const Parameters& p) { (void)Docking(options_of(p), Docking::shuffled_actions(0)); }};
}

}  // namespace hilo
