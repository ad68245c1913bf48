#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/env/detail/kinds.hpp"
#include "hilo/env/grid_source.hpp"
#include "hilo/env/program/detail/builtin_side.hpp"
#include "hilo/env/program/detail/program_map.hpp"
#include "hilo/env/program/detail/program_side.hpp"
#include "hilo/env/program/program_simulators.hpp"
#include "hilo/env/program/program_source.hpp"
#include "hilo/env/source_pool.hpp"
#include "hilo/env/source_steps.hpp"
#include "hilo/env/source_vectors.hpp"
#include "hilo/env/table_csv.hpp"
#include "hilo/env/table_vectors.hpp"

// The problem whose simulators are programs.
namespace hilo {
namespace {

std::shared_ptr<const Grid> grid_of(const Side& side, const Space& space, const char* cells,
                                    const char* low, const char* high, const char* what) {
  if (space.is_discrete()) {
    if (side.has(cells))
      fail_spec(fmt::format("{} is given, but the {} of the program are numbered", side.key(cells),
                            what));
    return nullptr;
  }
  if (!side.has(cells))
    fail_spec(fmt::format(
        "the {} of the program '{}' are vectors of {} numbers ({}): give {}, the number "
        "of cells in each dimension, such as {} = [{}]; or problem.vectors = true, for agents "
        "such as corrected",
        what, side.text("command"), space.dimension(), space.describe(), side.key(cells), cells,
        fmt::join(std::vector(space.dimension(), 10), ", ")));
  std::vector<double> lows(space.low().begin(), space.low().end());
  std::vector<double> highs(space.high().begin(), space.high().end());
  if (low != nullptr && side.has(low)) lows = side.numbers(low);
  if (high != nullptr && side.has(high)) highs = side.numbers(high);
  try {
    return std::make_shared<const Grid>(side.counts(cells), lows, highs);
  } catch (const Error& e) {
    fail_spec(fmt::format("{}: {}", side.key(cells), e.what()));
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
  if (side.has("builtin")) return builtin_high(side);
  const auto first =
      ProgramSource::start(side.options(static_cast<std::uint32_t>(side.count("first_worker"))));
  const CutProgram program(side, first->facts());
  std::vector<SourcePaths> instances;
  const auto first_number = static_cast<std::uint32_t>(side.count("first_worker"));
  for (std::uint32_t worker = 0; worker < side.count("workers"); ++worker) {
    const auto source = worker == 0 ? first
                                    : std::make_shared<ProgramSource>(
                                          side.options(first_number + worker), first->facts());
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

void require_start(const ProgramSource& source, const Side& side) {
  if (!source.facts().starts_anywhere)
    fail_spec(
        fmt::format("the program '{}' is the cheap simulator, but it cannot be started in any "
                    "state: its answer to 'hello 1' has \"start\" as \"none\"; only the expensive "
                    "one may be like that",
                    side.text("command")));
}

Cheap build_cheap(const Side& side) {
  if (side.has("table")) return {make_simulator(load_mdp(side.text("table"))), nullptr};
  if (side.has("builtin")) return {builtin_low(side).simulator, nullptr};
  const auto source = ProgramSource::start(side.options(0));
  require_start(*source, side);
  const CutProgram program(side, source->facts());
  return {std::make_shared<const SourceSimulator>(SourcePaths(
              program.cut(source), terminal_of(side), "low fidelity", side.count("retries"))),
          program.states};
}

LowFidelity build_low(const Side& side, const HighSimulator& high) {
  if (side.has("builtin") && !side.has("map") && !side.has("map.command"))
    if (LowFidelity low = builtin_low(side); low.map->num_high_states() == high->num_states())
      return low;
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
  if (side.has("builtin")) return "builtin " + identity_of_builtin(side);
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
  if (side.has("command") + side.has("table") + side.has("builtin") != 1)
    fail_spec(
        fmt::format("{} must have one of: a command, the program to run; a table, a folder with an "
                    "MDP as CSV; builtin, the name of one of hilo's problems",
                    side.name()));
  if (side.has("builtin")) identity_of_builtin(side);  // which checks its options
  if (side.has("builtin_options") && !side.has("builtin"))
    fail_spec(
        fmt::format("{} is given without {}", side.key("builtin_options"), side.key("builtin")));
  for (const char* list : {"grid", "action_grid"}) side.counts(list);
  for (const char* list : {"grid_low", "grid_high"}) side.numbers(list);
}

void validate(const Parameters& p) {
  validate_side(Side(p, "high"));
  for (const Side& side : lows_of(p)) {
    validate_side(side);
    side.counts("terminal");
    if (side.has("map") && side.has("map.command"))
      fail_spec(fmt::format("{} and {} are both given", side.key("map"), side.key("map.command")));
  }
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

bool has_vectors(const NamedValues& problem) {
  const auto given = problem.find("vectors");
  return given != problem.end() && given->second == Value(true);
}

std::vector<std::size_t> angles_of(const Parameters& p) {
  std::vector<std::size_t> out;
  for (const std::string& text : split_list(p.text("angles"))) {
    std::size_t angle = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), angle);
    if (error != std::errc() || end != text.data() + text.size())
      fail_spec(fmt::format("angles has '{}', but must have numbers of coordinates", text));
    out.push_back(angle);
  }
  return out;
}

// Both sides as they are, without grids.
VectorProblem build_vectors(const Parameters& p, std::uint64_t /*seed*/) {
  const std::vector<Side> lows = lows_of(p);
  if (lows.size() > 1) fail_spec("vectors is true, so that there can be one cheap simulator");
  for (const Side& side : lows)
    if (side.has("map") || side.has("map.command"))
      fail_spec(
          fmt::format("{} is given, but with vectors = true both simulators must have the "
                      "same observations",
                      side.key("map")));
  const Side expensive(p, "high");
  const auto refuse = [](const Side& side) {
    for (const char* key : {"grid", "action_grid", "grid_low", "grid_high", "table", "builtin"})
      if (side.has(key)) fail_spec(fmt::format("{} is given, but vectors is true", side.key(key)));
  };
  for (const Side& side : lows)
    if (side.has("terminal"))
      fail_spec(fmt::format("{} is given, but vectors is true", side.key("terminal")));
  if (expensive.count("workers") > 1)
    fail_spec(
        fmt::format("{} is {}, but with vectors = true there is one expensive episode at a time",
                    expensive.key("workers"), expensive.count("workers")));
  refuse(expensive);
  for (const Side& side : lows) refuse(side);
  const std::vector<std::size_t> angles = angles_of(p);
  const auto high = std::make_shared<const SourceVectors>(
      std::vector<std::shared_ptr<StepSource>>{ProgramSource::start(
          expensive.options(static_cast<std::uint32_t>(expensive.count("first_worker"))))},
      "the expensive simulator", angles);
  if (lows.empty()) return {.pair = VectorFidelities(high)};
  const auto low = ProgramSource::start(lows[0].options(0));
  require_start(*low, lows[0]);
  return {.pair = VectorFidelities(
              high, std::make_shared<const SourceSteps>(low, angles, "the cheap simulator"))};
}

std::size_t count_lows(const NamedValues& problem) {
  std::size_t count = 0;
  for (const std::string low : kLows)
    for (const char* key : {".command", ".table", ".builtin"})
      count += problem.contains(low + key) && problem.at(low + key) != Value("") ? 1 : 0;
  return count;
}

}  // namespace

std::shared_ptr<const EpisodeSimulator> make_program_high(const NamedValues& options) {
  const Parameters p("program", parameters_of_side("high", true), with_prefix(options, "high"));
  validate_side(Side(p, "high"));
  return build_high(p, 0);
}

std::shared_ptr<const Simulator> make_program_low(const NamedValues& options) {
  const Parameters p("program", parameters_of_side("low", false), with_prefix(options, "low"));
  const Side side(p, "low");
  validate_side(side);
  return build_cheap(side).simulator;
}

std::vector<ProgramVectors> make_program_vectors(const NamedValues& problem) {
  const Parameters p("program", parameters_of_sides(), problem);
  std::vector<Side> sides = {Side(p, "high")};
  for (const Side& low : lows_of(p)) sides.push_back(low);
  std::vector<ProgramVectors> out;
  for (const Side& side : sides) {
    const bool high = out.empty();
    ProgramVectors made{.simulator = nullptr, .name = side.text("command")};
    made.has_map = !high && (side.has("map") || side.has("map.command"));
    made.retries = side.count("retries");
    if (side.has("table") || side.has("builtin")) {
      made.name = side.text(side.has("table") ? "table" : "builtin");
      made.simulator = std::make_shared<const TableVectors>(
          high ? build_high(p, 0)
               : std::shared_ptr<const EpisodeSimulator>(build_cheap(side).simulator));
    } else {
      const auto first = static_cast<std::uint32_t>(high ? side.count("first_worker") : 0);
      const auto source = ProgramSource::start(side.options(first));
      std::vector<std::shared_ptr<StepSource>> instances = {source};
      for (std::uint32_t worker = 1; high && worker < side.count("workers"); ++worker)
        instances.push_back(
            std::make_shared<ProgramSource>(side.options(first + worker), source->facts()));
      made.starts_anywhere = source->facts().starts_anywhere;
      made.simulator = std::make_shared<const SourceVectors>(
          std::move(instances), high ? "the expensive simulator" : "a cheap simulator");
    }
    out.push_back(std::move(made));
  }
  return out;
}

ProgramOptions program_options(const NamedValues& options) {
  const Parameters p("program", parameters_of_side("low", false), with_prefix(options, "low"));
  return Side(p, "low").options(0);
}

std::string program_identity(const NamedValues& options) {
  const Parameters p("program", parameters_of_side("low", false), with_prefix(options, "low"));
  std::string text = hash_side(Side(p, "low"));
  for (const ParameterInfo& info : parameters_of_side("low", false))
    if (info.in_identity && p.all().at(info.name) != info.default_value)
      text += fmt::format(" {}={}", info.name.substr(4), plain_text(p.all().at(info.name)));
  return text;
}

ProblemKind program_kind() {
  return {.name = "program",
          .description = "simulators that are programs of your own (docs/programs.md)",
          .parameters = parameters_of_sides(),
          .build_high = build_high,
          .build = build_pair,
          .build_vectors = build_vectors,
          .has_vectors_of = has_vectors,
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
