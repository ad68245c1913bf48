#include "hilo/experiment/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "hilo/core/hash.hpp"

namespace hilo {
namespace {

constexpr std::string_view kBetween = " = ";

}  // namespace

void Configuration::add(std::string key, std::string value) {
  entries_.push_back({std::move(key), std::move(value)});
}

std::string Configuration::value(std::string_view key) const {
  const auto found = std::ranges::find(entries_, key, &Entry::key);
  if (found == entries_.end()) return "";
  std::string value = found->value;
  std::erase(value, '"');
  return value;
}

double Configuration::number(std::string_view key) const {
  return std::strtod(value(key).c_str(), nullptr);
}

std::string Configuration::text() const {
  std::string text;
  for (const Entry& entry : entries_)
    text += fmt::format("{}{}{}\n", entry.key, kBetween, entry.value);
  return text;
}

Configuration Configuration::from_text(std::string_view text) {
  Configuration configuration;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t between = std::min(line.find(kBetween), line.size());
    configuration.add(std::string(line.substr(0, between)),
                      std::string(line.substr(std::min(between + kBetween.size(), line.size()))));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return configuration;
}

std::string Configuration::hash() const { return hash_hex(text()); }

}  // namespace hilo
