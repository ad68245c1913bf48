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

// What a parameter is and which values it may have: the one table behind checks, help texts and
// lists of what can be set.
struct ParameterInfo {
  std::string name;
  std::string description;
  std::optional<Value> default_value = {};  // none: must be given, and is a string
  double low = 0, high = 0;                 // allowed range of a number, ends included
  std::vector<std::string> choices = {};    // allowed strings; empty: any but the empty one
  bool low_fidelity_only = false;  // of a problem: an agent without low fidelity never sees it
  // Came later: at its default it is no part of a run's identity, so that older runs keep theirs.
  bool silent_default = false;
  // How labels show it, "m={}"; empty: "name=value", after those that have a form of their own.
  std::string in_label = {};
  // Its value makes another method of the agent: it stands in the agent's name.
  bool names_method = false;
  // The allowed strings where they may become more while the program runs.
  std::function<std::vector<std::string>()> choices_now = {};

  std::vector<std::string> allowed() const { return choices_now ? choices_now() : choices; }
};

// A checked set of parameters: all of them present, each of the right type and in range.
class Parameters {
 public:
  // Completes `given` by the defaults. Throws on an unknown name (with the nearest known one), a
  // wrong type, a value out of range and a missing one. `where` opens the message.
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

// Throws Errc::usage unless the parameters of a kind that a program adds make sense: names of
// letters, digits, '_' and '-', each once and none of the words that specs use themselves, texts
// without control characters, defaults that are allowed, forms for labels that fit the type.
void require_sound_parameters(const std::string& where, std::span<const ParameterInfo> infos);
// Throws Errc::usage on a text with control characters.
void require_plain_text(const std::string& what, std::string_view text);

// The name among `known` that is the fewest edits away, or "" if none is close.
std::string nearest_name(std::string_view name, std::span<const std::string> known);

// "; did you mean 'epsilon'?", or "" if nothing known is close.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

}  // namespace hilo
