#include "hilo/env/catalogue.hpp"

#include <fmt/format.h>

#include <new>

#include "hilo/core/detail/catalogue.hpp"
#include "hilo/core/error.hpp"
#include "hilo/env/detail/kinds.hpp"

namespace hilo {
namespace {

#define HILO_KIND(name) name##_kind(),
Catalogue<ProblemKind>& catalogue() {
  static Catalogue<ProblemKind> the("problem", {HILO_PROBLEM_KINDS(HILO_KIND)});
  return the;
}
#undef HILO_KIND

template <class Build>
auto in_memory(std::string_view kind, const Build& build) {
  try {
    return build();
  } catch (const std::bad_alloc&) {
    throw Error(Errc::spec, fmt::format("{}: the problem does not fit into memory", kind));
  }
}

}  // namespace

std::vector<std::reference_wrapper<const ProblemKind>> problem_kinds() { return catalogue().all(); }
const ProblemKind& problem_kind(std::string_view name) { return catalogue().find(name); }
bool is_problem_kind(std::string_view name) { return catalogue().contains(name); }
const ProblemKind& add_problem_kind(ProblemKind kind) {
  if (!kind.build_vectors && (!kind.build_high || !kind.build))
    throw Error(Errc::usage, fmt::format("problem '{}' must have build_high and build, or "
                                         "build_vectors",
                                         kind.name));
  require_sound_parameters("problem " + kind.name, kind.parameters);
  require_plain_text("the description of problem " + kind.name, kind.description);
  return catalogue().add(std::move(kind));
}

double estimate_bytes(const ProblemKind& kind, const std::map<std::string, Value>& parameters) {
  if (!kind.estimate_bytes) return 0;
  return kind.estimate_bytes(Parameters(kind.name, kind.parameters, parameters));
}

HighSimulator build_high_fidelity(const ProblemKind& kind,
                                  const std::map<std::string, Value>& parameters,
                                  std::uint64_t seed) {
  if (kind.has_vectors(parameters))
    throw Error(Errc::spec,
                fmt::format("the states and actions of the problem '{}' are vectors, but tables "
                            "are needed here",
                            kind.name));
  const Parameters checked(kind.name, kind.parameters, parameters);
  return in_memory(kind.name, [&] { return kind.build_high(checked, seed); });
}

Problem build_problem(const ProblemKind& kind, const std::map<std::string, Value>& parameters,
                      std::uint64_t seed, const HighSimulator& high) {
  const Parameters checked(kind.name, kind.parameters, parameters);
  return in_memory(kind.name, [&] { return kind.build(checked, seed, high); });
}

VectorProblem build_vector_problem(const ProblemKind& kind, const NamedValues& parameters,
                                   std::uint64_t seed) {
  if (!kind.has_vectors(parameters))
    throw Error(Errc::spec,
                fmt::format("the states and actions of the problem '{}' are numbered, but vectors "
                            "are needed here",
                            kind.name));
  const Parameters checked(kind.name, kind.parameters, parameters);
  if (kind.validate) kind.validate(checked);
  return in_memory(kind.name, [&] { return kind.build_vectors(checked, seed); });
}

Problem build_problem(std::string_view kind, const std::map<std::string, Value>& parameters,
                      std::uint64_t seed) {
  const ProblemKind& found = problem_kind(kind);
  return build_problem(found, parameters, seed, build_high_fidelity(found, parameters, seed));
}

}  // namespace hilo
