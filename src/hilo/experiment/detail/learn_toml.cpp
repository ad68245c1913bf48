#include "hilo/experiment/detail/learn_toml.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(Errc::spec, message); }

// The tables that only learn specs have are taken out of the root, and the others are completed, so
// that what is left is a spec like any other.
NamedValues take_values(toml::table& root, const std::string& key, const std::string& where) {
  NamedValues values;
  const toml::node* node = root.get(key);
  if (node == nullptr) return values;
  const toml::table* table = node->as_table();
  if (table == nullptr) fail(fmt::format("{}: {} must be a table", where, key));
  for (const auto& [name, value] : *table)
    values[std::string(name.str())] =
        plain_value(value, fmt::format("{}: {}: {}", where, key, name.str()));
  root.erase(key);
  return values;
}

void take_agent(toml::table& root, const std::string& where) {
  toml::node* node = root.get("agent");
  if (node == nullptr) return;
  if (const auto* name = node->as_string()) {
    const std::string kind = name->get();
    toml::array agents;
    if (kind != "auto") agents.push_back(toml::table{{"kind", kind}});
    root.insert_or_assign("agent", std::move(agents));
  } else if (const toml::table* table = node->as_table()) {
    toml::array agents;
    agents.push_back(*table);
    root.insert_or_assign("agent", std::move(agents));
  } else if (node->as_array() == nullptr) {
    fail(fmt::format("{}: agent must be a kind, such as \"bayes\", or a table", where));
  }
}

}  // namespace

LearnData read_learn_spec(toml::table root, const std::string& where) {
  if (root.contains("seeds"))
    fail(fmt::format("{}: 'seeds' belongs to hilo run; a learn run has one seed", where));
  const std::vector<std::string> known = {"spec_version", "name",  "seed",    "problem",
                                          "train",        "agent", "budget",  "cost",
                                          "failures",     "pilot", "evaluate"};
  for (const auto& [key, node] : root)
    if (key != "test" && std::ranges::find(known, key.str()) == known.end())
      fail(fmt::format("{}: unknown key '{}'{} (known: {})", where, key.str(),
                       did_you_mean(key.str(), known), fmt::join(known, ", ")));
  LearnData data;
  data.budget = take_values(root, "budget", where);
  data.cost = take_values(root, "cost", where);
  data.failures = take_values(root, "failures", where);
  data.pilot = take_values(root, "pilot", where);
  data.evaluate = take_values(root, "evaluate", where);
  if (const toml::node* seed = root.get("seed")) {
    const auto* number = seed->as_integer();
    if (number == nullptr || number->get() < 0)
      fail(fmt::format("{}: seed must be a whole number from 0", where));
    root.insert("seeds", fmt::format("{}..{}", number->get(), number->get()));
    root.erase("seed");
  }
  take_agent(root, where);
  data.spec = read_spec(root, where);
  return data;
}

DeclaredCosts read_costs(const NamedValues& given, const std::string& where) {
  const Parameters p(where + ": cost", cost_parameters(), given);
  const auto declared = [&](const char* key) {
    return given.contains(key) ? std::optional(p.number(key)) : std::nullopt;
  };
  if (given.contains("low_step") && !given.contains("high_step") && !given.contains("high_episode"))
    fail(
        fmt::format("{}: cost: low_step is declared, but neither high_episode nor high_step; both "
                    "simulators must be paid in one unit",
                    where));
  return {.high_episode = declared("high_episode"),
          .high_step = declared("high_step"),
          .low_step = declared("low_step")};
}

FailureRules read_failures(const NamedValues& given, const std::string& where) {
  const Parameters p(where + ": failures", failure_parameters(), given);
  return {.retries = static_cast<std::uint64_t>(p.integer("retries")),
          .stop = p.text("on_failure") == "stop"};
}

void take_spending(LearnData& data, const std::shared_ptr<const ProblemKind>& own) {
  const auto kind = data.spec.problem.values.find("kind");
  const auto* name =
      kind == data.spec.problem.values.end() ? nullptr : std::get_if<std::string>(&kind->second);
  if (own || name == nullptr || !is_problem_kind(*name)) return;
  const auto& take = problem_kind(*name).take_spending;
  if (!take) return;
  ProblemSpending spending = take(data.spec.problem.values);
  data.cost.merge(spending.cost);
  data.failures.merge(spending.failures);
}

}  // namespace hilo
