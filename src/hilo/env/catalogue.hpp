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

namespace hilo {

struct Problem {
  Fidelities pair;
  std::vector<Fact> facts;
  std::size_t memory_bytes = 0;  // of its tables
  // Makes an observer for a run with this seed; none where there is nothing more to tell.
  std::function<std::unique_ptr<RunObserver>(std::uint64_t seed)> watch = {};
};

// All that is asked of a high fidelity is full episodes.
using HighSimulator = std::shared_ptr<const EpisodeSimulator>;

// Features of a problem that an agent may demand, by name: the catalogues are open, and so is this
// list.
inline constexpr const char* kCommonRandomNumbers = "common random numbers";
// The published synthetic runs rolled out the low fidelity by action 0, by accident. Where that is
// no part of the published study, it would be a mistake.
inline constexpr const char* kRollOutsByActionZero = "roll-outs by action 0";

// A kind of problem that can be named in a spec.
struct ProblemKind {
  std::string name;
  std::string description;
  std::vector<ParameterInfo> parameters = {};
  std::size_t low_fidelities = 1;  // how many cheap simulators it has
  // The high fidelity, then the rest around it. The first sees no parameter that is
  // low_fidelity_only, so that problems which differ in these alone can share it.
  std::function<HighSimulator(const Parameters&, std::uint64_t seed)> build_high;
  std::function<Problem(const Parameters&, std::uint64_t seed, const HighSimulator& high)> build;
  // Checks what the parameters' own ranges cannot: throws if they do not fit together.
  std::function<void(const Parameters&)> validate = {};
  // For a problem that is read from files: what is in them, of the high fidelity alone or of both.
  // It stands for the files in the identity of a run.
  std::function<std::string(const Parameters&, bool with_low)> content_hash = {};
  std::vector<std::string> file_parameters = {};  // that only say where the files are
  // Where every seed may have files of its own: these parameters with the seed put in, which
  // content_hash then takes. Without a placeholder they come back as they are.
  std::function<NamedValues(const NamedValues&, std::uint64_t seed)> for_seed = {};
  // Why the problem does not have a feature that an agent demands, as the end of a sentence that
  // begins with the demand: "needs sampling = ...". Empty: it has it, or says nothing of it.
  std::function<std::string(std::string_view feature, const Parameters&)> lacks = {};
  // Bytes of its tables, without making them; none where they are small.
  std::function<double(const Parameters&)> estimate_bytes = {};
  // Whether the mean reward per step, the paper's y axis, says how good a policy is; otherwise what
  // it is worth from the start does, which does not praise those who end quickly.
  bool judged_by_mean_reward = false;
  std::vector<FactInfo> observed = {};  // what its observer records
  bool same_for_all_seeds = false;      // seeds differ in what agents draw alone

  // Whether the problem has files of its own for every seed.
  bool has_files_by_seed(const NamedValues& problem) const {
    return for_seed && for_seed(problem, 0) != problem;
  }
};

// All kinds, those that hilo comes with first.
std::vector<std::reference_wrapper<const ProblemKind>> problem_kinds();
// Throws on an unknown name, with the nearest known one.
const ProblemKind& problem_kind(std::string_view name);
bool is_problem_kind(std::string_view name);
// Adds a kind of the caller's, for specs that are read from then on. Before anything runs.
const ProblemKind& add_problem_kind(ProblemKind kind);

// Bytes that the tables of a problem need, without making them; 0 where they are small.
double estimate_bytes(const ProblemKind& kind, const NamedValues& parameters);

// Checks the parameters, completes them by the defaults and builds.
Problem build_problem(std::string_view kind, const NamedValues& parameters, std::uint64_t seed);

// The same in two steps and for any kind, registered or the caller's own: several problems can be
// built around one high fidelity.
HighSimulator build_high_fidelity(const ProblemKind& kind, const NamedValues& parameters,
                                  std::uint64_t seed);
Problem build_problem(const ProblemKind& kind, const NamedValues& parameters, std::uint64_t seed,
                      const HighSimulator& high);

}  // namespace hilo
