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
#include "hilo/policy/network_file.hpp"
#include "hilo/policy/softmax_policy.hpp"

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
std::string grids_of(const AnySimulator& high) {
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

const NetworkPolicy& network_of(const Policy& policy) {
  if (const auto* network = dynamic_cast<const NetworkPolicy*>(&policy)) return *network;
  throw Error(Errc::usage, "only policies that are networks can be asked for in a file");
}

std::string row_of_numbers(const std::vector<double>& numbers) {
  return fmt::format("[{:.17g}]", fmt::join(numbers, ", "));
}

// What is added to the action, or the action that is taken instead of the network's; null: nothing.
std::string noise_row(const NetworkPolicy& network, ActionWords words) {
  const Space& space = network.action_space();
  if (space.is_discrete()) {
    Columns action(1, 1);
    action.at(0, 0) = -1;
    add_action_noise(space, network.noise(), words, 0, 1, action);
    return action.at(0, 0) < 0 ? "null" : fmt::format("{}", action.at(0, 0));
  }
  std::vector<double> added(space.dimension());
  draw_action_noise(space, network.noise(), words, added);
  return row_of_numbers(added);
}

// Points of a space, a list of numbers or one number for each; returns the numbers of each.
std::uint64_t read_points(const Json& json, const char* key, const std::string& where,
                          std::vector<double>& out) {
  if (!json.contains(key) || !json[key].is_array())
    fail(where, fmt::format("'{}' must be a list", key));
  std::uint64_t size = 0;
  for (const Json& point : json[key]) {
    const std::uint64_t before = out.size();
    if (point.is_number()) {
      out.push_back(point.get<double>());
    } else if (point.is_array()) {
      for (const Json& number : point) {
        if (!number.is_number())
          fail(where, fmt::format("'{}' has {}, but must have numbers", key, number.dump()));
        out.push_back(number.get<double>());
      }
    } else {
      fail(where, fmt::format("'{}' has {}, but must have lists of numbers", key, point.dump()));
    }
    if (size == 0) size = out.size() - before;
    if (size == 0 || out.size() - before != size)
      fail(where, fmt::format("'{}' must have lists of equally many numbers", key));
  }
  return size;
}

}  // namespace

std::string policy_json(const Learner& learner) {
  if (learner.table_agent() == nullptr) {
    const PolicyArtifact artifact = learner.agent().artifact();
    return {reinterpret_cast<const char*>(artifact.bytes.data()), artifact.bytes.size()};
  }
  const TabularAgent& agent = *learner.table_agent();
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
  const std::uint32_t max_steps = request.horizon.max_steps;
  if (max_steps > kMostWords)
    throw Error(Errc::usage,
                fmt::format("train.max_steps is {}, but must be at most {} for a request in a file",
                            max_steps, kMostWords));
  std::string out = fmt::format(
      "{{\n  \"hilo_request\": 1,\n  \"name\": {},\n  \"episode\": {},\n  \"test\": {},\n"
      "  \"attempt\": {},\n  \"seed\": {},\n  \"max_steps\": {},\n",
      Json(spec.spec.name).dump(), request.at.episode,
      request.at.test ? fmt::format("{}", *request.at.test) : "null", request.attempt,
      request.simulator_seed(), max_steps);
  const auto rows = [&](const char* name, const auto& row_of) {
    out += fmt::format("  \"{}\": [\n", name);
    for (std::uint32_t t = 0; t < max_steps; ++t) {
      Rng rng = Rng::of_step(request.streams.stream(), t + 1);
      out +=
          fmt::format("    {}{}\n", row_of(draw_action_words(rng)), t + 1 < max_steps ? "," : "");
    }
    out += "  ]\n}\n";
  };
  if (!request.is_table()) {
    const auto add_policy = [&](const auto& network) {
      out += fmt::format("  \"policy\": {},\n",
                         Json::parse(network_json(network.shape(), network.weights(), "")).dump());
    };
    if (const auto* softmax = dynamic_cast<const SoftmaxPolicy*>(&request.vectors())) {
      add_policy(*softmax);
      std::vector<double> added(softmax->shape().num_outputs());
      rows("noise", [&](ActionWords words) {
        draw_gumbel(words, added);
        return row_of_numbers(added);
      });
      return out;
    }
    const NetworkPolicy& network = network_of(request.vectors());
    add_policy(network);
    rows("noise", [&](ActionWords words) { return noise_row(network, words); });
    return out;
  }
  const Behaviour& policy = request.table();
  out += fmt::format("  \"actions\": {},\n  \"epsilon\": {:.17g},\n{},\n", policy.num_actions,
                     policy.epsilon, greedy_rows(policy));
  rows("words",
       [](ActionWords words) { return fmt::format("[{}, {}]", words.explore, words.action); });
  return out;
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
  const auto truncated = [&] {
    if (!json.contains("truncated") || !json["truncated"].is_boolean())
      fail(where, "'truncated' must be true or false");
    return json["truncated"].get<bool>();
  };
  if (json.contains("observations")) {
    told.vectors = VectorPath{.observations = {},
                              .actions = {},
                              .rewards = numbers<double>(json, "rewards", where),
                              .truncated = truncated()};
    told.vectors->observation_size =
        read_points(json, "observations", where, told.vectors->observations);
    told.vectors->action_size = read_points(json, "actions", where, told.vectors->actions);
    return told;
  }
  Episode episode;
  episode.states = numbers<State>(json, "states", where);
  episode.actions = numbers<Action>(json, "actions", where);
  episode.rewards = numbers<double>(json, "rewards", where);
  episode.truncated = truncated();
  told.episode = std::move(episode);
  return told;
}

}  // namespace hilo
