#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/env/detail/kinds.hpp"
#include "hilo/env/grid_source.hpp"
#include "hilo/env/program/detail/program_files.hpp"
#include "hilo/env/program/detail/program_map.hpp"
#include "hilo/env/program/program_simulators.hpp"
#include "hilo/env/program/program_source.hpp"
#include "hilo/env/source_pool.hpp"
#include "hilo/env/table_csv.hpp"

// The problem whose simulators are programs. Its parameters are those of [problem.high] and of each
// [[problem.low]]: "high.command", "low.command", "low.2.command", ...
namespace hilo {
namespace {

constexpr std::array<const char*, 4> kLows = {"low", "low.2", "low.3", "low.4"};

[[noreturn]] void fail(const std::string& message) { throw Error(Errc::spec, message); }

// The parameters of one side.
class Side {
 public:
  Side(const Parameters& p, std::string name) : p_(p), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  std::string key(const char* key) const { return fmt::format("{}.{}", name_, key); }
  const std::string& text(const char* k) const { return p_.text(key(k)); }
  double number(const char* k) const { return p_.number(key(k)); }
  std::uint64_t count(const char* k) const {
    return static_cast<std::uint64_t>(p_.integer(key(k)));
  }
  bool has(const char* k) const { return !text(k).empty(); }
  bool is_given() const { return has("command") || has("table"); }

  std::vector<double> numbers(const char* k) const {
    std::vector<double> out;
    for (const std::string& word : split_list(text(k))) {
      double value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc() || end != word.data() + word.size())
        fail(fmt::format("{} has '{}', but must be a list of numbers", key(k), word));
      out.push_back(value);
    }
    return out;
  }

  std::vector<std::uint64_t> counts(const char* k) const {
    std::vector<std::uint64_t> out;
    for (const double x : numbers(k)) {
      if (!(x >= 0 && x <= 1e9 && x == std::floor(x)))
        fail(fmt::format("{} has {}, but must be a list of whole numbers from 0", key(k), x));
      out.push_back(static_cast<std::uint64_t>(x));
    }
    return out;
  }

  ProgramOptions options(std::uint32_t worker) const {
    return {.command = text("command"),
            .directory = text("directory"),
            .timeout_start = number("timeout_start"),
            .timeout_step = number("timeout_step"),
            .timeout_episode = number("timeout_episode"),
            .restart_every = count("restart_every"),
            .memory_mb = count("memory_mb"),
            .worker = worker};
  }

 private:
  const Parameters& p_;
  std::string name_;
};

std::vector<Side> lows_of(const Parameters& p) {
  std::vector<Side> lows;
  for (const char* name : kLows)
    if (Side side(p, name); side.is_given()) lows.push_back(side);
  return lows;
}

std::shared_ptr<const Grid> grid_of(const Side& side, const Space& space, const char* cells,
                                    const char* low, const char* high, const char* what) {
  if (space.is_discrete()) {
    if (side.has(cells))
      fail(fmt::format("{} is given, but the {} of the program are numbered", side.key(cells),
                       what));
    return nullptr;
  }
  if (!side.has(cells))
    fail(fmt::format(
        "the {} of the program '{}' are vectors of {} numbers ({}): give {}, the number "
        "of cells in each dimension, such as {} = [{}]",
        what, side.text("command"), space.dimension(), space.describe(), side.key(cells), cells,
        fmt::join(std::vector(space.dimension(), 10), ", ")));
  std::vector<double> lows(space.low().begin(), space.low().end());
  std::vector<double> highs(space.high().begin(), space.high().end());
  if (low != nullptr && side.has(low)) lows = side.numbers(low);
  if (high != nullptr && side.has(high)) highs = side.numbers(high);
  try {
    return std::make_shared<const Grid>(side.counts(cells), lows, highs);
  } catch (const Error& e) {
    fail(fmt::format("{}: {}", side.key(cells), e.what()));
  }
}

// A program with its grids, and what is made of it.
struct CutProgram {
  CutProgram(const Side& side, const ProgramFacts& facts)
      : states(grid_of(side, facts.observations, "grid", "grid_low", "grid_high", "observations")),
        actions(grid_of(side, facts.actions, "action_grid", nullptr, nullptr, "actions")) {}

  std::shared_ptr<StepSource> cut(std::shared_ptr<StepSource> whole) const {
    if (!states && !actions) return whole;
    return std::make_shared<GridSource>(std::move(whole), states, actions);
  }

  std::shared_ptr<const Grid> states, actions;
};

HighSimulator build_high(const Parameters& p, std::uint64_t /*seed*/) {
  const Side side(p, "high");
  if (side.has("table")) return make_simulator(load_mdp(side.text("table")));
  const auto first = ProgramSource::start(side.options(0));
  const CutProgram program(side, first->facts());
  std::vector<SourcePaths> instances;
  for (std::uint32_t worker = 0; worker < side.count("workers"); ++worker) {
    const auto source =
        worker == 0 ? first : std::make_shared<ProgramSource>(side.options(worker), first->facts());
    instances.emplace_back(program.cut(source), std::vector<State>(), "high fidelity",
                           side.count("retries"));
  }
  return std::make_shared<const SourcePool>(std::move(instances));
}

std::vector<State> terminal_of(const Side& side) {
  std::vector<State> out;
  for (const std::uint64_t s : side.counts("terminal")) out.push_back(static_cast<State>(s));
  return out;
}

// A cheap simulator, and the cells that its states are; none if they are numbers.
struct Cheap {
  std::shared_ptr<const Simulator> simulator;
  std::shared_ptr<const Grid> cells;
};

Cheap build_cheap(const Side& side) {
  if (side.has("table")) return {make_simulator(load_mdp(side.text("table"))), nullptr};
  const auto source = ProgramSource::start(side.options(0));
  if (!source->facts().starts_anywhere)
    fail(
        fmt::format("the program '{}' is the cheap simulator, but it cannot be started in any "
                    "state: its answer to 'hello 1' has \"start\" as \"none\"; only the expensive "
                    "one may be like that",
                    side.text("command")));
  const CutProgram program(side, source->facts());
  return {std::make_shared<const SourceSimulator>(SourcePaths(
              program.cut(source), terminal_of(side), "low fidelity", side.count("retries"))),
          program.states};
}

LowFidelity build_low(const Side& side, const HighSimulator& high) {
  const Cheap cheap = build_cheap(side);
  const PointsOfStates from{.num_states = high->num_states(), .grid = grid_behind(*high)};
  const PointsOfStates to{.num_states = cheap.simulator->num_states(), .grid = cheap.cells.get()};
  return {
      .simulator = cheap.simulator,
      .map = std::make_shared<const StateMap>(make_map(
          {.text = side.text("map"), .command = side.text("map.command"), .key = side.key("map")},
          from, to))};
}

Problem build_pair(const Parameters& p, std::uint64_t /*seed*/, const HighSimulator& high) {
  std::vector<LowFidelity> lows;
  for (const Side& side : lows_of(p)) lows.push_back(build_low(side, high));
  return {.pair = Fidelities(high, std::move(lows)), .facts = {}};
}

std::string hash_side(const Side& side) {
  if (side.has("identity")) return "identity " + side.text("identity");
  if (side.has("table")) return "table " + hash_of_folder(side.text("table"));
  return fmt::format("program {} {}", side.text("command"),
                     hash_of_program(side.text("command"), split_list(side.text("inputs"))));
}

std::string hash_sides(const Parameters& p, bool with_low) {
  std::string all = hash_side(Side(p, "high"));
  if (with_low)
    for (const Side& side : lows_of(p)) {
      all += fmt::format("\n{}", hash_side(side));
      if (side.text("map").ends_with(".csv"))
        all += fmt::format("\nmap {}", hash_of_program(side.text("map"), {side.text("map")}));
      if (side.has("map.command"))
        all += fmt::format("\nmap {}", hash_of_program(side.text("map.command"), {}));
    }
  return hash_hex(all);
}

void validate_side(const Side& side) {
  if (side.has("command") == side.has("table"))
    fail(
        fmt::format("{} must have either a command, the program to run, or a table, a folder with "
                    "an MDP as CSV",
                    side.name()));
  for (const char* list : {"grid", "action_grid"}) side.counts(list);
  for (const char* list : {"grid_low", "grid_high"}) side.numbers(list);
}

void validate(const Parameters& p) {
  validate_side(Side(p, "high"));
  for (const Side& side : lows_of(p)) {
    validate_side(side);
    side.counts("terminal");
    if (side.has("map") && side.has("map.command"))
      fail(fmt::format("{} and {} are both given", side.key("map"), side.key("map.command")));
  }
}

ParameterInfo text_parameter(std::string name, std::string description) {
  return {.name = std::move(name), .description = std::move(description), .default_value = ""};
}

ParameterInfo list_parameter(std::string name, std::string description) {
  ParameterInfo info = text_parameter(std::move(name), std::move(description));
  info.is_list = true;
  return info;
}

ParameterInfo count_parameter(std::string name, std::string description, std::int64_t value,
                              double low, double high) {
  return {.name = std::move(name),
          .description = std::move(description),
          .default_value = value,
          .low = low,
          .high = high};
}

ParameterInfo seconds_parameter(std::string name, std::string description, double value) {
  return {.name = std::move(name),
          .description = std::move(description),
          .default_value = value,
          .low = 0,
          .high = 1e9};
}

// What decides nothing about results, and may change when a run goes on.
std::vector<ParameterInfo> running_parameters(bool high) {
  std::vector<ParameterInfo> infos = {
      text_parameter("command", "the program, split at blanks; a shell gets it if it has quotes"),
      text_parameter("table", "instead of a command: a folder with an MDP as CSV"),
      text_parameter("directory", "its working folder; {worker} is the number of the instance"),
      list_parameter("inputs", "files that it reads, as a list: part of its identity"),
      text_parameter("identity", "replaces the hash of the program and its inputs"),
      seconds_parameter("timeout_start", "seconds until it must have answered hello", 60),
      seconds_parameter("timeout_step", "seconds for any other answer; 0: for ever", 600),
      seconds_parameter("timeout_episode", "seconds for an episode or roll-out; 0: for ever", 0),
      count_parameter("restart_every", "episodes after which it is started anew; 0: never", 0, 0,
                      1e9),
      count_parameter("memory_mb", "limit of its memory; 0: none", 0, 0, 1e7),
      count_parameter("retries", "further attempts at an episode or roll-out that failed", 2, 0,
                      1000)};
  if (high) {
    infos.push_back(count_parameter("workers", "instances that run at the same time", 1, 1, 1000));
    infos.push_back({.name = "on_failure",
                     .description = "for hilo learn, if all attempts at an episode failed",
                     .default_value = "skip",
                     .choices = {"skip", "stop"}});
  }
  for (ParameterInfo& info : infos) info.in_identity = false;
  return infos;
}

// What decides results.
std::vector<ParameterInfo> deciding_parameters(bool high) {
  std::vector<ParameterInfo> infos = {
      list_parameter("grid", "cells in each dimension of an observation that is a vector"),
      list_parameter("grid_low", "bounds of the grid; the program's own if not given"),
      list_parameter("grid_high", "bounds of the grid; the program's own if not given"),
      list_parameter("action_grid", "cells in each dimension of an action that is a vector")};
  if (!high) {
    infos.push_back(list_parameter("terminal", "states that are known to be terminal, as a list"));
    infos.push_back(list_parameter(
        "map", "from expensive to cheap states: a CSV file, or the coordinates to select"));
    infos.push_back(text_parameter("map.command", "a program that maps lines of observations"));
  }
  for (const char* unit : {"cost_episode", "cost_step"}) {
    if (!high && unit == std::string_view("cost_episode")) continue;
    infos.push_back(seconds_parameter(unit, "for hilo learn: what it costs, in any unit", -1));
    infos.back().low = -1;
    infos.back().high = 1e300;
  }
  return infos;
}

std::vector<ParameterInfo> parameters_of(const std::string& side, bool high) {
  std::vector<ParameterInfo> all;
  for (std::vector<ParameterInfo> infos : {running_parameters(high), deciding_parameters(high)})
    for (ParameterInfo& info : infos) {
      info.name = fmt::format("{}.{}", side, info.name);
      info.low_fidelity_only = !high;
      info.silent_default = true;
      all.push_back(std::move(info));
    }
  return all;
}

std::vector<ParameterInfo> parameters() {
  std::vector<ParameterInfo> all = parameters_of("high", true);
  for (const char* low : kLows)
    for (ParameterInfo& info : parameters_of(low, false)) all.push_back(std::move(info));
  return all;
}

NamedValues with_prefix(const NamedValues& options, const std::string& side) {
  NamedValues out;
  for (const auto& [key, value] : options) out[fmt::format("{}.{}", side, key)] = value;
  return out;
}

// Costs and failures belong to hilo learn, which keeps a journal of them.
ProblemSpending take_spending(NamedValues& problem) {
  ProblemSpending out;
  const auto take = [&](const char* key, NamedValues& into, const char* name) {
    const auto found = problem.find(key);
    if (found == problem.end()) return;
    into[name] = found->second;
    problem.erase(found);
  };
  take("high.cost_episode", out.cost, "high_episode");
  take("high.cost_step", out.cost, "high_step");
  take("low.cost_step", out.cost, "low_step");
  take("high.retries", out.failures, "retries");
  take("high.on_failure", out.failures, "on_failure");
  problem["high.retries"] = std::int64_t{0};
  return out;
}

std::size_t count_lows(const NamedValues& problem) {
  std::size_t count = 0;
  for (const std::string low : kLows)
    for (const char* key : {".command", ".table"})
      count += problem.contains(low + key) && problem.at(low + key) != Value("") ? 1 : 0;
  return count;
}

}  // namespace

std::shared_ptr<const EpisodeSimulator> make_program_high(const NamedValues& options) {
  const Parameters p("program", parameters_of("high", true), with_prefix(options, "high"));
  validate_side(Side(p, "high"));
  return build_high(p, 0);
}

std::shared_ptr<const Simulator> make_program_low(const NamedValues& options) {
  const Parameters p("program", parameters_of("low", false), with_prefix(options, "low"));
  const Side side(p, "low");
  validate_side(side);
  return build_cheap(side).simulator;
}

ProgramOptions program_options(const NamedValues& options) {
  const Parameters p("program", parameters_of("low", false), with_prefix(options, "low"));
  return Side(p, "low").options(0);
}

std::string program_identity(const NamedValues& options) {
  const Parameters p("program", parameters_of("low", false), with_prefix(options, "low"));
  std::string text = hash_side(Side(p, "low"));
  for (const ParameterInfo& info : parameters_of("low", false))
    if (info.in_identity && p.all().at(info.name) != info.default_value)
      text += fmt::format(" {}={}", info.name.substr(4), plain_text(p.all().at(info.name)));
  return text;
}

ProblemKind program_kind() {
  return {.name = "program",
          .description = "simulators that are programs of your own (docs/programs.md)",
          .parameters = parameters(),
          .build_high = build_high,
          .build = build_pair,
          .validate = validate,
          .content_hash = hash_sides,
          .lacks = [](std::string_view feature, const Parameters&) -> std::string {
            if (feature == kCommonRandomNumbers)
              return "a program cannot have: it draws its own random numbers";
            return "";
          },
          .same_for_all_seeds = true,
          .low_fidelities_of = count_lows,
          .low_is_slow = true,
          .take_spending = take_spending};
}

}  // namespace hilo
