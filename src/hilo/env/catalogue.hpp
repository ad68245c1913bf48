#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hilo/core/fact.hpp"
#include "hilo/core/parameters.hpp"
#include "hilo/env/fidelities.hpp"
#include "hilo/env/run_observer.hpp"
#include "hilo/env/vector_fidelities.hpp"

namespace hilo {

struct Problem {
  Fidelities pair;
  std::vector<Fact> facts;
  std::size_t memory_bytes = 0;  // of its tables
  // Makes an observer for a run with this seed. Empty if the problem has no metrics of its own to
  // record during a run.
  std::function<std::unique_ptr<RunObserver>(std::uint64_t seed)> watch = {};
};

// A problem whose states and actions are vectors.
struct VectorProblem {
  VectorFidelities pair;
  std::vector<Fact> facts = {};
};

// A high fidelity only has to provide full episodes.
using HighSimulator = std::shared_ptr<const EpisodeSimulator>;

// Names of features that an agent may demand of a problem. The list is open, as the catalogues are.
inline constexpr const char* kCommonRandomNumbers = "common random numbers";
// In the published synthetic runs, the greedy branch of low-fidelity roll-outs took action 0, by
// accident. On problems that are not part of the published study this would be a mistake.
inline constexpr const char* kRollOutsByActionZero = "roll-outs by action 0";

// What a problem says about costs and failures, as the tables of a learn spec have it.
struct ProblemSpending {
  NamedValues cost, failures;
};

// A kind of problem that can be named in a spec.
struct ProblemKind {
  std::string name;
  std::string description;
  std::vector<ParameterInfo> parameters = {};
  std::size_t low_fidelities = 1;  // how many cheap simulators it has
  // build_high makes the high fidelity, and build adds the rest of the problem. build_high must not
  // use parameters that are low_fidelity_only, so that problems that differ only in these can share
  // the high fidelity.
  std::function<HighSimulator(const Parameters&, std::uint64_t seed)> build_high = {};
  std::function<Problem(const Parameters&, std::uint64_t seed, const HighSimulator& high)> build =
      {};
  // Instead of these two, for a problem whose states and actions are vectors.
  std::function<VectorProblem(const Parameters&, std::uint64_t seed)> build_vectors = {};
  // For a kind that has all three: whether this problem is one of vectors.
  std::function<bool(const NamedValues&)> has_vectors_of = {};
  // Checks what the ranges of single parameters cannot: throws if they do not fit together.
  std::function<void(const Parameters&)> validate = {};
  // For a problem that is read from files: a hash of their contents, for the high fidelity alone or
  // for both. It represents the files in the identity of a run.
  std::function<std::string(const Parameters&, bool with_low)> content_hash = {};
  std::vector<std::string> file_parameters = {};  // those that only locate the files
  // If every seed may have its own files: returns these parameters with the seed filled in, as
  // content_hash expects them. Parameters without a placeholder are returned unchanged.
  std::function<NamedValues(const NamedValues&, std::uint64_t seed)> for_seed = {};
  // Why the problem lacks a feature that an agent demands, as the end of a sentence that begins
  // with the demand: "needs sampling = ...". Empty if it has the feature, or does not know it.
  std::function<std::string(std::string_view feature, const Parameters&)> lacks = {};
  // Estimates the bytes of its tables without building them. Empty if they are small.
  std::function<double(const Parameters&)> estimate_bytes = {};
  // Whether policies are judged by the mean reward per step, the paper's y axis. Otherwise they are
  // judged by their value from the start distribution, which does not favour policies that end
  // episodes quickly.
  bool judged_by_mean_reward = false;
  std::vector<FactInfo> observed = {};  // what its observer records
  bool same_for_all_seeds = false;      // the seed changes the problem only through for_seed
  // The number of cheap simulators, if it depends on the parameters; otherwise low_fidelities.
  std::function<std::size_t(const NamedValues&)> low_fidelities_of = {};
  bool low_is_slow = false;  // far slower than a table: agents that hilo chooses spare it
  // Takes what `hilo learn` has to know about costs and failures out of the parameters.
  std::function<ProblemSpending(NamedValues&)> take_spending = {};

  std::size_t count_low_fidelities(const NamedValues& problem) const {
    return low_fidelities_of ? low_fidelities_of(problem) : low_fidelities;
  }

  bool has_vectors(const NamedValues& problem) const {
    return build_vectors && (!has_vectors_of || has_vectors_of(problem));
  }

  // Whether the problem has files of its own for every seed.
  bool has_files_by_seed(const NamedValues& problem) const {
    return for_seed && for_seed(problem, 0) != problem;
  }
};

// All kinds, the built-in ones first.
std::vector<std::reference_wrapper<const ProblemKind>> problem_kinds();
// Throws on an unknown name and suggests the nearest known one.
const ProblemKind& problem_kind(std::string_view name);
bool is_problem_kind(std::string_view name);
// Registers a user-defined kind for specs that are read afterwards. Must be called before anything
// runs.
const ProblemKind& add_problem_kind(ProblemKind kind);

// Estimated bytes of the tables of a problem, without building them; 0 if the kind gives no
// estimate.
double estimate_bytes(const ProblemKind& kind, const NamedValues& parameters);

// Checks the parameters, fills in the defaults and builds the problem.
Problem build_problem(std::string_view kind, const NamedValues& parameters, std::uint64_t seed);

// The same in two steps, for registered and unregistered kinds: several problems can share one high
// fidelity.
HighSimulator build_high_fidelity(const ProblemKind& kind, const NamedValues& parameters,
                                  std::uint64_t seed);
Problem build_problem(const ProblemKind& kind, const NamedValues& parameters, std::uint64_t seed,
                      const HighSimulator& high);

// For a problem of vectors. The others throw Errc::spec for it, and this one for those of tables.
VectorProblem build_vector_problem(const ProblemKind& kind, const NamedValues& parameters,
                                   std::uint64_t seed);

}  // namespace hilo
