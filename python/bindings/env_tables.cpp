#include "bindings.hpp"
#include "hilo/env/degraded_twin.hpp"
#include "hilo/env/projection.hpp"
#include "hilo/env/random_mdp.hpp"
#include "hilo/env/table_csv.hpp"

namespace hilo::python {
namespace {

// Rows of the pairs (0, 0), (0, 1), ...: row i has the outcomes offsets[i] to offsets[i + 1].
struct SparseTable {
  std::size_t num_states = 0, num_actions = 0;
  std::span<const std::int64_t> offsets;
  std::span<const State> next;
  std::span<const double> probability, reward;
};

void check(const SparseTable& table) {
  const std::size_t num_rows = table.num_states * table.num_actions;
  require_within("number of states", table.num_states, 1, kMaxTableSize, Errc::data);
  require_within("number of actions", table.num_actions, 1, kMaxTableSize / table.num_states,
                 Errc::data);
  if (table.offsets.size() != num_rows + 1 || table.offsets[0] != 0 ||
      table.offsets[num_rows] != static_cast<std::int64_t>(table.next.size()) ||
      table.probability.size() != table.next.size() || table.reward.size() != table.next.size())
    throw Error(Errc::data,
                "offsets must have one more entry than there are rows, from 0 to the number of "
                "outcomes, and next, probability and reward one entry for each outcome");
  for (std::size_t i = 0; i < num_rows; ++i)
    if (table.offsets[i] > table.offsets[i + 1]) throw Error(Errc::data, "offsets must rise");
}

std::shared_ptr<const TabularMdp> build(const SparseTable& table, std::span<const State> terminal,
                                        std::span<const double> start) {
  check(table);
  if (start.size() != table.num_states)
    throw Error(Errc::data, "start has " + std::to_string(start.size()) +
                                " probabilities, but must have one for each of the " +
                                std::to_string(table.num_states) + " states");
  TabularBuilder builder(table.num_states, table.num_actions, terminal);
  builder.reserve(table.next.size());
  std::vector<std::uint8_t> is_terminal(table.num_states, 0);
  for (const State s : terminal) is_terminal.at(s) = 1;
  std::vector<Outcome> row;
  for (std::size_t i = 0; i < table.num_states * table.num_actions; ++i) {
    if (is_terminal[i / table.num_actions] != 0) {
      builder.add_absorbing_row();
      continue;
    }
    row.clear();
    for (auto k = static_cast<std::size_t>(table.offsets[i]);
         k < static_cast<std::size_t>(table.offsets[i + 1]); ++k)
      row.push_back({table.next[k], table.probability[k], table.reward[k]});
    builder.add_row(row);
  }
  std::vector<StartProbability> starts;
  for (State s = 0; s < start.size(); ++s)
    if (start[s] != 0) starts.push_back({s, start[s]});
  return builder.build(starts);
}

std::vector<State> terminal_states(const Model& model) {
  std::vector<State> out;
  for (State s = 0; s < model.num_states(); ++s)
    if (model.is_terminal(s)) out.push_back(s);
  return out;
}

std::vector<double> start_of(const Model& model) {
  std::vector<double> out(model.num_states(), 0);
  for (const StartProbability& start : model.start_distribution())
    out[start.state] = start.probability;
  return out;
}

// All outcomes as arrays, the arguments of TabularMdp.from_arrays.
nb::dict arrays_of(const Model& model) {
  std::vector<std::int64_t> offsets = {0};
  std::vector<State> next;
  std::vector<double> probability, reward;
  std::vector<Outcome> row;
  for (State s = 0; s < model.num_states(); ++s)
    for (Action a = 0; a < model.num_actions(); ++a) {
      model.outcomes(s, a, row);
      for (const Outcome& outcome : row) {
        next.push_back(outcome.next);
        probability.push_back(outcome.probability);
        reward.push_back(outcome.reward);
      }
      offsets.push_back(static_cast<std::int64_t>(next.size()));
    }
  nb::dict out;
  out["num_actions"] = model.num_actions();
  out["offsets"] = own(std::move(offsets));
  out["next"] = own(std::move(next));
  out["probability"] = own(std::move(probability));
  out["reward"] = own(std::move(reward));
  out["start"] = own(start_of(model));
  out["terminal"] = own(terminal_states(model));
  return out;
}

}  // namespace

void bind_tables(nb::module_& m) {
  nb::class_<Model>(
      m, "Model",
      "The transition model of a simulator that knows it. Exact solutions are computed "
      "from it. The agents of hilo never use it.")
      .def_prop_ro("num_states", &Model::num_states, "Number of states.")
      .def_prop_ro("num_actions", &Model::num_actions, "Number of actions.")
      .def(
          "is_terminal",
          [](const Model& model, State s) {
            require_within("state", std::uint64_t{s}, 0, model.num_states() - 1, Errc::usage);
            return model.is_terminal(s);
          },
          "state"_a, "Whether an episode ends there.")
      .def_prop_ro(
          "terminal", [](const Model& model) { return own(terminal_states(model)); },
          "The terminal states, in ascending order.", nb::rv_policy::reference)
      .def_prop_ro(
          "start", [](const Model& model) { return own(start_of(model)); },
          "The probability of every state to be the first of an episode.", nb::rv_policy::reference)
      .def(
          "outcomes",
          [](const Model& model, State s, Action a) {
            require_within("state", std::uint64_t{s}, 0, model.num_states() - 1, Errc::usage);
            require_within("action", std::uint64_t{a}, 0, model.num_actions() - 1, Errc::usage);
            std::vector<Outcome> row;
            model.outcomes(s, a, row);
            std::vector<std::tuple<State, double, double>> out;
            for (const Outcome& outcome : row)
              out.emplace_back(outcome.next, outcome.probability, outcome.reward);
            return out;
          },
          "state"_a, "action"_a, "All (next, probability, reward) of a pair, in the order of next.")
      .def(
          "arrays", [](const Model& model) { return arrays_of(model); },
          "All outcomes as arrays, by the argument names of TabularMdp.from_arrays.");

  nb::class_<TabularMdp, Model>(m, "TabularMdp",
                                "A finite MDP that stores its non-zero transition probabilities.")
      .def_static(
          "from_arrays",
          [](std::size_t num_actions, const InVector<std::int64_t>& offsets,
             const InVector<State>& next, const InVector<double>& probability,
             const InVector<double>& reward, const InVector<double>& start,
             const InVector<State>& terminal) {
            if (num_actions == 0 || offsets.size() == 0)
              throw Error(Errc::data, "there must be a state and an action");
            const SparseTable table{.num_states = (offsets.size() - 1) / num_actions,
                                    .num_actions = num_actions,
                                    .offsets = span_of(offsets),
                                    .next = span_of(next),
                                    .probability = span_of(probability),
                                    .reward = span_of(reward)};
            return build(table, span_of(terminal), span_of(start));
          },
          "num_actions"_a, "offsets"_a.noconvert(), "next"_a.noconvert(),
          "probability"_a.noconvert(), "reward"_a.noconvert(), "start"_a.noconvert(),
          "terminal"_a.noconvert(),
          "Makes an MDP from sparse rows of the pairs (0, 0), (0, 1), ...: row i holds the "
          "outcomes offsets[i] to offsets[i + 1], in the order of next. Terminal states are "
          "absorbing, and their rows are ignored.")
      .def_prop_ro("num_nonzeros", &TabularMdp::num_nonzeros, "Number of outcomes that are stored.")
      .def_prop_ro("memory_bytes", &TabularMdp::memory_bytes, "Memory of its tables, in bytes.")
      .def("save", &save_mdp, "folder"_a, "Writes transitions.csv and start.csv (docs/tables.md).")
      .def_static("load", &load_mdp, "folder"_a, "Reads what save wrote.")
      .def("__reduce__",
           [](nb::handle self) {
             return nb::make_tuple(rebuild("table"),
                                   nb::make_tuple(arrays_of(nb::cast<const TabularMdp&>(self))));
           })
      .def("__repr__", [](const TabularMdp& mdp) {
        return "TabularMdp(num_states=" + std::to_string(mdp.num_states()) +
               ", num_actions=" + std::to_string(mdp.num_actions()) +
               ", num_nonzeros=" + std::to_string(mdp.num_nonzeros()) + ")";
      });

  m.def(
      "make_random_mdp",
      [](std::size_t states, std::size_t actions, double terminal_probability,
         std::size_t start_states, std::uint64_t seed) {
        return make_random_mdp({states, actions, terminal_probability, start_states}, seed);
      },
      "states"_a = 200, "actions"_a = 8, "terminal_probability"_a = 0.1, "start_states"_a = 10,
      "seed"_a = 0, nb::call_guard<nb::gil_scoped_release>(),
      "The paper's random MDP. Its last state is terminal.");
  m.def(
      "degrade",
      [](const TabularMdp& high, double snr_db, const std::string& projection, std::uint64_t seed) {
        return degrade(high, {snr_db, projection_from_name(projection)}, seed).mdp;
      },
      "high"_a, "snr_db"_a = -3.0, "projection"_a = "simplex", "seed"_a = 0,
      nb::call_guard<nb::gil_scoped_release>(),
      "A noisy copy of an MDP: the paper's low fidelity. Rewards must not depend on the "
      "successor.");
  m.def(
      "project",
      [](const InVector<double>& row, const std::string& projection) {
        return own(projected(projection_from_name(projection), span_of(row)));
      },
      "row"_a, "projection"_a, "Projects one row. Use hilo.project.");
}

}  // namespace hilo::python
