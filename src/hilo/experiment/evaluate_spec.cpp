#include "hilo/experiment/evaluate_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "hilo/core/error.hpp"
#include "hilo/core/text_file.hpp"
#include "hilo/experiment/detail/learn_toml.hpp"
#include "hilo/experiment/detail/spec_limits.hpp"
#include "hilo/experiment/detail/spec_toml.hpp"

namespace hilo {
namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(Errc::spec, message); }

std::optional<double> taken(NamedValues& values, const std::string& key) {
  const auto found = values.find(key);
  if (found == values.end()) return std::nullopt;
  std::optional<double> out;
  if (const auto* number = std::get_if<double>(&found->second)) out = *number;
  if (const auto* whole = std::get_if<std::int64_t>(&found->second))
    out = static_cast<double>(*whole);
  if (!out) return std::nullopt;  // which the check of the problem refuses
  require_within("problem." + key, *out, 0, 1e300, Errc::spec);
  values.erase(found);
  return out;
}

// A problem of programs says what each of its simulators costs; [cost] holds for all cheap ones
// that do not.
std::vector<EpisodeCosts> take_costs(LearnData& data, const std::string& where) {
  NamedValues& problem = data.spec.problem.values;
  std::vector<EpisodeCosts> costs(kMostCheap + 1);
  for (std::size_t s = 1; s < costs.size(); ++s) {
    const std::string side = s == 1 ? "low" : fmt::format("low.{}", s);
    costs[s] = {.episode = taken(problem, side + ".cost_episode"),
                .step = taken(problem, side + ".cost_step")};
  }
  take_spending(data, nullptr);
  const DeclaredCosts declared = read_costs(data.cost, where);
  costs[0] = {.episode = declared.high_episode, .step = declared.high_step};
  for (std::size_t s = 1; s < costs.size(); ++s)
    if (!costs[s].any()) costs[s].step = declared.low_step;
  return costs;
}

EvaluationCoupling coupling_of(const std::string& name) {
  if (name == "seed") return EvaluationCoupling::seed;
  if (name == "start") return EvaluationCoupling::start;
  if (name == "none") return EvaluationCoupling::none;
  return EvaluationCoupling::automatic;
}

EvaluateSpec make(LearnData data, const std::string& where) {
  const std::string place = where + ": evaluate";
  const Parameters p(place, evaluate_parameters(), data.evaluate);
  EvaluateSpec out;
  out.rules = {
      .episodes = p.number("episodes"), .cost = p.number("cost"), .until = p.number("until")};
  if (out.rules.episodes > 0 && out.rules.cost > 0)
    fail(fmt::format("{}: episodes and cost are both given; a budget has one of them", place));
  if (out.rules.episodes == 0 && out.rules.cost == 0) {
    if (out.rules.until == 0)
      fail(
          fmt::format("{}: give a budget, episodes or cost, or until, the half-width to reach "
                      "(--budget, --until)",
                      place));
    constexpr double kMostEpisodes = 10'000;
    out.rules.episodes = kMostEpisodes;
  }
  out.quantity.kind = quantity_kind(p.text("quantity"));
  if (data.evaluate.contains("success_above")) {
    if (out.quantity.kind != QuantityKind::success)
      fail(fmt::format("{}: success_above is given, but quantity is '{}'", place,
                       p.text("quantity")));
    out.quantity.success_above = p.number("success_above");
  }
  out.coupling = coupling_of(p.text("coupling"));
  out.seed = data.spec.seeds.first;
  out.costs = take_costs(data, where);
  out.failures = read_failures(data.failures, where);
  for (const char* key : {"episodes", "steps", "pilot_episodes"})
    if (data.spec.train.values.contains(key))
      fail(fmt::format(
          "{}: train: '{}' belongs to hilo run; what an evaluation may spend is said in "
          "[evaluate]",
          where, key));
  data.spec.train.values["episodes"] = std::int64_t{1};
  data.spec.test.values.clear();
  // To have the problem checked, an agent that fits it.
  const auto kind = data.spec.problem.values.find("kind");
  const auto* name =
      kind != data.spec.problem.values.end() ? std::get_if<std::string>(&kind->second) : nullptr;
  const bool has_vectors = name != nullptr && is_problem_kind(*name) &&
                           problem_kind(*name).has_vectors(data.spec.problem.values);
  data.spec.agents = {{.values = {{"kind", has_vectors ? "direct" : "mcrl"}}}};
  out.spec = make_spec(data.spec, where);
  if (out.spec.configs.size() != 1)
    fail(fmt::format("{}: an evaluation has one configuration, so nothing can be swept", where));
  const RunConfig& config = out.config();
  out.rules.num_cheap = config.problem_kind->count_low_fidelities(config.problem);
  if (out.rules.num_cheap > kMostCheap)
    fail(fmt::format("{}: there are {} cheap simulators, but at most {} can help", where,
                     out.rules.num_cheap, kMostCheap));
  out.costs.resize(out.rules.num_cheap + 1);
  out.rules.charges_means = !out.declares_costs();
  return out;
}

}  // namespace

bool EvaluateSpec::declares_costs() const {
  return std::ranges::any_of(costs, [](const EpisodeCosts& c) { return c.any(); });
}

std::span<const ParameterInfo> evaluate_parameters() {
  static const std::vector<ParameterInfo> kInfos = {
      {.name = "episodes",
       .description = "budget: the cost of so many expensive episodes, cheap ones included",
       .default_value = 0.0,
       .low = 0,
       .high = 1e9},
      {.name = "cost",
       .description = "budget: the cost of all episodes, in the unit of [cost]",
       .default_value = 0.0,
       .low = 0,
       .high = 1e300},
      {.name = "until",
       .description =
           "stop as soon as the interval reaches this far on either side; 0: spend it all",
       .default_value = 0.0,
       .low = 0,
       .high = 1e300},
      {.name = "quantity",
       .description = "what is measured of an episode: return is discounted, total-reward is not",
       .default_value = "return",
       .choices = quantity_names()},
      {.name = "success_above",
       .description = "for success: the least total reward; without it, an episode succeeds if it "
                      "ends by itself",
       .default_value = 0.0,
       .low = -1e300,
       .high = 1e300},
      {.name = "coupling",
       .description = "what expensive and cheap episodes share: the seed, the seed and the start "
                      "state, or nothing",
       .default_value = "auto",
       .choices = {"auto", "seed", "start", "none"}},
  };
  return kInfos;
}

EvaluateSpec parse_evaluate_spec(std::string_view text, const std::string& where,
                                 const Overrides& overrides) {
  toml::table root = parse_toml(text, where, overrides);
  try {
    EvaluateSpec out = make(read_learn_spec(root, where), where);
    shorten_paths(root, *out.config().problem_kind);
    std::ostringstream stream;
    stream << root << "\n";
    out.spec.text = stream.str();
    return out;
  } catch (const Error& e) {
    throw Error(e.code(), with_line(root, where, e.what()));
  }
}

EvaluateSpec load_evaluate_spec(const std::filesystem::path& file, const Overrides& overrides) {
  const std::string text = read_text_file(file, kMaxSpecBytes, Errc::spec);
  if (text.empty())
    fail(fmt::format("{}: is empty; docs/evaluate.md describes what a spec has", file.string()));
  return parse_evaluate_spec(text, file.string(), overrides);
}

}  // namespace hilo
