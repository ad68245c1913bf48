#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hilo {

// A value of a named parameter, as it comes from a spec, a flag or a binding.
using Value = std::variant<bool, std::int64_t, double, std::string>;
using NamedValues = std::map<std::string, Value>;

std::string plain_text(const Value& value);   // policy
std::string quoted_text(const Value& value);  // "policy", as a spec has it

// Describes a parameter and its allowed values. Checks, help texts and lists of settings all use
// this one table.
struct ParameterInfo {
  std::string name;
  std::string description;
  std::optional<Value> default_value = {};  // none: must be given, and is a string
  double low = 0, high = 0;                 // allowed range of a number, ends included
  std::vector<std::string> choices = {};    // allowed strings; empty: any but the empty string
  bool low_fidelity_only = false;  // of a problem: no effect on agents without a low fidelity
  // For parameters added in later versions: at its default the parameter is left out of a run's
  // identity, so that the identities of older runs do not change.
  bool silent_default = false;
  bool is_list = false;     // a text that is written as a list, such as [10, 20]
  bool in_identity = true;  // false: it decides nothing about results, and may change
  // The format in labels, such as "m={}". Empty: "name=value", placed after the parameters that
  // have a format.
  std::string in_label = {};
  // Different values are different methods: the value is part of the agent's name.
  bool names_method = false;
  // Returns the allowed strings, for lists that may grow while the program runs.
  std::function<std::vector<std::string>()> choices_now = {};

  std::vector<std::string> allowed() const { return choices_now ? choices_now() : choices; }
};

// A checked set of parameters: all are present, each of the right type and in range.
class Parameters {
 public:
  // Fills in the defaults that `given` lacks. Throws on an unknown name (suggesting the nearest
  // known one), a wrong type, a value out of range and a missing value. The message starts with
  // `where`.
  Parameters(std::string_view where, std::span<const ParameterInfo> infos,
             const NamedValues& given);

  std::int64_t integer(std::string_view name) const { return get<std::int64_t>(name); }
  double number(std::string_view name) const { return get<double>(name); }
  const std::string& text(std::string_view name) const { return get<std::string>(name); }
  bool flag(std::string_view name) const { return get<bool>(name); }

  const std::map<std::string, Value, std::less<>>& all() const { return values_; }

 private:
  template <class T>
  const T& get(std::string_view name) const;

  std::map<std::string, Value, std::less<>> values_;
};

// Checks the parameters of a kind that a program adds. Throws Errc::usage unless the names are
// unique, made of letters, digits, '_' and '-' and not words that specs reserve, the texts have no
// control characters, the defaults are allowed values, and the label formats fit the types.
void require_sound_parameters(const std::string& where, std::span<const ParameterInfo> infos);
// Throws Errc::usage unless the text is UTF-8 without control characters.
void require_plain_text(const std::string& what, std::string_view text);

// The name in `known` with the smallest edit distance to `name`, or "" if none is close.
std::string nearest_name(std::string_view name, std::span<const std::string> known);

// "; did you mean 'epsilon'?", or "" if no known name is close.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

}  // namespace hilo
