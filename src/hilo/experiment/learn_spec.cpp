#include "hilo/experiment/learn_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "hilo/core/error.hpp"
#include "hilo/core/text_file.hpp"
#include "hilo/diagnose/pilot_fit.hpp"
#include "hilo/experiment/detail/learn_toml.hpp"
#include "hilo/experiment/detail/spec_configs.hpp"
#include "hilo/experiment/detail/spec_limits.hpp"
#include "hilo/experiment/detail/spec_toml.hpp"

namespace hilo {
namespace {

constexpr double kMaxEpisodes = 4e9;
// Planning agents keep some hundred bytes for every pair of state and action.
constexpr std::size_t kMostPlannedPairs = 2'000'000;

[[noreturn]] void fail(const std::string& message) { throw Error(Errc::spec, message); }

// What the contests recommend (docs/agents.md) for tables.
struct Choice {
  NamedValues agent;
  std::string why;
};

Choice choose_agent(const ProblemKind& kind, const NamedValues& problem, double gamma,
                    std::uint64_t seed) {
  const bool has_low = kind.count_low_fidelities(problem) > 0;
  if (kind.has_vectors(problem))
    return {{{"kind", has_low ? "corrected" : "corrected-high"}},
            has_low ? "corrected, because states are vectors: it learns how the cheap simulator "
                      "errs, and optimises a network in the corrected one"
                    : "corrected-high, because states are vectors and there is no cheap simulator: "
                      "it learns the expensive one from its steps"};
  const HighSimulator high = build_high_fidelity(kind, problem, seed);
  const std::size_t pairs = high->num_states() * high->num_actions();
  const bool plans = gamma < 1 && pairs <= kMostPlannedPairs;
  if (plans && has_low)
    return {
        {{"kind", "bayes"}},
        "bayes, because a model of all pairs of state and action fits into memory: it needed the "
        "fewest expensive episodes in our contests, and weighs the cheap simulator by how well "
        "it predicts"};
  if (plans)
    return {
        {{"kind", "bayes-high"}},
        "bayes-high, because a model of all pairs of state and action fits into memory and there "
        "is no cheap simulator"};
  const std::string reason = gamma < 1 ? fmt::format(
                                             "{} pairs of state and action are too many for "
                                             "a model",
                                             pairs)
                                       : "gamma = 1, and agents that plan need gamma below 1";
  if (has_low)
    return {{{"kind", "mfmcrl"}, {"variant", "plus"}},
            fmt::format("mfmcrl, variant plus, because {}; it corrects Monte Carlo returns by the "
                        "cheap simulator",
                        reason)};
  return {{{"kind", "expected-sarsa"}},
          fmt::format("expected-sarsa, because {} and there is no cheap simulator", reason)};
}

void require_no_budget(const SpecTable& train, const std::string& where) {
  for (const char* key : {"episodes", "steps", "pilot_episodes"})
    if (train.values.contains(key))
      fail(
          fmt::format("{}: train: '{}' belongs to hilo run; what a learn run may spend is said in "
                      "[budget] and [pilot]",
                      where, key));
}

Budget read_budget(const NamedValues& given, const std::string& where) {
  const Parameters p(where + ": budget", budget_parameters(), given);
  Budget budget{.episodes = static_cast<std::uint64_t>(p.integer("episodes")),
                .steps = static_cast<std::uint64_t>(p.integer("steps")),
                .cost = p.number("cost"),
                .wall = p.number("wall"),
                .reserve = {}};
  if (budget.episodes == 0 && budget.steps == 0 && budget.cost == 0 && budget.wall == 0)
    fail(fmt::format("{}: budget: give at least one of episodes, steps, cost and wall, above 0",
                     where));
  if (p.integer("reserve") >= 0) budget.reserve = static_cast<std::uint64_t>(p.integer("reserve"));
  if (budget.reserve && budget.episodes > 0 && *budget.reserve >= budget.episodes)
    fail(fmt::format("{}: budget: reserve is {}, but must be below episodes, {}", where,
                     *budget.reserve, budget.episodes));
  return budget;
}

Configuration identity_of(const LearnSpec& learn, const LearnData& data, const std::string& where) {
  Configuration identity;
  for (const auto& [key, value] : learn.config().configuration.entries())
    if (!key.starts_with("test.") && key != "train.episodes" && key != "train.steps")
      identity.add(key, value);
  const Parameters costs(where, cost_parameters(), data.cost);
  for (const auto& [key, value] : costs.all())
    if (data.cost.contains(key)) identity.add("cost." + key, quoted_text(value));
  identity.add("failures.retries", fmt::format("{}", learn.failures.retries));
  identity.add("failures.on_failure", learn.failures.stop ? "\"stop\"" : "\"skip\"");
  identity.add("algorithm_version", fmt::format("{}", learn.config().agent->algorithm_version));
  identity.add("seed", fmt::format("{}", learn.seed));
  return identity;
}

bool has_vectors(const SpecData& spec, const std::shared_ptr<const ProblemKind>& own) {
  if (own != nullptr) return own->has_vectors(spec.problem.values);
  const auto kind = spec.problem.values.find("kind");
  const auto* name =
      kind != spec.problem.values.end() ? std::get_if<std::string>(&kind->second) : nullptr;
  return name != nullptr && is_problem_kind(*name) &&
         problem_kind(*name).has_vectors(spec.problem.values);
}

// A pilot judges the estimator of one kind of agent, so that another has no use for its answer.
void check_pilot(const LearnSpec& learn, const std::string& where) {
  const RunConfig& config = learn.config();
  const std::uint64_t episodes = learn.pilot_episodes;
  if (!config.agent->pilot || !config.agent->without_low_fidelity)
    fail(fmt::format(
        "{}: pilot: episodes is {}, but the agent is {}, of which a pilot says nothing{}; a pilot "
        "is for agent = \"mfmcrl\", whose estimator it judges",
        where, episodes, config.agent->name,
        learn.choice.empty() ? "" : " (hilo chose it, because the spec names none)"));
  const PilotView view =
      config.agent->pilot(config.agent_parameters, config.train.number("epsilon"), 1);
  if (!view.obstacle.empty()) fail(fmt::format("{}: pilot: {}", where, view.obstacle));
  if (config.train.integer("lag") > 1)
    fail(
        fmt::format("{}: pilot: episodes is {}, but with train.lag = {} an episode would act on a "
                    "policy from before the verdict; one of the two must go",
                    where, episodes, config.train.integer("lag")));
  if (episodes < kPilotGroups)
    fail(fmt::format("{}: pilot: episodes is {}, but must be 0, or at least {} to tell anything",
                     where, episodes, kPilotGroups));
  const std::uint64_t most = learn.budget.episodes - learn.reserved_episodes().value_or(0);
  if (learn.budget.episodes > 0 && episodes >= most)
    fail(fmt::format("{}: pilot: episodes is {}, but must be below the {} episodes to learn from",
                     where, episodes, most));
}

}  // namespace

std::span<const ParameterInfo> budget_parameters() {
  static const std::vector<ParameterInfo> kInfos = {
      {.name = "episodes",
       .description = "expensive episodes, with those of the final test; 0: no limit",
       .default_value = std::int64_t{0},
       .low = 0,
       .high = kMaxEpisodes},
      {.name = "steps",
       .description = "steps of the expensive simulator; 0: no limit",
       .default_value = std::int64_t{0},
       .low = 0,
       .high = 1e15},
      {.name = "cost",
       .description = "cost of both simulators, in the unit of [cost]; 0: no limit",
       .default_value = 0.0,
       .low = 0,
       .high = 1e300},
      {.name = "wall",
       .description = "seconds of wall time; 0: no limit",
       .default_value = 0.0,
       .low = 0,
       .high = 1e9},
      {.name = "reserve",
       .description = "episodes of the final test, which are not learnt from; -1: a tenth",
       .default_value = std::int64_t{-1},
       .low = -1,
       .high = kMaxEpisodes},
  };
  return kInfos;
}

std::span<const ParameterInfo> cost_parameters() {
  static const std::vector<ParameterInfo> kInfos = {
      {.name = "high_episode",
       .description = "cost of starting an expensive episode",
       .default_value = 0.0,
       .low = 0,
       .high = 1e300},
      {.name = "high_step",
       .description = "cost of a step of the expensive simulator",
       .default_value = 0.0,
       .low = 0,
       .high = 1e300},
      {.name = "low_step",
       .description = "cost of a step of a cheap simulator",
       .default_value = 0.0,
       .low = 0,
       .high = 1e300},
  };
  return kInfos;
}

std::span<const ParameterInfo> failure_parameters() {
  static const std::vector<ParameterInfo> kInfos = {
      {.name = "retries",
       .description = "further attempts at an episode that failed, with the same seed",
       .default_value = std::int64_t{2},
       .low = 0,
       .high = 1000},
      {.name = "on_failure",
       .description = "what happens if all attempts failed: skip the episode, or stop the run",
       .default_value = "skip",
       .choices = {"skip", "stop"}},
  };
  return kInfos;
}

std::span<const ParameterInfo> pilot_parameters() {
  static const std::vector<ParameterInfo> kInfos = {
      {.name = "episodes",
       .description = "first expensive episodes, which are learnt from and judge the cheap "
                      "simulator, for the agent mfmcrl; 0: no pilot",
       .default_value = std::int64_t{0},
       .low = 0,
       .high = 10'000'000},
  };
  return kInfos;
}

std::optional<std::uint64_t> LearnSpec::reserved_episodes() const {
  if (budget.reserve) return budget.reserve;
  if (budget.episodes == 0) return std::nullopt;
  if (budget.episodes < 2) return 0;
  return std::max<std::uint64_t>(budget.episodes / 10, budget.episodes >= 50 ? 10 : 1);
}

LearnSpec make_learn_spec(const LearnData& given, const std::string& where,
                          const std::shared_ptr<const ProblemKind>& own) {
  LearnData data = given;
  require_no_budget(data.spec.train, where);
  if (!data.spec.test.values.empty() || !data.spec.test.sweep.empty())
    fail(fmt::format(
        "{}: [test] belongs to hilo run; a learn run has one final test, whose episodes "
        "are budget.reserve",
        where));
  if (data.spec.agents.size() > 1)
    fail(fmt::format("{}: there are {} agents, but a learn run has one", where,
                     data.spec.agents.size()));
  if (data.spec.seeds.first != data.spec.seeds.last)
    fail(fmt::format("{}: a learn run has one seed", where));
  take_spending(data, own);
  LearnSpec learn;
  learn.seed = data.spec.seeds.first;
  learn.budget = read_budget(data.budget, where);
  learn.costs = read_costs(data.cost, where);
  if (learn.budget.cost > 0 && learn.costs.any() && learn.costs.high_episode.value_or(0) == 0 &&
      learn.costs.high_step.value_or(0) == 0)
    fail(fmt::format(
        "{}: budget: cost is {}, but [cost] says that expensive episodes cost nothing, so "
        "that it would never be reached",
        where, learn.budget.cost));
  learn.failures = read_failures(data.failures, where);
  const Parameters pilot(where + ": pilot", pilot_parameters(), data.pilot);
  learn.pilot_episodes = static_cast<std::uint64_t>(pilot.integer("episodes"));
  if (learn.pilot_episodes > 0)
    data.spec.train.values["pilot_episodes"] = pilot.integer("episodes");
  // The run's own budget is never reached, and its own tests are never due.
  data.spec.train.values["episodes"] = static_cast<std::int64_t>(kMaxEpisodes);
  data.spec.test.values["episodes"] = std::int64_t{0};
  data.spec.test.values["every"] = static_cast<std::int64_t>(kMaxEpisodes);
  const bool choose =
      data.spec.agents.empty() || data.spec.agents[0].values == NamedValues{{"kind", "auto"}};
  if (choose) {
    // To have the problem checked, an agent that fits it.
    data.spec.agents = {{.values = {{"kind", has_vectors(data.spec, own) ? "direct" : "mcrl"}}}};
    const Spec checked = make_spec(data.spec, where, own);
    const RunConfig& config = checked.configs.front();
    const Choice choice = choose_agent(*config.problem_kind, config.problem,
                                       config.train.number("gamma"), learn.seed);
    data.spec.agents = {{.values = choice.agent}};
    if (data.low_is_slow || config.problem_kind->low_is_slow)
      data.spec.agents[0].values.merge(NamedValues(
          agent_kind(std::get<std::string>(choice.agent.at("kind"))).for_slow_low_fidelity));
    learn.choice = choice.why;
  }
  learn.spec = make_spec(data.spec, where, own);
  if (learn.spec.configs.size() != 1)
    fail(fmt::format("{}: a learn run has one configuration, so nothing can be swept", where));
  if (learn.pilot_episodes > 0) {
    check_pilot(learn, where);
    data.spec.agents = {
        {.values = learn.config().agent->without_low_fidelity(learn.config().agent_parameters)}};
    // Values of the problem that came with a variant of the agent stay.
    for (const auto& [key, value] : learn.config().problem) data.spec.problem.values[key] = value;
    learn.without_low = make_spec(data.spec, where, own);
  }
  learn.identity = identity_of(learn, data, where);
  return learn;
}

LearnSpec parse_learn_spec(std::string_view text, const std::string& where,
                           const Overrides& overrides,
                           const std::shared_ptr<const ProblemKind>& own) {
  toml::table root = parse_toml(text, where, overrides);
  try {
    LearnSpec learn = make_learn_spec(read_learn_spec(root, where), where, own);
    shorten_paths(root, *learn.config().problem_kind);
    std::ostringstream out;
    out << root << "\n";
    learn.spec.text = out.str();
    return learn;
  } catch (const Error& e) {
    throw Error(e.code(), with_line(root, where, e.what()));
  }
}

LearnSpec load_learn_spec(const std::filesystem::path& file, const Overrides& overrides) {
  const std::string text = read_text_file(file, kMaxSpecBytes, Errc::spec);
  if (text.empty())
    fail(fmt::format("{}: is empty; docs/learn.md describes what a spec has", file.string()));
  return parse_learn_spec(text, file.string(), overrides);
}

}  // namespace hilo
