#include "hilo/env/table_csv.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <tuple>

#include "hilo/core/csv.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/output_file.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kTransitionColumns = {"state", "action", "next",
                                                                "probability", "reward"};
constexpr std::array<std::string_view, 2> kStartColumns = {"state", "probability"};
constexpr std::array<std::string_view, 2> kMapColumns = {"high", "low"};
constexpr std::uint64_t kMaxIndex = kMaxTableSize - 1;

struct TableRow {
  State state;
  Action action;
  std::vector<Outcome> outcomes;
};

struct Table {
  std::vector<TableRow> rows;
  std::size_t num_states = 0, num_actions = 0;
};

void check_sum(const CsvReader& csv, const TableRow& row) {
  double sum = 0;
  for (const Outcome& o : row.outcomes) sum += o.probability;
  if (std::abs(sum - 1) > kSumTolerance)
    csv.fail(
        fmt::format("probabilities of state {}, action {}, which ends before or on this line, "
                    "sum to {}, but must sum to 1 (within {})",
                    row.state, row.action, sum, kSumTolerance));
}

// Whether (state, action) may follow the last row: it is the next action of the same state, or the
// first action of the next state. `num_actions` is known once the first state is complete.
bool follows(const Table& table, State state, Action action) {
  if (table.rows.empty()) return state == 0 && action == 0;
  const TableRow& last = table.rows.back();
  if (state == last.state) return action == last.action + 1;
  const bool complete = last.state == 0 || last.action + 1 == table.num_actions;
  return complete && state == last.state + 1 && action == 0;
}

void append(const CsvReader& csv, Table& table, State state, Action action,
            const Outcome& outcome) {
  if (!table.rows.empty()) {
    TableRow& last = table.rows.back();
    if (state == last.state && action == last.action) {
      if (outcome.next == last.outcomes.back().next)
        csv.fail(fmt::format("state {}, action {}, next {} is there twice", state, action,
                             outcome.next));
      if (outcome.next < last.outcomes.back().next)
        csv.fail(fmt::format("next is {} after {}, but rows must be sorted by state, action, next",
                             outcome.next, last.outcomes.back().next));
      last.outcomes.push_back(outcome);
      return;
    }
    if (std::tie(state, action) < std::tie(last.state, last.action))
      csv.fail(
          fmt::format("state {}, action {} comes after state {}, action {}, but rows must be "
                      "sorted by state, action, next",
                      state, action, last.state, last.action));
    check_sum(csv, last);
  }
  if (!follows(table, state, action))
    csv.fail(
        fmt::format("rows are missing before state {}, action {}: every state needs rows for "
                    "every action",
                    state, action));
  if (state == 0) table.num_actions = action + std::size_t{1};
  if (action >= table.num_actions)
    csv.fail(fmt::format("action is {}, but state 0 has only the actions 0 to {}", action,
                         table.num_actions - 1));
  table.num_states = state + std::size_t{1};
  table.rows.push_back({state, action, {outcome}});
}

Table read_transitions(CsvReader csv) {
  Table table;
  std::uint64_t max_next = 0;
  std::size_t max_next_line = 0;
  while (csv.next()) {
    const auto state = static_cast<State>(csv.whole(0, kMaxIndex));
    const auto action = static_cast<Action>(csv.whole(1, kMaxIndex));
    const auto next = static_cast<State>(csv.whole(2, kMaxIndex));
    const double probability = csv.number(3);
    if (!(probability > 0 && probability <= 1))
      csv.fail(fmt::format("probability is {}, but must be in (0, 1]; leave out impossible steps",
                           probability));
    append(csv, table, state, action,
           {.next = next, .probability = probability, .reward = csv.number(4)});
    if (next > max_next) {
      max_next = next;
      max_next_line = csv.line_number();
    }
  }
  if (table.rows.empty()) csv.fail("there are no rows");
  check_sum(csv, table.rows.back());
  if (table.rows.back().action + 1 != table.num_actions)
    csv.fail(fmt::format("rows are missing at the end: state {} needs rows for actions 0 to {}",
                         table.num_states - 1, table.num_actions - 1));
  if (max_next >= table.num_states)
    csv.fail(
        fmt::format("rows are missing at the end: line {} leads to state {}, but there are rows "
                    "for states 0 to {} only",
                    max_next_line, max_next, table.num_states - 1));
  return table;
}

// States whose actions all lead back to the state itself.
std::vector<State> absorbing_states(const Table& table) {
  std::vector<State> absorbing;
  for (State s = 0; s < table.num_states; ++s) {
    const auto first = table.rows.begin() + static_cast<std::ptrdiff_t>(s * table.num_actions);
    const auto last = first + static_cast<std::ptrdiff_t>(table.num_actions);
    if (std::all_of(first, last, [s](const TableRow& row) {
          return row.outcomes.size() == 1 && row.outcomes[0].next == s;
        }))
      absorbing.push_back(s);
  }
  return absorbing;
}

std::vector<StartProbability> read_start(CsvReader csv, std::size_t num_states) {
  std::vector<StartProbability> start;
  while (csv.next()) {
    const auto state = static_cast<State>(csv.whole(0, num_states - 1));
    const double probability = csv.number(1);
    if (!(probability > 0 && probability <= 1))
      csv.fail(fmt::format("probability is {}, but must be in (0, 1]", probability));
    if (!start.empty() && state == start.back().state)
      csv.fail(fmt::format("state {} is there twice", state));
    if (!start.empty() && state < start.back().state)
      csv.fail(fmt::format("state is {} after {}, but rows must be sorted by state", state,
                           start.back().state));
    start.push_back({state, probability});
  }
  return start;
}

// Runs `build` and puts the name of the file in front of its errors, which only name states.
template <class Build>
auto in_file(const fs::path& file, Build&& build) {
  try {
    return build();
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("{}: {}", file.string(), e.what()));
  }
}

// `read_start` is called after the transitions have been checked.
template <class ReadStart>
std::shared_ptr<const TabularMdp> build_mdp(const Table& table, const fs::path& transitions_name,
                                            ReadStart&& read_start, const fs::path& start_name) {
  auto builder = in_file(transitions_name, [&] {
    TabularBuilder b(table.num_states, table.num_actions, absorbing_states(table));
    for (const TableRow& row : table.rows) b.add_row(row.outcomes);
    b.check_terminal_is_reachable();
    return b;
  });
  const auto start = read_start(table.num_states);
  return in_file(start_name, [&] { return builder.build(start); });
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(Errc::io, fmt::format("{}: cannot be made: {}", folder.string(), error.message()));
}

}  // namespace

double bytes_of_mdp(const fs::path& folder) {
  std::error_code error;
  const auto size = fs::file_size(folder / "transitions.csv", error);
  return error ? 0 : static_cast<double>(size);
}

std::shared_ptr<const TabularMdp> load_mdp(const fs::path& folder) {
  const fs::path transitions = folder / "transitions.csv";
  const fs::path start = folder / "start.csv";
  return build_mdp(
      read_transitions(CsvReader(transitions, kTransitionColumns)), transitions,
      [&](std::size_t num_states) {
        return read_start(CsvReader(start, kStartColumns), num_states);
      },
      start);
}

std::shared_ptr<const TabularMdp> parse_mdp(const std::string& transitions,
                                            const std::string& start) {
  const auto reader = [](const std::string& text, const char* name, auto columns) {
    return CsvReader(std::make_unique<std::istringstream>(text), name, columns);
  };
  return build_mdp(
      read_transitions(reader(transitions, "transitions", std::span(kTransitionColumns))),
      "transitions",
      [&](std::size_t num_states) {
        return read_start(reader(start, "start", std::span(kStartColumns)), num_states);
      },
      "start");
}

void save_mdp(const TabularMdp& mdp, const fs::path& folder) {
  make_folder(folder);
  const std::string header = fmt::format("{}\n", fmt::join(kTransitionColumns, ","));
  AtomicFile transitions(folder / "transitions.csv", {.mark = header});
  transitions.out() << header;
  std::vector<Outcome> outcomes;
  for (State s = 0; s < mdp.num_states(); ++s)
    for (Action a = 0; a < mdp.num_actions(); ++a) {
      mdp.outcomes(s, a, outcomes);
      for (const Outcome& o : outcomes)
        fmt::print(transitions.out(), "{},{},{},{},{}\n", s, a, o.next, o.probability, o.reward);
    }
  const std::string start_header = fmt::format("{}\n", fmt::join(kStartColumns, ","));
  AtomicFile start(folder / "start.csv", {.mark = start_header});
  start.out() << start_header;
  for (const auto& [state, probability] : mdp.start_distribution())
    fmt::print(start.out(), "{},{}\n", state, probability);
  transitions.commit();
  start.commit();
}

StateMap load_map(const fs::path& file, std::size_t num_high_states, std::size_t num_low_states) {
  CsvReader csv(file, kMapColumns);
  std::vector<State> low_of;
  while (csv.next()) {
    const std::uint64_t high = csv.whole(0, num_high_states - 1);
    if (high != low_of.size())
      csv.fail(
          fmt::format("high is {}, but must be {}: every state once, sorted", high, low_of.size()));
    low_of.push_back(static_cast<State>(csv.whole(1, num_low_states - 1)));
  }
  if (low_of.size() != num_high_states)
    csv.fail(fmt::format("the map ends after {} states, but the high fidelity has {}",
                         low_of.size(), num_high_states));
  return {std::move(low_of), num_low_states};
}

Fidelities load_pair(const fs::path& folder) {
  return load_pair(folder, make_simulator(load_mdp(folder / "high")));
}

Fidelities load_pair(const fs::path& folder, const std::shared_ptr<const EpisodeSimulator>& high,
                     Sampling low_sampling) {
  const auto low = load_mdp(folder / "low");
  const fs::path map_file = folder / "map.csv";
  std::error_code ignored;
  const bool has_map = fs::exists(map_file, ignored);
  if (!has_map && high->num_states() != low->num_states())
    throw Error(Errc::data,
                fmt::format("{}: is needed, because the fidelities have {} and {} states",
                            map_file.string(), high->num_states(), low->num_states()));
  StateMap map = has_map ? load_map(map_file, high->num_states(), low->num_states())
                         : StateMap::identity(high->num_states());
  return in_file(has_map ? map_file : folder, [&] {
    return Fidelities(high, make_simulator(low, low_sampling), std::move(map));
  });
}

void save_pair(const TabularMdp& high, const TabularMdp& low, const StateMap& map,
               const fs::path& folder) {
  save_mdp(high, folder / "high");
  save_mdp(low, folder / "low");
  const std::string header = fmt::format("{}\n", fmt::join(kMapColumns, ","));
  AtomicFile file(folder / "map.csv", {.mark = header});
  file.out() << header;
  for (State s = 0; s < map.num_high_states(); ++s)
    fmt::print(file.out(), "{},{}\n", s, map.low_of(s));
  file.commit();
}

}  // namespace hilo
