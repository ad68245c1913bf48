#include "hilo/env/program/detail/builtin_side.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hilo/env/catalogue.hpp"

namespace hilo {
namespace {

constexpr std::uint64_t kSeed = 0;

const ProblemKind& kind_of(const Side& side) {
  const ProblemKind& kind = problem_kind(side.text("builtin"));
  if (kind.low_is_slow || kind.count_low_fidelities({}) == 0)
    fail_spec(fmt::format("{} is '{}', which has no simulators of its own: give a command instead",
                          side.key("builtin"), kind.name));
  return kind;
}

std::string without_blanks(std::string text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  text.erase(text.begin(), std::ranges::find_if_not(text, blank));
  while (!text.empty() && blank(text.back())) text.pop_back();
  return text;
}

template <class T>
T number_from(const Side& side, const std::string& text, const char* what) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail_spec(fmt::format("{} has '{}', which is not {}", side.key("builtin_options"), text, what));
  return value;
}

// The text as a value of the parameter's type.
Value value_of(const Side& side, const ParameterInfo& info, const std::string& text) {
  const Value type = info.default_value.value_or("");
  if (std::holds_alternative<bool>(type)) {
    if (text != "true" && text != "false")
      fail_spec(fmt::format("{} has '{}', but {} is true or false", side.key("builtin_options"),
                            text, info.name));
    return text == "true";
  }
  if (std::holds_alternative<std::int64_t>(type))
    return number_from<std::int64_t>(side, text, "a whole number");
  if (std::holds_alternative<double>(type)) return number_from<double>(side, text, "a number");
  return text;
}

NamedValues options_of(const Side& side, const ProblemKind& kind) {
  NamedValues options;
  std::vector<std::string> names;
  for (const ParameterInfo& info : kind.parameters) names.push_back(info.name);
  for (const std::string& option : split_list(side.text("builtin_options"))) {
    const std::size_t equals = option.find('=');
    const std::string name = without_blanks(option.substr(0, equals));
    const auto info = std::ranges::find(kind.parameters, name, &ParameterInfo::name);
    if (equals == std::string::npos || info == kind.parameters.end())
      fail_spec(fmt::format("{} has '{}', but must be a list of \"NAME = VALUE\"{} (names: {})",
                            side.key("builtin_options"), option, did_you_mean(name, names),
                            fmt::join(names, ", ")));
    options[name] = value_of(side, *info, without_blanks(option.substr(equals + 1)));
  }
  return options;
}

}  // namespace

std::shared_ptr<const EpisodeSimulator> builtin_high(const Side& side) {
  const ProblemKind& kind = kind_of(side);
  return build_high_fidelity(kind, options_of(side, kind), kSeed);
}

LowFidelity builtin_low(const Side& side) {
  const ProblemKind& kind = kind_of(side);
  const NamedValues options = options_of(side, kind);
  const Problem problem =
      build_problem(kind, options, kSeed, build_high_fidelity(kind, options, kSeed));
  return problem.pair.lows()[0];
}

std::string identity_of_builtin(const Side& side) {
  const ProblemKind& kind = kind_of(side);
  const Parameters p(kind.name, kind.parameters, options_of(side, kind));
  if (kind.validate) kind.validate(p);
  std::string text = kind.name;
  for (const auto& [name, value] : p.all())
    if (std::ranges::find(kind.file_parameters, name) == kind.file_parameters.end())
      text += fmt::format(" {}={}", name, plain_text(value));
  if (kind.content_hash) text += fmt::format(" {}", kind.content_hash(p, true));
  return text;
}

}  // namespace hilo
