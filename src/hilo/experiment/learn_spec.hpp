#pragma once

#include <optional>
#include <string>

#include "hilo/experiment/spec.hpp"

namespace hilo {

// What a learn run may spend on the expensive simulator. The first limit that is reached ends it; 0
// means no limit.
struct Budget {
  std::uint64_t episodes = 0;  // of training and of the final test; failed attempts do not count
  std::uint64_t steps = 0;
  double cost = 0;
  double wall = 0;                       // seconds
  std::optional<std::uint64_t> reserve;  // episodes of the final test; nothing: a tenth
};

// Costs that are declared, in any unit. If none is, costs are measured in seconds.
struct DeclaredCosts {
  std::optional<double> high_episode, high_step, low_step;
  bool any() const { return high_episode || high_step || low_step; }
};

// What happens if the expensive simulator fails.
struct FailureRules {
  std::uint64_t retries = 2;  // of an episode, with the same seed
  bool stop = false;          // if all retries failed; else the episode is skipped
};

// A learn spec as it is written: a spec without a budget, whose agents are empty if hilo is to
// choose, and the tables that only `hilo learn` has.
struct LearnData {
  SpecData spec;
  NamedValues budget, cost, failures, pilot;
  NamedValues evaluate = {};  // for `hilo evaluate`, which reads the same specs
  bool low_is_slow = false;   // the cheap simulator runs Python code: an agent that hilo chooses
                              // spares it
};

// A checked learn spec: one agent, one seed, one budget.
struct LearnSpec {
  Spec spec;  // with one configuration, whose own budget never ends a run
  std::uint64_t seed = 0;
  Budget budget;
  DeclaredCosts costs;
  FailureRules failures;
  // The first training episodes, under the uniform policy, after which the cheap simulator is
  // judged; 0: none. If it is not worth its while, training goes on with `without_low`, the same
  // agent without the cheap simulator.
  std::uint64_t pilot_episodes = 0;
  std::optional<Spec> without_low = {};
  // Everything that decides the results of the run except what it may spend: a run can be continued
  // only by a spec with the same identity. It includes the seed.
  Configuration identity;
  std::string choice;  // why this agent was chosen, as a sentence; "" if the spec names it

  const RunConfig& config() const { return spec.configs.front(); }
  // Episodes of the final test if the budget is in episodes; otherwise nothing, and the final test
  // has a tenth of what the budget limits.
  std::optional<std::uint64_t> reserved_episodes() const;
};

// `own` is as for parse_spec.
LearnSpec parse_learn_spec(std::string_view toml, const std::string& where,
                           const Overrides& overrides = {},
                           const std::shared_ptr<const ProblemKind>& own = nullptr);
LearnSpec make_learn_spec(const LearnData& data, const std::string& where,
                          const std::shared_ptr<const ProblemKind>& own = nullptr);
LearnSpec load_learn_spec(const std::filesystem::path& file, const Overrides& overrides = {});

// The keys of [budget], [cost], [failures] and [pilot], for help texts.
std::span<const ParameterInfo> budget_parameters();
std::span<const ParameterInfo> cost_parameters();
std::span<const ParameterInfo> failure_parameters();
std::span<const ParameterInfo> pilot_parameters();

}  // namespace hilo
