#include <nanobind/stl/array.h>

#include "bindings.hpp"
#include "env_cast.hpp"
#include "hilo/core/memory.hpp"
#include "hilo/env/catalogue.hpp"
#include "hilo/env/docking.hpp"
#include "hilo/env/nas/space.hpp"

namespace hilo::python {
namespace {

// A problem with its arguments, so that it can be built again elsewhere.
struct BuiltProblem {
  std::string kind;
  Parameter parameters;
  std::uint64_t seed;
  Problem problem;
  HighSimulator high;
};

BuiltProblem build_problem_from(const std::string& kind, std::uint64_t seed,
                                const Parameter& given) {
  const ProblemKind& found = problem_kind(kind);
  require_memory(estimate_bytes(found, given));
  HighSimulator high = build_high_fidelity(found, given, seed);
  Problem problem = build_problem(found, given, seed, high);
  return {kind, given, seed, std::move(problem), std::move(high)};
}

// Marks a part of a built problem, so that pickle builds the problem again.
nb::object with_origin(nb::object part, const BuiltProblem& built, const char* name) {
  part.attr("_origin") = nb::make_tuple(built.kind, built.parameters, built.seed, name);
  return part;
}

void bind_problems(nb::module_& m) {
  nb::class_<BuiltProblem>(m, "Problem",
                           "A problem of hilo: a pair of simulators, built from its kind, its "
                           "parameters and a seed.")
      .def_ro("kind", &BuiltProblem::kind, "Its kind, as in a spec.")
      .def_ro("parameters", &BuiltProblem::parameters, "The parameters that were given.")
      .def_ro("seed", &BuiltProblem::seed, "The seed it was built from.")
      .def_prop_ro(
          "pair",
          [](const BuiltProblem& built) {
            return with_origin(nb::cast(built.problem.pair), built, "pair");
          },
          nb::sig("def pair(self) -> Fidelities"), "Both simulators and the map.")
      .def_prop_ro(
          "high",
          [](const BuiltProblem& built) {
            return with_origin(cast_high(built.high), built, "high");
          },
          nb::sig("def high(self) -> Simulator"), "The expensive simulator.")
      .def_prop_ro(
          "low",
          [](const BuiltProblem& built) {
            return with_origin(nb::cast(built.problem.pair.shared_low()), built, "low");
          },
          nb::sig("def low(self) -> Simulator"), "The cheap simulator.")
      .def_prop_ro(
          "facts",
          [](const BuiltProblem& built) {
            std::map<std::string, double> out;
            for (const Fact& fact : built.problem.facts) out[fact.name] = fact.value;
            return out;
          },
          "Numbers that describe it, by name.")
      .def("__reduce__",
           [](const BuiltProblem& built) {
             return nb::make_tuple(rebuild("part_of_problem"),
                                   nb::make_tuple(built.kind, built.parameters, built.seed, ""));
           })
      .def("__repr__", [](nb::handle self) {
        const auto& built = nb::cast<const BuiltProblem&>(self);
        return "Problem('" + built.kind + "', seed=" + std::to_string(built.seed) +
               ", parameters=" + nb::cast<std::string>(nb::repr(self.attr("parameters"))) + ")";
      });

  m.def(
      "build_problem",
      [](const std::string& kind, std::uint64_t seed, const nb::kwargs& parameters) {
        const Parameter given = parameters_of(parameters);
        const nb::gil_scoped_release release;
        return build_problem_from(kind, seed, given);
      },
      "kind"_a, "seed"_a = 0, "parameters"_a,
      "Builds a problem of hilo: \"random-mdp\", \"docking\", \"nas-bench-201\" or "
      "\"table\". hilo.problem_kinds() lists their parameters.");
  m.def(
      "problem_kinds",
      [] {
        nb::dict out;
        for (const ProblemKind& kind : problem_kinds()) {
          nb::dict entry;
          entry["description"] = kind.description;
          entry["parameters"] = list_parameters(kind.parameters);
          out[kind.name.c_str()] = entry;
        }
        return out;
      },
      nb::sig("def problem_kinds() -> dict[str, dict[str, typing.Any]]"),
      "The kinds of problems, with their parameters.");

  nb::class_<Docking>(m, "Docking",
                      "Positions and speeds of the docking problem's states, for pictures.")
      .def(
          "__init__",
          [](Docking* self, std::size_t cells, std::size_t speeds) {
            new (self) Docking({.cells = cells, .speeds = speeds}, Docking::shuffled_actions(0));
          },
          "cells"_a = 10, "speeds"_a = 3)
      .def(
          "motion",
          [](const Docking& docking, State s) -> std::optional<std::array<double, 4>> {
            require_within("state", std::uint64_t{s}, 0, docking.num_states() - 1, Errc::usage);
            if (docking.is_terminal(s)) return std::nullopt;
            const Docking::Motion motion = docking.motion(s);
            return std::array<double, 4>{docking.centre(motion.ix), docking.centre(motion.iy),
                                         docking.speed(motion.jx), docking.speed(motion.jy)};
          },
          "state"_a, "Position x, y and the speed along each; None in a terminal state.")
      .def("__repr__",
           [](const Docking& docking) {
             return "Docking(cells=" + std::to_string(docking.cells()) + ")";
           })
      .def_prop_ro("docked", &Docking::docked, "The state in which the vehicle has docked.")
      .def_prop_ro("lost", &Docking::lost, "The state in which the vehicle is lost.")
      .def_prop_ro_static(
          "side", [](nb::handle) { return Docking::kSide; }, "Length of the square, in metres.")
      .def_prop_ro_static(
          "dock",
          [](nb::handle) {
            return std::array<double, 3>{Docking::kDockX, Docking::kDockY, Docking::kDockRadius};
          },
          "x, y and radius of the dock.");
  m.def("nas_architecture", &nasbench201::to_string, "architecture"_a,
        "The architecture string of a number in NAS-Bench-201. The number is the state of that "
        "problem divided by 7.");
}

}  // namespace

void bind_env(nb::module_& m) {
  bind_tables(m);
  bind_episodes(m);
  bind_simulators(m);
  bind_programs(m);
  bind_problems(m);
}

}  // namespace hilo::python
