#include "hilo/experiment/spec_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hilo/core/error.hpp"
#include "hilo/experiment/detail/spec_limits.hpp"

namespace hilo {
namespace {

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string written_key(const std::string& key) {
  const auto is_bare = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !key.empty() && std::ranges::all_of(key, is_bare) ? key : toml_string(key);
}

// The shortest text that reads back as the same value of the same type.
std::string written(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return toml_string(*text);
  std::string out = plain_text(value);
  if (std::holds_alternative<double>(value) && out.find_first_of(".enif") == std::string::npos)
    out += ".0";
  return out;
}

std::string written(const SpecTable& table) {
  std::string out;
  // The kind comes first, because it decides what the other keys mean.
  if (const auto kind = table.values.find("kind"); kind != table.values.end())
    out += fmt::format("kind = {}\n", written(kind->second));
  for (const auto& [key, value] : table.values)
    if (key != "kind") out += fmt::format("{} = {}\n", written_key(key), written(value));
  for (const auto& [key, values] : table.sweep) {
    std::vector<std::string> items;
    for (const Value& value : values) items.push_back(written(value));
    out += fmt::format("sweep.{} = [{}]\n", written_key(key), fmt::join(items, ", "));
  }
  return out;
}

}  // namespace

std::string to_toml(const SpecData& data) {
  std::string out = fmt::format("spec_version = {}\nname = {}\nseeds = \"{}..{}\"\n", kSpecVersion,
                                toml_string(data.name), data.seeds.first, data.seeds.last);
  out += fmt::format("\n[problem]\n{}\n[train]\n{}\n[test]\n{}", written(data.problem),
                     written(data.train), written(data.test));
  for (const SpecTable& agent : data.agents) out += fmt::format("\n[[agent]]\n{}", written(agent));
  return out;
}

std::vector<NamedValues> expand(const SpecTable& table, const std::string& where) {
  std::size_t count = 1;
  for (const auto& [key, list] : table.sweep) {
    if (list.empty())
      throw Error(Errc::spec,
                  fmt::format("{}: sweep.{} must be a list with at least one value", where, key));
    if (list.size() > kMaxConfigs / count)
      throw Error(Errc::spec,
                  fmt::format("{}: the sweeps give more than {} combinations", where, kMaxConfigs));
    count *= list.size();
  }
  std::vector<NamedValues> all = {table.values};
  for (const auto& [key, list] : table.sweep) {
    std::vector<NamedValues> longer;
    for (const NamedValues& values : all)
      for (const Value& value : list) {
        longer.push_back(values);
        longer.back()[key] = value;
      }
    all = std::move(longer);
  }
  return all;
}

}  // namespace hilo
