#include "hilo/experiment/spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>

#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/core/text_file.hpp"
#include "hilo/experiment/labels.hpp"
#include "hilo/experiment/spec_limits.hpp"
#include "hilo/experiment/spec_toml.hpp"

namespace hilo {
namespace {

constexpr std::int64_t kSpecVersion = 1;
constexpr std::uint64_t kMaxSeeds = 1'000'000;

using Values = SpecValues;

[[noreturn]] void fail(const std::string& message) { throw Error(Errc::spec, message); }

// Runs `action`, whose errors do not know the spec, and puts the place in front.
template <class F>
decltype(auto) in_place(const std::string& where, F&& action) {
  try {
    return action();
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("{}: {}", where, e.what()));
  }
}

std::string show(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return fmt::format("\"{}\"", *text);
  return std::visit([](const auto& x) { return fmt::format("{}", x); }, value);
}

// Sweeps repeat what they meet; once is enough.
void note(std::vector<std::string>& notes, std::string text) {
  if (std::ranges::find(notes, text) == notes.end()) notes.push_back(std::move(text));
}

// Takes out of the agent's values what belongs to the problem: `projection`, given by itself or by
// the variant. Replaces `variant` by the keys it stands for.
Values take_problem_overrides(const AgentKind& kind, const ProblemKind& problem, Values& agent,
                              const std::string& where, std::vector<std::string>& notes) {
  const auto is_problem_key = [&](const std::string& key) {
    return kind.uses_low_fidelity &&
           std::ranges::any_of(problem.parameters, [&](const ParameterInfo& info) {
             return info.name == key && info.low_fidelity_only;
           });
  };
  Values overrides;
  for (auto value = agent.begin(); value != agent.end();)
    if (is_problem_key(value->first)) {
      overrides.insert(agent.extract(value++));
    } else {
      ++value;
    }
  if (!agent.contains("variant")) return overrides;

  std::vector<std::string> names;
  for (const Shorthand& variant : kind.variants) names.push_back(variant.name);
  if (names.empty()) fail(fmt::format("{}: {} has no variants", where, kind.name));
  const std::string name = take_text(agent, "variant", where);
  const auto variant = std::ranges::find(kind.variants, name, &Shorthand::name);
  if (variant == kind.variants.end())
    fail(fmt::format("{}: variant is '{}', but must be one of {}{}", where, name,
                     fmt::join(names, ", "), did_you_mean(name, names)));
  for (const auto& entry : variant->values) {
    const std::string& key = entry.first;
    const bool of_agent =
        std::ranges::find(kind.parameters, key, &ParameterInfo::name) != kind.parameters.end();
    if (of_agent)
      agent.try_emplace(key, entry.second);
    else if (is_problem_key(key))
      overrides.try_emplace(key, entry.second);
    else
      note(notes, fmt::format("{}: variant \"{}\" also stands for {} = {}, but the problem {} has "
                              "no {}: this part of it is left out",
                              where, name, key, show(entry.second), problem.name, key));
  }
  return overrides;
}

template <class Map>
void append(std::string& out, std::string_view part, const Map& values,
            std::span<const ParameterInfo> infos) {
  for (const auto& [key, value] : values) {
    const auto info = std::ranges::find(infos, key, &ParameterInfo::name);
    if (info != infos.end() && info->silent_default && value == info->default_value) continue;
    out += fmt::format("{}.{} = {}\n", part, key, show(value));
  }
}

// What is in the files that the problem is read from. Where every seed has its own, a hash of what
// all of the experiment's have: a configuration is one for all of its seeds, so that a change of
// any table makes all of its runs new.
std::string content_of(const RunConfig& config, const ProblemKind& kind, const SeedRange& seeds) {
  const auto hash = [&](const Values& problem) {
    return kind.content_hash(Parameters(kind.name, kind.parameters, problem),
                             config.agent->uses_low_fidelity);
  };
  if (!kind.has_files_by_seed(config.problem)) return hash(config.problem);
  std::string all;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const Values problem = kind.for_seed(config.problem, seed);
    // Said once and before anything runs, not by the run of that seed.
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
  Values visible;
  for (const ParameterInfo& info : kind.parameters)
    if (config.agent->uses_low_fidelity || !info.low_fidelity_only)
      visible[info.name] = config.problem.at(info.name);
  // What is in the files counts, not where they are.
  for (const std::string& name : kind.file_parameters) visible.erase(name);
  if (kind.content_hash) visible["content"] = content_of(config, kind, seeds);
  config.canonical = fmt::format("agent.kind = \"{}\"\n", config.agent->name);
  append(config.canonical, "agent", config.agent_parameters.all(), config.agent->parameters);
  if (config.agent->part_versions)
    for (const auto& [part, version] : config.agent->part_versions(config.agent_parameters))
      if (version > 1) config.canonical += fmt::format("agent.{}_version = {}\n", part, version);
  config.canonical += fmt::format("problem.kind = \"{}\"\n", kind.name);
  append(config.canonical, "problem", visible, kind.parameters);
  append(config.canonical, "test", config.test.all(), test_parameters());
  append(config.canonical, "train", config.train.all(), train_parameters());
  config.hash = hash_hex(config.canonical);
}

void check_root(const toml::table& root, const std::string& where) {
  const std::vector<std::string> known = {"spec_version", "name", "seeds", "problem",
                                          "train",        "test", "agent"};
  for (const auto& [key, node] : root)
    if (std::ranges::find(known, key.str()) == known.end())
      fail(fmt::format("{}: unknown key '{}'{} (known: {})", where, key.str(),
                       did_you_mean(key.str(), known), fmt::join(known, ", ")));
  const auto* version = root["spec_version"].as_integer();
  if (version == nullptr)
    fail(
        fmt::format("{}: spec_version is missing or no whole number; this program reads version {}",
                    where, kSpecVersion));
  if (version->get() != kSpecVersion)
    fail(fmt::format("{}: spec_version is {}, but this program reads version {}", where,
                     version->get(), kSpecVersion));
}

SeedRange read_seeds(const toml::table& root, const std::string& where) {
  const toml::node* node = root.get("seeds");
  if (node == nullptr) return {0, 0};
  try {
    if (const auto* count = node->as_integer()) return parse_seeds(std::to_string(count->get()));
    if (const auto* text = node->as_string()) return parse_seeds(text->get());
  } catch (const Error& e) {
    fail(fmt::format("{}: {}", where, e.what()));
  }
  fail(fmt::format("{}: seeds must be a number or a range such as \"0..35\"", where));
}

std::string read_name(const toml::table& root, const std::string& where) {
  const auto name = root["name"].value<std::string>();
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (!name) fail(fmt::format("{}: name is missing, or no string", where));
  if (name->empty() || name->size() > 100 || !std::ranges::all_of(*name, allowed))
    fail(
        fmt::format("{}: name is '{}', but must be 1 to 100 letters a-z, A-Z, digits, '-', '_' "
                    "and '.'",
                    where, name->substr(0, 100)));
  return *name;
}

// Everything that is the same for all agents.
struct Common {
  std::string where;
  std::shared_ptr<const ProblemKind> problem_kind;
  std::vector<Values> problems;
  Parameters train, test;
};

std::shared_ptr<const ProblemKind> find_problem_kind(
    const std::string& name, const std::shared_ptr<const ProblemKind>& own) {
  if (own && own->name == name) return own;
  // Registered kinds live as long as the program.
  return {std::shared_ptr<const ProblemKind>(), &problem_kind(name)};
}

void check_train(const Parameters& train, const Parameters& test, const std::string& where) {
  if ((train.integer("episodes") == 0) == (train.integer("steps") == 0))
    fail(fmt::format("{}: train: give episodes or steps, one of the two, above 0", where));
  const std::int64_t episodes = train.integer("episodes");
  if (episodes > 0 && train.integer("pilot_episodes") > episodes)
    fail(fmt::format("{}: train: pilot_episodes is {}, but must be at most episodes, {}", where,
                     train.integer("pilot_episodes"), episodes));
  const std::int64_t exact_every = test.integer("exact_every");
  if (exact_every % test.integer("every") != 0)
    fail(fmt::format("{}: test: exact_every is {}, but must be a multiple of every, {}", where,
                     exact_every, test.integer("every")));
}

// Common random numbers couple two tables only if both are drawn from in state order.
void check_coupling(const RunConfig& config, const std::string& where) {
  const auto& agent = config.agent_parameters.all();
  const auto coupling = agent.find("coupling");
  const auto sampling = config.problem.find("sampling");
  if (coupling != agent.end() && coupling->second == Value("common-random-numbers") &&
      sampling != config.problem.end() && sampling->second != Value("inverse-cdf"))
    fail(
        fmt::format("{}: coupling is 'common-random-numbers', which needs sampling = "
                    "\"inverse-cdf\" in [problem]",
                    where));
}

void check_discount(const AgentKind& kind, const Parameters& train, const std::string& where) {
  if (kind.plans && train.number("gamma") >= 1)
    fail(fmt::format("{}: it plans, for which gamma must be below 1", where));
}

// Of the configurations of one hash: the table that the first came from, and their labels.
struct Known {
  std::string origin;
  std::set<std::string> labels;
};

// Adds a configuration, unless it cannot be told apart from one that is there. With a label of its
// own it is a second name for the same runs. `origin` is its table: where several problems give one
// table the same agent, as MCRL does not see the SNR that is swept, nothing is lost by merging.
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

void add_agent(const Common& common, const Section& section, const std::string& where, Spec& spec,
               std::map<std::string, Known>& origins) {
  const std::vector<Values> agents = expand(section, where);
  if (common.problems.size() * agents.size() > kMaxConfigs - spec.configs.size())
    fail(fmt::format("{}: all sweeps together give more than {} combinations", where, kMaxConfigs));
  for (const Values& problem : common.problems)
    for (Values agent : agents) {
      const AgentKind& kind = in_place(
          where, [&]() -> const AgentKind& { return agent_kind(take_text(agent, "kind", "")); });
      const std::string label = agent.contains("label") ? take_text(agent, "label", where) : "";
      require_sane_label(label, where);
      const std::string where_kind = fmt::format("{} ({})", where, kind.name);
      check_discount(kind, common.train, where_kind);
      const Values overrides =
          take_problem_overrides(kind, *common.problem_kind, agent, where_kind, spec.notes);
      if (kind.complete) in_place(where_kind, [&] { kind.complete(agent); });
      Values merged = problem;
      for (const auto& [key, value] : overrides) merged[key] = value;
      const Parameters checked(
          fmt::format("{}: problem ({})", common.where, common.problem_kind->name),
          common.problem_kind->parameters, merged);
      if (common.problem_kind->validate)
        in_place(common.where + ": problem", [&] { common.problem_kind->validate(checked); });
      RunConfig config{.label = label,
                       .agent = &kind,
                       .agent_parameters = Parameters(where_kind, kind.parameters, agent),
                       .problem_kind = common.problem_kind,
                       .problem = {checked.all().begin(), checked.all().end()},
                       .train = common.train,
                       .test = common.test,
                       .canonical = {},
                       .hash = {}};
      if (common.problem_kind->check_agent)
        in_place(where_kind, [&] {
          common.problem_kind->check_agent(
              {config.agent_parameters.all().begin(), config.agent_parameters.all().end()});
        });
      check_coupling(config, where_kind);
      in_place(common.where + ": problem",
               [&] { canonicalise(config, *common.problem_kind, spec.seeds); });
      add_config(std::move(config), common.problems.size() > 1, where_kind, spec, origins);
    }
}

// The tables of a spec, checked.
Spec read_spec(toml::table& root, std::string_view text, const std::string& where, bool overridden,
               const std::shared_ptr<const ProblemKind>& own) {
  check_root(root, where);

  Section problem = read_section(table_of(root, "problem", where), where + ": problem");
  const std::string problem_name = take_text(problem.values, "kind", where + ": problem");
  const auto values_of = [&](std::string_view key) {
    const Section section =
        read_section(table_of(root, key, where), fmt::format("{}: {}", where, key));
    if (!section.sweep.empty())
      fail(fmt::format("{}: {}: only problem and agents can be swept", where, key));
    return section.values;
  };
  const Common common = {
      .where = where,
      .problem_kind =
          in_place(where + ": problem", [&] { return find_problem_kind(problem_name, own); }),
      .problems = expand(problem, where + ": problem"),
      .train = Parameters(where + ": train", train_parameters(), values_of("train")),
      .test = Parameters(where + ": test", test_parameters(), values_of("test")),
  };
  check_train(common.train, common.test, where);

  Spec spec{.name = read_name(root, where),
            .seeds = read_seeds(root, where),
            .configs = {},
            .text = std::string(text),
            .notes = {}};
  const bool renamed = shorten_paths(root, *common.problem_kind);
  if (overridden || renamed) {
    std::ostringstream out;
    out << root << "\n";
    spec.text = out.str();
  }
  const toml::array* agents = root["agent"].as_array();
  if (agents == nullptr || agents->empty())
    fail(fmt::format("{}: there must be at least one [[agent]]", where));
  std::map<std::string, Known> origins;  // by hash
  for (std::size_t i = 0; i < agents->size(); ++i) {
    const std::string where_agent = fmt::format("{}: agent {}", where, i + 1);
    const toml::table* table = agents->get(i)->as_table();
    if (table == nullptr) fail(fmt::format("{} must be a table", where_agent));
    add_agent(common, read_section(*table, where_agent), where_agent, spec, origins);
  }
  assign_labels(spec.configs, where);
  return spec;
}

}  // namespace

SeedRange parse_seeds(std::string_view text) {
  const auto number = [&](std::string_view digits) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size())
      fail(fmt::format("seeds is '{}', but must be a number such as 36 or a range such as 0..35",
                       text));
    return value;
  };
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    const std::uint64_t count = number(text);
    require_within("seeds", count, 1, kMaxSeeds);
    return {0, count - 1};
  }
  const SeedRange range = {number(text.substr(0, dots)), number(text.substr(dots + 2))};
  if (range.last < range.first || range.last - range.first >= kMaxSeeds)
    fail(fmt::format("seeds is '{}', but must be a rising range of at most {} seeds", text,
                     kMaxSeeds));
  if (range.last > 0x7fffffffffffffffULL) fail(fmt::format("seeds is '{}': too large", text));
  return range;
}

Spec parse_spec(std::string_view text, const std::string& where, const Overrides& overrides,
                const std::shared_ptr<const ProblemKind>& own) {
  require_sane_text(text, where);
  toml::table root;
  try {
    root = toml::parse(text, where);
  } catch (const toml::parse_error& e) {
    fail(fmt::format("{}:{}:{}: {}", where, e.source().begin.line, e.source().begin.column,
                     e.description()));
  }
  for (const std::string& override_text : overrides) apply_override(root, override_text);
  try {
    return read_spec(root, text, where, !overrides.empty(), own);
  } catch (const Error& e) {
    throw Error(e.code(), with_line(root, where, e.what()));
  }
}

Spec load_spec(const std::filesystem::path& file, const Overrides& overrides) {
  const std::string text = read_text_file(file, kMaxSpecBytes, Errc::spec);
  if (text.empty())
    fail(fmt::format("{}: is empty; docs/usage.md describes what a spec has", file.string()));
  return parse_spec(text, file.string(), overrides);
}

}  // namespace hilo
