#include "hilo/policy/policy_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/core/text_file.hpp"

namespace hilo {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxPolicyBytes = std::size_t{1} << 30;

[[noreturn]] void fail(const std::string& where, const std::string& message) {
  throw Error(Errc::data, fmt::format("{}: {}", where, message));
}

// A table that owns what a Behaviour shows.
class GreedyTable final : public Policy {
 public:
  GreedyTable(const std::vector<std::vector<Action>>& greedy, std::size_t num_actions)
      : Policy(Space::discrete(greedy.size()), Space::discrete(num_actions)),
        ties_(greedy.size() * num_actions) {
    for (std::size_t s = 0; s < greedy.size(); ++s) {
      heads_.push_back(
          {.count = static_cast<std::uint32_t>(greedy[s].size()), .first = greedy[s].front()});
      std::ranges::copy(greedy[s], ties_.begin() + static_cast<std::ptrdiff_t>(s * num_actions));
    }
    behaviour_ = {.heads = heads_,
                  .ties = ties_,
                  .num_actions = static_cast<std::uint32_t>(num_actions),
                  .epsilon = 0};
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
  std::vector<GreedyHead> heads_;
  std::vector<Action> ties_;
  Behaviour behaviour_;
};

// A table whose states, actions or both are cells of a grid.
class GridPolicy final : public Policy {
 public:
  GridPolicy(const Space& observations, const Space& actions, std::shared_ptr<const Policy> table,
             std::shared_ptr<const Grid> cells, std::shared_ptr<const Grid> moves)
      : Policy(observations, actions),
        table_(std::move(table)),
        cells_(std::move(cells)),
        moves_(std::move(moves)) {}

  void act(const Points& observations, std::span<const ActionWords> words,
           Points& actions) const override {
    actions.clear();
    std::vector<double> centre;
    for (std::size_t i = 0; i < observations.size(); ++i) {
      const std::uint64_t s =
          cells_ ? cells_->cell_of(observations[i].coordinates()) : observations.indices()[i];
      const Action a =
          table_->table()->choose(static_cast<State>(s), words[i].explore, words[i].action);
      if (!moves_) {
        actions.push_back(std::uint64_t{a});
        continue;
      }
      moves_->centre_of(a, centre);
      actions.push_back(std::span<const double>(centre));
    }
  }

 private:
  std::shared_ptr<const Policy> table_;
  std::shared_ptr<const Grid> cells_, moves_;
};

class UniformPolicy final : public Policy {
 public:
  UniformPolicy(const Space& observations, const Space& actions) : Policy(observations, actions) {
    for (std::size_t i = 0; i < actions.dimension(); ++i)
      if (!std::isfinite(actions.low()[i]) || !std::isfinite(actions.high()[i]))
        throw Error(Errc::usage,
                    fmt::format("a uniform policy needs finite bounds, but an action is {}",
                                actions.describe()));
    if (!observations.is_discrete() || !actions.is_discrete()) return;
    // It always explores, so that its greedy action is never taken.
    heads_.assign(observations.size(), {.count = 1, .first = 0});
    behaviour_ = {.heads = heads_,
                  .ties = {&first_, 1},
                  .num_actions = static_cast<std::uint32_t>(actions.size()),
                  .epsilon = 1};
  }

  void act(const Points& observations, std::span<const ActionWords> words,
           Points& actions) const override {
    actions.clear();
    std::vector<double> point(action_space().dimension());
    for (std::size_t i = 0; i < observations.size(); ++i) {
      if (action_space().is_discrete()) {
        actions.push_back(std::uint64_t{
            scale_below(words[i].action, static_cast<std::uint32_t>(action_space().size()))});
        continue;
      }
      // One word for each dimension, made from the two words of the step.
      const Stream stream(std::uint64_t{words[i].explore} << 32 | words[i].action, Purpose::choice);
      Rng rng(stream);
      for (std::size_t k = 0; k < point.size(); ++k)
        point[k] = action_space().low()[k] +
                   rng.uniform() * (action_space().high()[k] - action_space().low()[k]);
      actions.push_back(std::span<const double>(point));
    }
  }
  const Behaviour* table() const override { return heads_.empty() ? nullptr : &behaviour_; }

 private:
  std::vector<GreedyHead> heads_;
  Action first_ = 0;
  Behaviour behaviour_;
};

std::uint64_t whole(const Json& json, const char* key, const std::string& where) {
  if (!json.contains(key) || !json[key].is_number_unsigned() || json[key] == 0)
    fail(where, fmt::format("'{}' must be a whole number from 1", key));
  return json[key].get<std::uint64_t>();
}

std::vector<double> numbers(const Json& json, const char* key, const std::string& where) {
  std::vector<double> out;
  if (!json.contains(key) || !json[key].is_array())
    fail(where, fmt::format("'{}' must be a list of numbers", key));
  for (const Json& item : json[key]) {
    if (!item.is_number() || !std::isfinite(item.get<double>()))
      fail(where, fmt::format("'{}' has {}, but must have numbers", key, item.dump()));
    out.push_back(item.get<double>());
  }
  return out;
}

std::shared_ptr<const Grid> grid_in(const Json& json, const char* key, std::uint64_t size,
                                    const std::string& where) {
  if (!json.contains(key)) return nullptr;
  const std::string place = fmt::format("{}: {}", where, key);
  if (!json[key].is_object()) fail(where, fmt::format("'{}' must be an object", key));
  std::vector<std::uint64_t> cells;
  for (const double count : numbers(json[key], "cells", place)) {
    if (count < 1 || count > 1e9 || count != std::floor(count))
      fail(place, fmt::format("'cells' has {}, but must have whole numbers from 1", count));
    cells.push_back(static_cast<std::uint64_t>(count));
  }
  try {
    auto grid = std::make_shared<const Grid>(cells, numbers(json[key], "low", place),
                                             numbers(json[key], "high", place));
    if (grid->size() != size)
      fail(place, fmt::format("has {} cells, but the table has {}", grid->size(), size));
    return grid;
  } catch (const Error& e) {
    throw Error(Errc::data, e.code() == Errc::data ? std::string(e.what())
                                                   : fmt::format("{}: {}", place, e.what()));
  }
}

std::vector<Action> greedy_row(const Json& row, std::uint64_t num_actions, std::size_t s,
                               const std::string& where) {
  std::vector<Action> out;
  if (row.is_array())
    for (const Json& item : row)
      if (item.is_number_unsigned() && item.get<std::uint64_t>() < num_actions)
        out.push_back(item.get<Action>());
  if (!row.is_array() || row.empty() || out.size() != row.size() ||
      std::ranges::adjacent_find(out, std::greater_equal()) != out.end())
    fail(where, fmt::format("'greedy' of state {} is {}, but must be a rising list of actions from "
                            "0 to {}",
                            s, row.dump(), num_actions - 1));
  return out;
}

}  // namespace

SavedPolicy parse_policy(const std::string& text, const std::string& where) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object() || !json.contains("hilo_policy"))
    fail(where, "is not a policy of hilo: a JSON object with the key 'hilo_policy'");
  if (json["hilo_policy"] != 1)
    fail(where, fmt::format("'hilo_policy' is {}, but this hilo knows version 1",
                            json["hilo_policy"].dump()));
  if (!json.contains("kind") || json["kind"] != "table")
    fail(where, fmt::format("'kind' is {}, but must be \"table\"",
                            json.contains("kind") ? json["kind"].dump() : "missing"));
  SavedPolicy out;
  out.values.num_states = whole(json, "states", where);
  out.values.num_actions = whole(json, "actions", where);
  if (out.values.num_states > kMaxTableSize ||
      out.values.num_actions > kMaxTableSize / out.values.num_states)
    fail(where, "has more pairs of state and action than a table can have");
  if (!json.contains("greedy") || !json["greedy"].is_array() ||
      json["greedy"].size() != out.values.num_states)
    fail(where, "'greedy' must be a list with an entry for every state");
  for (const Json& row : json["greedy"])
    out.greedy.push_back(greedy_row(row, out.values.num_actions, out.greedy.size(), where));
  if (json.contains("values")) {
    if (!json["values"].is_array() || json["values"].size() != out.values.num_states)
      fail(where, "'values' must be a list with an entry for every state");
    for (const Json& row : json["values"]) {
      const std::vector<double> of_state = numbers(Json{{"values", row}}, "values", where);
      if (of_state.size() != out.values.num_actions)
        fail(where, "'values' must have a number for every action");
      out.values.values.insert(out.values.values.end(), of_state.begin(), of_state.end());
    }
  }
  out.grid = grid_in(json, "grid", out.values.num_states, where);
  out.action_grid = grid_in(json, "action_grid", out.values.num_actions, where);
  if (json.contains("name") && json["name"].is_string()) out.name = json["name"].get<std::string>();
  Json behaviour = {
      {"states", json["states"]}, {"actions", json["actions"]}, {"greedy", json["greedy"]}};
  for (const char* key : {"grid", "action_grid", "values"})
    if (json.contains(key)) behaviour[key] = json[key];
  out.hash = hash_hex(behaviour.dump());
  return out;
}

std::string read_policy_text(const std::filesystem::path& file) {
  return read_text_file(file, kMaxPolicyBytes, Errc::data);
}

SavedPolicy load_policy(const std::filesystem::path& file) {
  return parse_policy(read_policy_text(file), file.string());
}

std::shared_ptr<const Policy> SavedPolicy::table() const {
  return std::make_shared<const GreedyTable>(greedy, values.num_actions);
}

std::shared_ptr<const Policy> SavedPolicy::on(const Space& observations,
                                              const Space& actions) const {
  const auto fits = [](const Space& space, const Grid* cells, std::uint64_t size) {
    return cells != nullptr ? space.dimension() == cells->dimension()
                            : space.is_discrete() && space.size() == size;
  };
  const auto describe = [](const Grid* cells, std::uint64_t size, const char* what) {
    return cells != nullptr ? fmt::format("{} of {} numbers, in cells", what, cells->dimension())
                            : fmt::format("{} {}", size, what);
  };
  if (!fits(observations, grid.get(), values.num_states))
    throw Error(
        Errc::usage,
        fmt::format("it is a policy for {}, but an observation of the simulator is {}",
                    describe(grid.get(), values.num_states, "states"), observations.describe()));
  if (!fits(actions, action_grid.get(), values.num_actions))
    throw Error(Errc::usage,
                fmt::format("it is a policy with {}, but an action of the simulator is {}",
                            describe(action_grid.get(), values.num_actions, "actions"),
                            actions.describe()));
  if (!grid && !action_grid) return table();
  return std::make_shared<const GridPolicy>(observations, actions, table(), grid, action_grid);
}

std::shared_ptr<const Policy> uniform_policy(const Space& observations, const Space& actions) {
  return std::make_shared<const UniformPolicy>(observations, actions);
}

}  // namespace hilo
