#include "hilo/experiment/detail/spec_configs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/experiment/detail/spec_limits.hpp"
#include "hilo/experiment/labels.hpp"

namespace hilo {
namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(Errc::spec, message); }

// Adds a note once, because sweeps meet the same situation many times.
void note(std::vector<std::string>& notes, std::string text) {
  if (std::ranges::find(notes, text) == notes.end()) notes.push_back(std::move(text));
}

// Removes the low-fidelity parameters of the problem, such as `projection`, from the agent's values
// and returns them, whether they are given directly or by the variant. Replaces `variant` by the
// keys it stands for.
NamedValues take_problem_overrides(const AgentKind& kind, const ProblemKind& problem,
                                   NamedValues& agent, const std::string& where,
                                   std::vector<std::string>& notes) {
  const auto is_problem_key = [&](const std::string& key) {
    return kind.uses_low_fidelity() &&
           std::ranges::any_of(problem.parameters, [&](const ParameterInfo& info) {
             return info.name == key && info.low_fidelity_only;
           });
  };
  NamedValues overrides;
  for (auto value = agent.begin(); value != agent.end();)
    if (is_problem_key(value->first)) {
      overrides.insert(agent.extract(value++));
    } else {
      ++value;
    }
  const auto given = agent.find("variant");
  if (given == agent.end()) return overrides;
  if (!std::holds_alternative<std::string>(given->second))
    fail(fmt::format("{}: variant must be a name", where));
  const std::string name = plain_text(given->second);
  const NamedValues more = in_place(where, [&] { return take_variant(kind, agent); });
  for (const auto& [key, value] : more)
    if (is_problem_key(key))
      overrides.try_emplace(key, value);
    else
      note(notes, fmt::format("{}: variant \"{}\" also stands for {} = {}, but the problem {} has "
                              "no {}: this part of it is left out",
                              where, name, key, quoted_text(value), problem.name, key));
  return overrides;
}

template <class Map>
void append(Configuration& out, std::string_view part, const Map& values,
            std::span<const ParameterInfo> infos) {
  for (const auto& [key, value] : values) {
    const auto info = std::ranges::find(infos, key, &ParameterInfo::name);
    if (info != infos.end() && info->silent_default && value == info->default_value) continue;
    out.add(fmt::format("{}.{}", part, key), quoted_text(value));
  }
}

// A hash of the contents of the files that the problem is read from. If every seed has its own
// files, it covers the files of all seeds of the experiment: all seeds share one configuration, so
// that a change of any table makes all of its runs new.
std::string content_of(const RunConfig& config, const ProblemKind& kind, const SeedRange& seeds) {
  const auto hash = [&](const NamedValues& problem) {
    return kind.content_hash(Parameters(kind.name, kind.parameters, problem),
                             config.agent->uses_low_fidelity());
  };
  if (!kind.has_files_by_seed(config.problem)) return hash(config.problem);
  std::string all;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const NamedValues problem = kind.for_seed(config.problem, seed);
    // Reported once, before anything runs, and not by the run of that seed.
    for (const std::string& name : kind.file_parameters)
      if (const auto* path = std::get_if<std::string>(&problem.at(name));
          path != nullptr && !std::filesystem::exists(*path))
        throw Error(Errc::io,
                    fmt::format("{} of seed {} is '{}', which does not exist", name, seed, *path));
    all += fmt::format("{} {}\n", seed, hash(problem));
  }
  return hash_hex(all);
}

void canonicalise(RunConfig& config, const ProblemKind& kind, const SeedRange& seeds) {
  NamedValues visible;
  for (const ParameterInfo& info : kind.parameters)
    if (info.in_identity && (config.agent->uses_low_fidelity() || !info.low_fidelity_only))
      visible[info.name] = config.problem.at(info.name);
  // The contents of the files count, not their location.
  for (const std::string& name : kind.file_parameters) visible.erase(name);
  if (kind.content_hash) visible["content"] = content_of(config, kind, seeds);
  Configuration& configuration = config.configuration;
  configuration.add("agent.kind", fmt::format("\"{}\"", config.agent->name));
  append(configuration, "agent", config.agent_parameters.all(), config.agent->parameters);
  if (config.agent->part_versions)
    for (const auto& [part, version] : config.agent->part_versions(config.agent_parameters))
      if (version > 1)
        configuration.add(fmt::format("agent.{}_version", part), fmt::format("{}", version));
  configuration.add("problem.kind", fmt::format("\"{}\"", kind.name));
  append(configuration, "problem", visible, kind.parameters);
  append(configuration, "test", config.test.all(), test_parameters());
  append(configuration, "train", config.train.all(), train_parameters());
  config.hash = configuration.hash();
}

// Throws if the problem lacks a feature that an agent with these parameters demands.
void check_demands(const RunConfig& config, const std::string& where) {
  const ProblemKind& problem = *config.problem_kind;
  if (!config.agent->demands || !problem.lacks) return;
  const Parameters parameters(problem.name, problem.parameters, config.problem);
  for (const Demand& demand : config.agent->demands(config.agent_parameters))
    if (const std::string reason = problem.lacks(demand.feature, parameters); !reason.empty())
      fail(fmt::format("{}: {}, which {}", where, demand.because, reason));
}

// The table that the first configuration of a hash came from, and the labels of all with this hash.
struct Known {
  std::string origin;
  std::set<std::string> labels;
};

// Adds a configuration, unless an equal one was added before. With a label of its own it is a
// second name for the same runs. `origin` is its table. If several problems of a sweep give one
// table equal configurations, as MCRL does not see the SNR that is swept, nothing is lost by
// merging them.
void add_config(RunConfig config, bool in_sweep, const std::string& origin, Spec& spec,
                std::map<std::string, Known>& origins) {
  Known& known = origins[config.hash];
  const bool is_new = known.labels.empty();
  if (is_new) known.origin = origin;
  if (const bool inserted = known.labels.insert(config.label).second;
      is_new || (inserted && !config.label.empty())) {
    spec.configs.push_back(std::move(config));
  } else if (!in_sweep || known.origin != origin) {
    note(spec.notes,
         fmt::format("{}: it is the same agent as {}: both are shown as one; a label of "
                     "its own (label = \"...\") shows it twice",
                     origin, known.origin));
  }
}

RunConfig make_config(const SpecCommon& common, const NamedValues& problem, NamedValues agent,
                      const std::string& where, Spec& spec, std::string& where_kind) {
  const AgentKind& kind = in_place(
      where, [&]() -> const AgentKind& { return agent_kind(take_text(agent, "kind", "")); });
  const std::string label = agent.contains("label") ? take_text(agent, "label", where) : "";
  require_sane_label(label, where);
  where_kind = fmt::format("{} ({})", where, kind.name);
  const ProblemKind& problem_kind = *common.problem_kind;
  in_place(where_kind, [&] {
    const bool has_vectors = problem_kind.has_vectors(problem);
    require_domain(kind, has_vectors,
                   problem_kind.has_vectors_of && !has_vectors
                       ? ", or set problem.vectors = true if they are vectors"
                       : "");
    require_discount(kind, common.train.number("gamma"));
    require_low_fidelities(kind, problem_kind.count_low_fidelities(problem));
  });
  const NamedValues overrides =
      take_problem_overrides(kind, problem_kind, agent, where_kind, spec.notes);
  if (kind.complete) in_place(where_kind, [&] { kind.complete(agent); });
  NamedValues merged = problem;
  for (const auto& [key, value] : overrides) merged[key] = value;
  const Parameters checked(fmt::format("{}: problem ({})", common.where, problem_kind.name),
                           problem_kind.parameters, merged);
  if (problem_kind.validate)
    in_place(common.where + ": problem", [&] { problem_kind.validate(checked); });
  RunConfig config{.label = label,
                   .agent = &kind,
                   .agent_parameters = Parameters(where_kind, kind.parameters, agent),
                   .problem_kind = common.problem_kind,
                   .problem = {checked.all().begin(), checked.all().end()},
                   .train = common.train,
                   .test = common.test,
                   .configuration = {},
                   .hash = {}};
  check_demands(config, where_kind);
  in_place(common.where + ": problem", [&] { canonicalise(config, problem_kind, spec.seeds); });
  return config;
}

}  // namespace

std::string take_text(NamedValues& values, const std::string& key, const std::string& where) {
  const auto found = values.find(key);
  const std::string place = where.empty() ? "" : where + ": ";
  if (found == values.end()) fail(fmt::format("{}key '{}' is missing", place, key));
  const auto* text = std::get_if<std::string>(&found->second);
  if (text == nullptr || text->empty()) fail(fmt::format("{}{} must be a name", place, key));
  std::string out = *text;
  values.erase(found);
  return out;
}

void add_configs(const SpecCommon& common, const std::vector<SpecTable>& agents, Spec& spec) {
  std::map<std::string, Known> origins;  // by hash
  for (std::size_t i = 0; i < agents.size(); ++i) {
    const std::string where = fmt::format("{}: agent {}", common.where, i + 1);
    const std::vector<NamedValues> variants = expand(agents[i], where);
    if (common.problems.size() * variants.size() > kMaxConfigs - spec.configs.size())
      fail(fmt::format("{}: all sweeps together give more than {} combinations", where,
                       kMaxConfigs));
    for (const NamedValues& problem : common.problems)
      for (const NamedValues& agent : variants) {
        std::string origin;
        RunConfig config = make_config(common, problem, agent, where, spec, origin);
        add_config(std::move(config), common.problems.size() > 1, origin, spec, origins);
      }
  }
  assign_labels(spec.configs, common.where);
}

}  // namespace hilo
