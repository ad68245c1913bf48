#include "hilo/driver/detail/evaluation_sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/env/program/program_simulators.hpp"
#include "hilo/env/table_vectors.hpp"
#include "hilo/policy/low_policy.hpp"
#include "hilo/policy/network_file.hpp"
#include "hilo/policy/policy_file.hpp"
#include "hilo/policy/program_policy.hpp"

namespace hilo {
namespace {

constexpr std::string_view kCommand = "command:";

// A policy that was read, before it is bound to simulators.
struct ReadPolicy {
  NamedPolicy named;
  std::optional<SavedPolicy> saved;
  std::shared_ptr<const NetworkPolicy> network;
  std::string command;  // empty: saved, a network, or uniform
  std::string identity;
};

ReadPolicy read(const NamedPolicy& named) {
  ReadPolicy out{.named = named, .saved = {}, .network = {}, .command = {}, .identity = {}};
  if (named.given == "uniform") {
    out.identity = "uniform";
  } else if (named.given.starts_with(kCommand)) {
    out.command = named.given.substr(kCommand.size());
    out.command.erase(0, out.command.find_first_not_of(' '));
    if (out.command.empty())
      throw Error(Errc::usage, fmt::format("the policy '{}' has no command", named.given));
    out.identity = program_identity({{"command", out.command}});
  } else {
    if (!std::filesystem::exists(named.given))
      throw Error(Errc::io,
                  fmt::format("{}: there is no such file; a policy is a file of hilo learn, "
                              "\"command: PROGRAM\" or uniform",
                              named.given));
    const std::string text = read_policy_text(named.given);
    if (is_network(text)) {
      out.network = parse_network(text, named.given);
      out.identity = "network " + network_hash(*out.network);
    } else {
      out.saved = parse_policy(text, named.given);
      out.identity = "table " + out.saved->hash;
    }
  }
  return out;
}

// The policy of a table as it acts in a cheap simulator with states of its own (low_policy.hpp).
class LoweredTable final : public Policy {
 public:
  LoweredTable(const StateMap& map, const ValueTable& values)
      : Policy(Space::discrete(map.num_low_states()), Space::discrete(values.num_actions)),
        low_(map, values.num_actions) {
    QTable high(values.num_states, values.num_actions);
    high.assign(values.values);
    low_.update_all(map, high);
    behaviour_ = low_.q().behaviour(0);
  }

  void act(const Points& observations, std::span<const ActionWords> words,
           Points& actions) const override {
    actions.clear();
    for (std::size_t i = 0; i < observations.size(); ++i)
      actions.push_back(std::uint64_t{behaviour_.choose(
          static_cast<State>(observations.indices()[i]), words[i].explore, words[i].action)});
  }
  const Behaviour* table() const override { return &behaviour_; }

 private:
  LowPolicy low_;
  Behaviour behaviour_;
};

std::shared_ptr<const Policy> bind(const ReadPolicy& policy, const AnySimulator& simulator) {
  const Space& observations = simulator.observation_space();
  const Space& actions = simulator.action_space();
  try {
    if (policy.saved) return policy.saved->on(observations, actions);
    if (policy.network) return network_on(*policy.network, observations, actions);
    if (!policy.command.empty()) {
      auto program = program_policy({.command = policy.command}, observations, actions);
      // A program that does not work is found out before anything is paid.
      const PolicyPath check(*program, 0);
      return program;
    }
    return uniform_policy(observations, actions);
  } catch (const Error& e) {
    throw Error(e.code(),
                fmt::format("the policy '{}' does not fit: {}", policy.named.name, e.what()));
  }
}

bool is_identity(const StateMap& map) {
  if (map.num_high_states() != map.num_low_states()) return false;
  for (State s = 0; s < map.num_high_states(); ++s)
    if (map.low_of(s) != s) return false;
  return true;
}

std::shared_ptr<const Policy> bind_low(const ReadPolicy& policy, const LowFidelity& low) {
  if (!policy.saved || is_identity(*low.map)) return bind(policy, *low.simulator);
  if (policy.saved->values.values.empty())
    throw Error(
        Errc::usage,
        fmt::format("the policy '{}' has no values, which are needed where a cheap simulator "
                    "has states of its own",
                    policy.named.name));
  return std::make_shared<const LoweredTable>(*low.map, policy.saved->values);
}

// Tables, and programs that a grid or a map makes tables of.
std::vector<EvaluationSide> table_sides(const EvaluateSpec& spec,
                                        const std::vector<ReadPolicy>& policies) {
  const RunConfig& config = spec.config();
  const HighSimulator high = build_high_fidelity(*config.problem_kind, config.problem, spec.seed);
  const Problem problem = build_problem(*config.problem_kind, config.problem, spec.seed, high);
  std::vector<EvaluationSide> out;
  const auto add = [&](std::shared_ptr<const EpisodeSimulator> table, const std::string& name) {
    EvaluationSide& side = out.emplace_back();
    side.simulator = std::make_shared<const TableVectors>(std::move(table));
    side.name = name;
  };
  add(high, "expensive");
  for (const LowFidelity& low : problem.pair.lows())
    add(low.simulator,
        problem.pair.lows().size() == 1 ? "cheap" : fmt::format("cheap {}", out.size()));
  for (const ReadPolicy& policy : policies) {
    // States may be cells here, of which the table says enough.
    if (policy.saved && (policy.saved->grid || policy.saved->action_grid) &&
        policy.saved->values.num_states == high->num_states() &&
        policy.saved->values.num_actions == high->num_actions())
      out[0].policies.push_back(policy.saved->table());
    else
      out[0].policies.push_back(bind(policy, *out[0].simulator));
    for (std::size_t l = 0; l < problem.pair.lows().size(); ++l)
      out[l + 1].policies.push_back(bind_low(policy, problem.pair.lows()[l]));
  }
  return out;
}

std::vector<EvaluationSide> program_sides(std::vector<ProgramVectors> programs,
                                          const std::vector<ReadPolicy>& policies) {
  std::vector<EvaluationSide> out;
  for (ProgramVectors& program : programs) {
    EvaluationSide side{.simulator = std::move(program.simulator),
                        .name = program.name,
                        .starts_anywhere = program.starts_anywhere,
                        .retries = program.retries,
                        .policies = {}};
    if (!out.empty()) {
      const Space& ours = side.simulator->observation_space();
      const Space& theirs = out[0].simulator->observation_space();
      if (ours.dimension() != theirs.dimension() || ours.size() != theirs.size())
        throw Error(Errc::usage,
                    fmt::format("the cheap simulator '{}' has other observations ({}) than the "
                                "expensive one ({}), so that the policies cannot act there; for a "
                                "policy that is a table, give a map and grids (docs/programs.md)",
                                side.name, ours.describe(), theirs.describe()));
    }
    for (const ReadPolicy& policy : policies)
      side.policies.push_back(bind(policy, *side.simulator));
    out.push_back(std::move(side));
  }
  return out;
}

std::vector<EvaluationSide> vector_sides(const EvaluateSpec& spec,
                                         const std::vector<ReadPolicy>& policies) {
  const RunConfig& config = spec.config();
  const VectorProblem problem =
      build_vector_problem(*config.problem_kind, config.problem, spec.seed);
  std::vector<EvaluationSide> out(1);
  out[0].simulator = problem.pair.shared_high();
  out[0].name = "expensive";
  if (auto low = std::dynamic_pointer_cast<const VectorSimulator>(problem.pair.shared_low())) {
    EvaluationSide& side = out.emplace_back();
    side.simulator = std::move(low);
    side.name = "cheap";
  }
  for (EvaluationSide& side : out)
    for (const ReadPolicy& policy : policies)
      side.policies.push_back(bind(policy, *side.simulator));
  return out;
}

bool has_map(const NamedValues& problem) {
  return std::ranges::any_of(problem, [](const auto& entry) {
    const bool map = entry.first.ends_with(".map") || entry.first.ends_with(".map.command");
    return map && entry.second != Value("");
  });
}

}  // namespace

EvaluationSides make_sides(const EvaluateSpec& spec, const std::vector<NamedPolicy>& policies) {
  std::vector<ReadPolicy> all;
  for (const NamedPolicy& policy : policies) all.push_back(read(policy));
  EvaluationSides out;
  const RunConfig& config = spec.config();
  const bool programs = config.problem_kind->name == "program" && !has_map(config.problem);
  const ProblemKind& kind = *config.problem_kind;
  out.simulators = programs ? program_sides(make_program_vectors(config.problem), all)
                   : kind.has_vectors(config.problem) ? vector_sides(spec, all)
                                                      : table_sides(spec, all);
  if (!programs && kind.lacks && out.simulators.size() > 1)
    out.no_coupling =
        kind.lacks(kCommonRandomNumbers, Parameters(kind.name, kind.parameters, config.problem));
  for (const ReadPolicy& policy : all) out.policy_identities.push_back(policy.identity);
  return out;
}

}  // namespace hilo
