#include "hilo/core/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/core/text.hpp"

namespace hilo {
namespace {

std::string type_name(const Value& value) {
  constexpr const char* kNames[] = {"true or false", "a whole number", "a number", "a string"};
  return kNames[value.index()];
}

// Converts `given` to the type of `info`; throws if it cannot be converted or is not allowed.
Value checked(const std::string& key, const ParameterInfo& info, Value given) {
  const Value wanted = info.default_value.value_or(std::string());
  if (std::holds_alternative<double>(wanted) && std::holds_alternative<std::int64_t>(given))
    given = static_cast<double>(std::get<std::int64_t>(given));
  // A number such as 1e3 is accepted as a whole number.
  constexpr double kMostExact = 9007199254740992;  // 2^53
  if (const auto* number = std::get_if<double>(&given);
      number != nullptr && std::holds_alternative<std::int64_t>(wanted) &&
      std::trunc(*number) == *number && std::abs(*number) <= kMostExact)
    given = static_cast<std::int64_t>(*number);
  if (info.is_list && !std::holds_alternative<std::string>(given)) given = plain_text(given);
  if (given.index() != wanted.index())
    throw Error(Errc::spec, fmt::format("{} is {}, but must be {}", key, quoted_text(given),
                                        type_name(wanted)));

  if (const auto* text = std::get_if<std::string>(&given)) {
    if (text->empty() && info.default_value != Value(""))
      throw Error(Errc::spec, fmt::format("{} must not be empty", key));
    const std::vector<std::string> choices = info.allowed();
    if (!choices.empty() && std::ranges::find(choices, *text) == choices.end())
      throw Error(Errc::spec, fmt::format("{} is '{}', but must be one of {}{}", key, *text,
                                          fmt::join(choices, ", "), did_you_mean(*text, choices)));
  } else if (auto* number = std::get_if<double>(&given)) {
    require_within(key, *number, info.low, info.high);
    *number += 0.0;  // -0 is 0
  } else if (const auto* integer = std::get_if<std::int64_t>(&given)) {
    if (static_cast<double>(*integer) < info.low || static_cast<double>(*integer) > info.high)
      throw Error(Errc::spec, fmt::format("{} is {}, but must be in [{}, {}]", key, *integer,
                                          info.low, info.high));
  }
  return given;
}

// Levenshtein distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string plain_text(const Value& value) {
  return std::visit([](const auto& x) { return fmt::format("{}", x); }, value);
}

std::string quoted_text(const Value& value) {
  return std::holds_alternative<std::string>(value) ? fmt::format("\"{}\"", plain_text(value))
                                                    : plain_text(value);
}

Parameters::Parameters(std::string_view where, std::span<const ParameterInfo> infos,
                       const NamedValues& given) {
  std::vector<std::string> known;
  for (const ParameterInfo& info : infos) known.push_back(info.name);
  for (const auto& [name, value] : given) {
    if (std::ranges::find(known, name) != known.end()) continue;
    // Of keys such as high.command, only those of the same table are worth naming.
    const std::string table = name.substr(0, name.rfind('.') + 1);
    std::vector<std::string> near;
    for (const std::string& key : known)
      if (key.substr(0, key.rfind('.') + 1) == table) near.push_back(key);
    // A table that is not known: only the names of tables are worth naming.
    if (near.empty())
      for (const std::string& key : known)
        if (const std::string first = key.substr(0, key.find('.'));
            std::ranges::find(near, first) == near.end())
          near.push_back(first);
    throw Error(Errc::spec, fmt::format("{}: unknown key '{}'{} (known: {})", where, name,
                                        did_you_mean(name, known), fmt::join(near, ", ")));
  }

  for (const ParameterInfo& info : infos) {
    const auto found = given.find(info.name);
    if (found == given.end() && !info.default_value)
      throw Error(Errc::spec,
                  fmt::format("{}: key '{}' is missing: {}", where, info.name, info.description));
    values_[info.name] = found == given.end() ? *info.default_value
                                              : checked(fmt::format("{}: {}", where, info.name),
                                                        info, found->second);
  }
}

template <class T>
const T& Parameters::get(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end() || !std::holds_alternative<T>(found->second))
    throw Error(Errc::usage, fmt::format("no parameter '{}' of this type", name));
  return std::get<T>(found->second);
}

template const std::int64_t& Parameters::get(std::string_view) const;
template const double& Parameters::get(std::string_view) const;
template const std::string& Parameters::get(std::string_view) const;
template const bool& Parameters::get(std::string_view) const;

void require_plain_text(const std::string& what, std::string_view text) {
  if (!is_plain_text(text))
    throw Error(Errc::usage, fmt::format("{} must be UTF-8 without control characters", what));
}

namespace {

void check_name(const std::string& where, const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  if (name.empty() || name.size() > 100 || !std::ranges::all_of(name, allowed))
    throw Error(Errc::usage, fmt::format("{}: a parameter must have a name of letters, digits, '_' "
                                         "and '-'",
                                         where));
  for (const char* word : {"kind", "label", "variant", "sweep"})
    if (name == word)
      throw Error(Errc::usage,
                  fmt::format("{}: '{}' has a meaning of its own in specs", where, name));
}

void check_default(const std::string& key, const ParameterInfo& info) {
  const auto* text = std::get_if<std::string>(&*info.default_value);
  if (text != nullptr) require_plain_text(key, *text);
  if (text != nullptr && text->empty()) return;  // an empty default means no value yet
  try {
    checked(key, info, *info.default_value);
    if (!info.in_label.empty())
      std::visit([&](const auto& x) { (void)fmt::format(fmt::runtime(info.in_label), x); },
                 *info.default_value);
  } catch (const Error& e) {
    throw Error(Errc::usage, fmt::format("the default of {}", e.what()));
  } catch (const fmt::format_error& e) {
    throw Error(Errc::usage, fmt::format("{}: in_label is '{}': {}", key, info.in_label, e.what()));
  }
}

}  // namespace

void require_sound_parameters(const std::string& where, std::span<const ParameterInfo> infos) {
  for (const ParameterInfo& info : infos) {
    check_name(where, info.name);
    const auto same = [&](const ParameterInfo& other) { return other.name == info.name; };
    if (std::ranges::count_if(infos, same) > 1)
      throw Error(Errc::usage, fmt::format("{}: there are two parameters '{}'", where, info.name));
    const std::string key = fmt::format("{}: {}", where, info.name);
    require_plain_text(key, info.description);
    if (info.default_value) check_default(key, info);
  }
}

std::string nearest_name(std::string_view name, std::span<const std::string> known) {
  const std::size_t limit = std::max<std::size_t>(2, name.size() / 3);
  std::string best;
  std::size_t best_distance = limit + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace hilo
