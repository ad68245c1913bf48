#include "hilo/driver/learn_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/version.hpp"
#include "hilo/env/grid_source.hpp"
#include "hilo/env/policy.hpp"
#include "hilo/env/source_pool.hpp"

namespace hilo {
namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kMostWords = 1'000'000;

[[noreturn]] void fail(const std::string& where, const std::string& message) {
  throw Error(Errc::data, fmt::format("{}: {}", where, message));
}

std::string greedy_rows(const Behaviour& policy) {
  std::string out = "  \"greedy\": [\n";
  for (std::size_t s = 0; s < policy.heads.size(); ++s) {
    const GreedyHead head = policy.heads[s];
    std::vector<Action> actions = {head.first};
    if (head.count > 1)
      actions.assign(
          policy.ties.begin() + static_cast<std::ptrdiff_t>(s * policy.num_actions),
          policy.ties.begin() + static_cast<std::ptrdiff_t>(s * policy.num_actions + head.count));
    out += fmt::format("    [{}]{}\n", fmt::join(actions, ", "),
                       s + 1 < policy.heads.size() ? "," : "");
  }
  return out + "  ]";
}

template <class T>
std::vector<T> numbers(const Json& json, const char* key, const std::string& where) {
  if (!json.contains(key) || !json[key].is_array())
    fail(where, fmt::format("'{}' must be a list of numbers", key));
  std::vector<T> out;
  for (const Json& item : json[key]) {
    const bool fits = std::is_integral_v<T>
                          ? item.is_number_unsigned() && item.get<std::uint64_t>() <= 0xffffffffU
                          : item.is_number();
    if (!fits)
      fail(where, fmt::format("'{}' has {}, but must have {}", key, item.dump(),
                              std::is_integral_v<T> ? "whole numbers from 0" : "numbers"));
    out.push_back(item.get<T>());
  }
  return out;
}

std::uint64_t whole(const Json& json, const char* key, const std::string& where) {
  if (!json.contains(key) || !json[key].is_number_unsigned())
    fail(where, fmt::format("'{}' must be a whole number from 0", key));
  return json[key].get<std::uint64_t>();
}

// How vectors become states and actions, where a grid makes them.
std::string grids_of(const EpisodeSimulator& high) {
  const auto* pool = dynamic_cast<const SourcePool*>(&high);
  const auto* source = pool == nullptr ? nullptr : dynamic_cast<const GridSource*>(&pool->first());
  std::string out;
  const auto add = [&](const char* name, const Grid* grid) {
    if (grid != nullptr)
      out +=
          fmt::format("  \"{}\": {{\"cells\": [{}], \"low\": [{:.17g}], \"high\": [{:.17g}]}},\n",
                      name, fmt::join(grid->cells(), ", "), fmt::join(grid->low(), ", "),
                      fmt::join(grid->high(), ", "));
  };
  if (source == nullptr) return out;
  add("grid", source->states());
  add("action_grid", source->actions());
  return out;
}

}  // namespace

std::string policy_json(const Learner& learner) {
  const TabularAgent& agent = learner.agent();
  const Behaviour policy = agent.greedy();
  std::string out = fmt::format(
      "{{\n  \"hilo_policy\": 1,\n  \"kind\": \"table\",\n  \"name\": {},\n  \"agent\": {},\n"
      "  \"program\": {},\n  \"states\": {},\n  \"actions\": {},\n",
      Json(learner.spec().spec.name).dump(), Json(learner.agent_label()).dump(),
      Json(program_name()).dump(), policy.heads.size(), policy.num_actions);
  out += grids_of(learner.high()) + greedy_rows(policy) + ",\n  \"values\": [\n";
  std::vector<double> row(policy.num_actions);
  for (State s = 0; s < policy.heads.size(); ++s) {
    for (Action a = 0; a < policy.num_actions; ++a) row[a] = agent.q()(s, a);
    out += fmt::format("    [{:.17g}]{}\n", fmt::join(row, ", "),
                       s + 1 < policy.heads.size() ? "," : "");
  }
  return out + "  ]\n}\n";
}

std::string request_json(const LearnRequest& request, const LearnSpec& spec) {
  const TabularRequest& episode = request.episode;
  if (episode.horizon.max_steps > kMostWords)
    throw Error(Errc::usage,
                fmt::format("train.max_steps is {}, but must be at most {} for a request in a file",
                            episode.horizon.max_steps, kMostWords));
  std::string out = fmt::format(
      "{{\n  \"hilo_request\": 1,\n  \"name\": {},\n  \"episode\": {},\n  \"test\": {},\n"
      "  \"attempt\": {},\n  \"seed\": {},\n  \"max_steps\": {},\n  \"actions\": {},\n"
      "  \"epsilon\": {:.17g},\n",
      Json(spec.spec.name).dump(), request.at.episode,
      request.at.test ? fmt::format("{}", *request.at.test) : "null", request.attempt,
      episode.simulator_seed(), episode.horizon.max_steps, episode.policy.num_actions,
      episode.policy.epsilon);
  out += greedy_rows(episode.policy) + ",\n  \"words\": [\n";
  for (std::uint32_t t = 0; t < episode.horizon.max_steps; ++t) {
    Rng rng = Rng::of_step(episode.streams.stream(), t + 1);
    const ActionWords words = draw_action_words(rng);
    out += fmt::format("    [{}, {}]{}\n", words.explore, words.action,
                       t + 1 < episode.horizon.max_steps ? "," : "");
  }
  return out + "  ]\n}\n";
}

Told read_told(const std::string& text, const std::string& where) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) fail(where, "is not a JSON object");
  Told told;
  told.at.episode = whole(json, "episode", where);
  if (json.contains("test") && !json["test"].is_null()) told.at.test = whole(json, "test", where);
  if (json.contains("attempt")) told.attempt = whole(json, "attempt", where);
  if (json.contains("cost")) {
    if (!json["cost"].is_number() || !(json["cost"].get<double>() >= 0))
      fail(where, "'cost' must be a number from 0");
    told.cost = json["cost"].get<double>();
  }
  if (json.contains("failure")) {
    if (!json["failure"].is_string()) fail(where, "'failure' must be a text");
    told.failure = json["failure"].get<std::string>();
    return told;
  }
  Episode episode;
  episode.states = numbers<State>(json, "states", where);
  episode.actions = numbers<Action>(json, "actions", where);
  episode.rewards = numbers<double>(json, "rewards", where);
  if (!json.contains("truncated") || !json["truncated"].is_boolean())
    fail(where, "'truncated' must be true or false");
  episode.truncated = json["truncated"].get<bool>();
  told.episode = std::move(episode);
  return told;
}

}  // namespace hilo
