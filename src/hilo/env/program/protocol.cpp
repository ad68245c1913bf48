#include "hilo/env/program/protocol.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

using Json = nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kMostStates = std::uint64_t{1} << 53;
constexpr std::size_t kMostDimensions = 10'000;
constexpr std::size_t kMostShown = 200;  // characters of an answer in a message

[[noreturn]] void fail(const std::string& message) { throw Error(Errc::simulator, message); }

// The words of a line, one after the other.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view next() {
    const std::size_t begin = rest_.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return rest_ = {};
    rest_.remove_prefix(begin);
    const std::size_t end = std::min(rest_.find_first_of(" \t"), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return word;
  }
  std::string_view rest() const {
    const std::size_t begin = rest_.find_first_not_of(" \t");
    return begin == std::string_view::npos ? std::string_view() : rest_.substr(begin);
  }

 private:
  std::string_view rest_;
};

std::optional<double> number_in(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

double finite_number(std::string_view word, const char* what) {
  if (word.empty()) fail(fmt::format("has no {}", what));
  const auto value = number_in(word);
  if (!value) fail(fmt::format("has '{}' as its {}, but that must be a number", word, what));
  if (!std::isfinite(*value))
    fail(fmt::format("has {} as its {}, but that must be a finite number", word, what));
  return *value;
}

EndMark end_mark(std::string_view word) {
  if (word == "0") return EndMark::goes_on;
  if (word == "1") return EndMark::terminal;
  if (word == "2") return EndMark::cut;
  fail(fmt::format("has '{}' as its END, but that must be 0 (goes on), 1 (terminal) or 2 (cut)",
                   word));
}

// The observation, and after it the cost, if there is one.
void read_observation(Words& words, const Space& space, Points& out, ProgramAnswer& answer) {
  const std::size_t wanted = space.is_discrete() ? 1 : space.dimension();
  thread_local std::vector<double> numbers;
  numbers.clear();
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word.starts_with("cost=")) {
      answer.cost = finite_number(word.substr(5), "cost");
      if (*answer.cost < 0) fail(fmt::format("has a cost of {}, which is below 0", *answer.cost));
    } else {
      numbers.push_back(finite_number(word, "observation"));
    }
  }
  if (numbers.size() != wanted)
    fail(fmt::format("has {} numbers as its observation, but that must have {}", numbers.size(),
                     wanted));
  if (!space.is_discrete()) {
    const Point point{std::span<const double>(numbers)};
    require_in_space(space, point, "its observation");
    out.push_back(point);
    return;
  }
  const double state = numbers[0];
  if (!(state >= 0 && state < static_cast<double>(space.size())) || state != std::floor(state))
    fail(fmt::format("has {} as its observation, but that must be {}", state, space.describe()));
  out.push_back(static_cast<std::uint64_t>(state));
}

double bound_of(const Json& json, double infinite, const char* what) {
  if (json.is_null()) return infinite;
  if (!json.is_number()) fail(fmt::format("has {} as a bound of {}", json.dump(), what));
  return json.get<double>();
}

Space box_of(const Json& json, const char* what) {
  if (json.empty() || json.size() > kMostDimensions)
    fail(fmt::format("has {} dimensions of {}, but must have 1 to {}", json.size(), what,
                     kMostDimensions));
  std::vector<double> low;
  std::vector<double> high;
  for (const Json& bounds : json) {
    if (!bounds.is_array() || bounds.size() != 2)
      fail(fmt::format("has {} in its list of {}, but each entry must be [low, high]",
                       bounds.dump(), what));
    low.push_back(bound_of(bounds[0], -kInfinity, what));
    high.push_back(bound_of(bounds[1], kInfinity, what));
    if (!(low.back() < high.back()))
      fail(fmt::format("has the bounds {} of {}, but the first must be below the second",
                       bounds.dump(), what));
  }
  return Space::box(std::move(low), std::move(high));
}

Space discrete_of(const Json& json, const char* what) {
  if (!json.is_number_integer() || json.get<std::int64_t>() < 1 ||
      json.get<std::uint64_t>() > kMostStates)
    fail(fmt::format("has {} {}, but there must be a whole number of them, at least 1", json.dump(),
                     what));
  return Space::discrete(json.get<std::uint64_t>());
}

bool flag_in(const Json& json, const char* key, bool otherwise) {
  if (!json.contains(key)) return otherwise;
  if (!json[key].is_boolean())
    fail(fmt::format("has {} as '{}', but that must be true or false", json[key].dump(), key));
  return json[key].get<bool>();
}

std::string text_in(const Json& json, const char* key) {
  if (!json.contains(key)) return "";
  if (json[key].is_number()) return json[key].dump();
  if (!json[key].is_string())
    fail(fmt::format("has {} as '{}', but that must be a text", json[key].dump(), key));
  return json[key].get<std::string>();
}

}  // namespace

ProgramFacts parse_hello(std::string_view answer) {
  const Json json = Json::parse(answer.begin(), answer.end(), nullptr, false);
  if (!json.is_object())
    fail(
        fmt::format("is '{}', but must be one line of JSON, such as {{\"hilo\": 1, \"actions\": "
                    "2, \"observation\": {{\"states\": 10}}}}",
                    answer.substr(0, kMostShown)));
  if (!json.contains("hilo") || json["hilo"] != kProtocolVersion)
    fail(fmt::format("has {} as 'hilo', the version of the protocol, but only {} is known",
                     json.contains("hilo") ? json["hilo"].dump() : "nothing", kProtocolVersion));
  ProgramFacts facts;
  facts.name = text_in(json, "name");
  facts.version = text_in(json, "version");
  for (const char* key : {"actions", "observation"})
    if (!json.contains(key)) fail(fmt::format("has no '{}'", key));
  const Json& actions = json["actions"];
  facts.actions = actions.is_array() ? box_of(actions, "actions") : discrete_of(actions, "actions");
  const Json& observation = json["observation"];
  if (observation.is_array())
    facts.observations = box_of(observation, "observations");
  else if (observation.is_object() && observation.contains("states"))
    facts.observations = discrete_of(observation["states"], "states");
  else
    fail(
        fmt::format("has {} as 'observation', but that must be {{\"states\": N}}, or a list of "
                    "[low, high]",
                    observation.dump()));
  const std::string start = text_in(json, "start");
  if (!start.empty() && start != "none" && start != "value")
    fail(fmt::format("has '{}' as 'start', but that must be \"none\" or \"value\"", start));
  facts.starts_anywhere = start == "value";
  facts.seedable = flag_in(json, "seedable", true);
  facts.deterministic = flag_in(json, "deterministic", false);
  return facts;
}

std::optional<ProgramRefusal> refusal_in(std::string_view answer) {
  Words words(answer);
  const std::string_view first = words.next();
  if (first == "ok") return std::nullopt;
  if (first == "error" || first == "fatal")
    return ProgramRefusal{.fatal = first == "fatal", .text = std::string(words.rest())};
  fail("does not start with ok, error or fatal");
}

ProgramAnswer parse_begun(std::string_view answer, const Space& observations, Points& out) {
  Words words(answer);
  words.next();
  ProgramAnswer parsed;
  parsed.end = end_mark(words.next());
  read_observation(words, observations, out, parsed);
  return parsed;
}

ProgramAnswer parse_step(std::string_view answer, const Space& observations, Points& out) {
  Words words(answer);
  words.next();
  ProgramAnswer parsed;
  parsed.reward = finite_number(words.next(), "reward");
  parsed.end = end_mark(words.next());
  read_observation(words, observations, out, parsed);
  return parsed;
}

double parse_reward(std::string_view answer) {
  Words words(answer);
  words.next();
  const double reward = finite_number(words.next(), "reward");
  if (!words.next().empty()) fail("has more than one number");
  return reward;
}

void append_point(std::string& line, const Point& point) {
  if (point.coordinates().empty()) {
    fmt::format_to(std::back_inserter(line), " {}", point.index());
    return;
  }
  for (const double x : point.coordinates())
    fmt::format_to(std::back_inserter(line), " {:.17g}", x);
}

}  // namespace hilo
