#include "hilo/experiment/detail/spec_toml.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "hilo/core/error.hpp"
#include "hilo/env/catalogue.hpp"
#include "hilo/experiment/detail/spec_limits.hpp"
#include "hilo/experiment/spec.hpp"

namespace hilo {
namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(Errc::spec, message); }

// A list of values, such as grid = [10, 20], as the text "10, 20".
Value value_or_list(const toml::node& node, const std::string& what) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return plain_value(node, what);
  std::vector<std::string> items;
  for (const toml::node& item : *array) items.push_back(plain_text(plain_value(item, what)));
  return fmt::format("{}", fmt::join(items, ", "));
}

// The keys of a table within the problem or an agent: [problem.high] command is high.command.
void read_inner(const toml::table& table, const std::string& name, const std::string& where,
                NamedValues& out) {
  for (const auto& [raw_key, node] : table) {
    const std::string key = fmt::format("{}.{}", name, raw_key.str());
    if (const toml::table* inner = node.as_table())
      read_inner(*inner, key, where, out);
    else
      out[key] = value_or_list(node, fmt::format("{}: {}", where, key));
  }
}

// The tables within the problem or an agent: [problem.high], search.low_steps, and [[problem.low]]
// once or several times, whose keys are low.command, low.2.command, ... Returns whether the node is
// one of them.
bool read_inner_tables(const toml::node& node, const std::string& key, const std::string& where,
                       NamedValues& out) {
  if (const toml::table* table = node.as_table()) {
    read_inner(*table, key, where, out);
    return true;
  }
  const toml::array* array = node.as_array();
  if (array == nullptr || array->empty() || array->get(0)->as_table() == nullptr) return false;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const toml::table* table = array->get(i)->as_table();
    if (table == nullptr) fail(fmt::format("{}: {} must be tables", where, key));
    read_inner(*table, i == 0 ? key : fmt::format("{}.{}", key, i + 1), where, out);
  }
  return true;
}

// tune = {mass = [0.5, 2], friction = [0, 1]} as the text "friction 0 1, mass 0.5 2".
std::string tune_text(const toml::table& table, const std::string& where) {
  std::vector<std::string> parts;
  for (const auto& [raw_key, node] : table) {
    const std::string key(raw_key.str());
    const toml::array* ends = node.as_array();
    if (ends == nullptr || ends->size() != 2)
      fail(fmt::format("{}: tune.{} must be a list with the ends of its range, such as [0.5, 2]",
                       where, key));
    const auto number = [&](std::size_t i) {
      return plain_text(plain_value(*ends->get(i), fmt::format("{}: tune.{}", where, key)));
    };
    parts.push_back(fmt::format("{} {} {}", key, number(0), number(1)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Whether a key of the problem is a list, such as the angles of programs.
bool takes_list(const toml::table& problem, const std::string& key) {
  const auto* name = problem["kind"].as_string();
  if (name == nullptr) return false;
  for (const ProblemKind& kind : problem_kinds())
    if (kind.name == name->get())
      return std::ranges::any_of(kind.parameters, [&](const ParameterInfo& info) {
        return info.name == key && info.is_list;
      });
  return false;
}

SpecTable read_section(const toml::table& table, const std::string& where, bool has_inner = false) {
  SpecTable section;
  for (const auto& [raw_key, node] : table) {
    const std::string key(raw_key.str());
    if (has_inner && key == "tune" && node.as_table() != nullptr) {
      section.values[key] = tune_text(*node.as_table(), where);
      continue;
    }
    if (key != "sweep") {
      if (has_inner && read_inner_tables(node, key, where, section.values)) continue;
      const std::string what = fmt::format("{}: {}", where, key);
      section.values[key] =
          takes_list(table, key) ? value_or_list(node, what) : plain_value(node, what);
      continue;
    }
    const toml::table* sweep = node.as_table();
    if (sweep == nullptr) fail(fmt::format("{}: sweep must be a table of lists", where));
    for (const auto& [raw_swept, list] : *sweep) {
      const std::string swept = fmt::format("{}: sweep.{}", where, raw_swept.str());
      const toml::array* array = list.as_array();
      if (array == nullptr || array->empty())
        fail(fmt::format("{} must be a list with at least one value", swept));
      std::vector<Value> values;
      for (const toml::node& item : *array) values.push_back(plain_value(item, swept));
      section.sweep.emplace_back(raw_swept.str(), std::move(values));
    }
  }
  return section;
}

const toml::table& table_of(const toml::table& root, std::string_view key,
                            const std::string& where) {
  static const toml::table kEmpty;
  const toml::node* node = root.get(key);
  if (node == nullptr) return kEmpty;
  if (node->as_table() == nullptr) fail(fmt::format("{}: {} must be a table", where, key));
  return *node->as_table();
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

}  // namespace

Value plain_value(const toml::node& node, const std::string& what) {
  if (const auto* x = node.as_boolean()) return x->get();
  if (const auto* x = node.as_integer()) return x->get();
  if (const auto* x = node.as_floating_point()) return x->get();
  if (const auto* x = node.as_string()) return x->get();
  fail(fmt::format("{} must be a single value", what));
}

toml::table parse_toml(std::string_view text, const std::string& where,
                       const std::vector<std::string>& overrides) {
  require_sane_text(text, where);
  toml::table root;
  try {
    root = toml::parse(text, where);
  } catch (const toml::parse_error& e) {
    fail(fmt::format("{}:{}:{}: {}", where, e.source().begin.line, e.source().begin.column,
                     e.description()));
  }
  for (const std::string& override_text : overrides) apply_override(root, override_text);
  return root;
}

SpecData read_spec(const toml::table& root, const std::string& where) {
  check_root(root, where);
  const auto section = [&](std::string_view key) {
    return read_section(table_of(root, key, where), fmt::format("{}: {}", where, key),
                        key == "problem");
  };
  SpecData data;
  data.problem = section("problem");
  data.train = section("train");
  data.test = section("test");
  const auto name = root["name"].value<std::string>();
  if (!name) fail(fmt::format("{}: name is missing, or no string", where));
  data.name = *name;
  data.seeds = read_seeds(root, where);
  const toml::array* agents = root["agent"].as_array();
  for (std::size_t i = 0; agents != nullptr && i < agents->size(); ++i) {
    const std::string where_agent = fmt::format("{}: agent {}", where, i + 1);
    const toml::table* table = agents->get(i)->as_table();
    if (table == nullptr) fail(fmt::format("{} must be a table", where_agent));
    data.agents.push_back(read_section(*table, where_agent, true));
  }
  return data;
}

namespace {

// The line of a node; 0 if --set has put it there.
std::size_t line_of(const toml::node& node) {
  return node.source().path ? node.source().begin.line : 0;
}

// The line of the first key that the text names, at its start or in quotes; 0 if it names none.
std::size_t line_of_key(const toml::table& table, std::string_view text,
                        const std::string& outer = "") {
  for (const auto& [raw_key, node] : table) {
    const std::string key = outer + std::string(raw_key.str());
    if (const toml::table* inner = node.as_table(); inner != nullptr && key != "sweep")
      if (const std::size_t line = line_of_key(*inner, text, key + "."); line > 0) return line;
    if (const toml::array* list = node.as_array(); list != nullptr && !list->empty())
      if (const toml::table* inner = list->get(0)->as_table())
        if (const std::size_t line = line_of_key(*inner, text, key + "."); line > 0) return line;
    if (key == "sweep" && node.as_table() != nullptr)
      if (const std::size_t line = line_of_key(*node.as_table(), text); line > 0) return line;
    if (text.starts_with(fmt::format("{} ", key)) ||
        text.starts_with(fmt::format("sweep.{} ", key)) ||
        text.find(fmt::format("'{}'", key)) != std::string_view::npos)
      return line_of(node);
  }
  return 0;
}

// Returns the table that a text such as "agent 2 (mfmcrl): rest" names, and leaves the rest in
// `text`.
const toml::node* table_named(const toml::table& root, std::string_view& text) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos) return nullptr;
  const std::string_view name = text.substr(0, std::min(colon, text.find(" (")));
  const toml::node* found = nullptr;
  if (name.starts_with("agent ")) {
    std::size_t index = 0;
    const std::string_view digits = name.substr(6);
    std::from_chars(digits.data(), digits.data() + digits.size(), index);
    const toml::node* agents = root.get("agent");
    if (agents != nullptr && agents->as_array() != nullptr && index > 0 &&
        index <= agents->as_array()->size())
      found = agents->as_array()->get(index - 1);
  } else {
    found = root.get(name);
  }
  if (found != nullptr) text.remove_prefix(colon + 2);
  return found;
}

}  // namespace

std::string with_line(const toml::table& root, const std::string& where,
                      const std::string& message) {
  const std::string start = where + ": ";
  if (!message.starts_with(start)) return message;
  std::string_view rest = std::string_view(message).substr(start.size());
  const std::string_view said = rest;
  const toml::node* node = table_named(root, rest);
  const toml::table* table = node == nullptr ? &root : node->as_table();
  std::size_t line = table == nullptr ? 0 : line_of_key(*table, rest);
  if (line == 0 && node != nullptr) line = line_of(*node);
  return line == 0 ? message : fmt::format("{}:{}: {}", where, line, said);
}

void apply_override(toml::table& root, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Error(Errc::usage, fmt::format("--set {}: must be key=value", text));
  const std::string key = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);

  // The value is TOML. If it is not valid TOML, it is taken as a string, so that --set name=x
  // works.
  if (value.find_first_of("{[") != std::string::npos || value.size() > kMaxSpecBytes)
    require_sane_text(value, fmt::format("--set {}", text.substr(0, 40)));
  toml::table parsed;
  try {
    parsed = toml::parse("x = " + value);
  } catch (const toml::parse_error&) {
    parsed.insert("x", value);
  }
  if (parsed.size() != 1)
    throw Error(Errc::usage, fmt::format("--set {}: must be a single key=value", text));
  toml::node* place = &root;
  std::istringstream parts(key);
  std::string part;
  std::vector<std::string> path;
  while (std::getline(parts, part, '.')) path.push_back(part);
  if (key.ends_with('.') || std::ranges::find(path, "") != path.end())
    throw Error(Errc::usage, fmt::format("--set {}: '{}' names no key", text, key));
  if (path.size() > kMaxKeyParts)
    throw Error(Errc::usage, fmt::format("--set {}...: a key has more than {} parts",
                                         text.substr(0, 40), kMaxKeyParts));
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    if (toml::array* array = place->as_array()) {
      std::size_t index = 0;
      const auto [end, error] =
          std::from_chars(path[i].data(), path[i].data() + path[i].size(), index);
      if (error != std::errc() || end != path[i].data() + path[i].size() || index == 0 ||
          index > array->size())
        throw Error(Errc::usage,
                    fmt::format("--set {}: '{}' must be in [1, {}]", text, path[i], array->size()));
      place = array->get(index - 1);
    } else if (toml::table* table = place->as_table()) {
      if (!table->contains(path[i])) table->insert(path[i], toml::table{});
      place = table->get(path[i]);
    }
  }
  toml::table* table = place->as_table();
  if (table == nullptr || path.empty())
    throw Error(Errc::usage, fmt::format("--set {}: '{}' names no key", text, key));
  // A key that is set is no longer swept.
  if (toml::node* sweep = table->get("sweep"); sweep != nullptr && sweep->as_table() != nullptr)
    sweep->as_table()->erase(path.back());
  table->insert_or_assign(path.back(), std::move(*parsed.get("x")));
}

bool shorten_paths(toml::table& root, const ProblemKind& kind) {
  bool changed = false;
  for (const std::string& key : kind.file_parameters)
    if (auto* text = root["problem"][key].as_string()) {
      const std::string name = std::filesystem::path(text->get()).filename().string();
      changed = changed || name != text->get();
      *text = name;
    }
  return changed;
}

}  // namespace hilo
