#include <nanobind/stl/array.h>

#include "bindings.hpp"
#include "hilo/env/degraded_twin.hpp"
#include "hilo/env/docking.hpp"
#include "hilo/env/nas_space.hpp"
#include "hilo/env/random_mdp.hpp"
#include "hilo/env/registry.hpp"
#include "hilo/env/table_csv.hpp"
#include "hilo/policy/q_table.hpp"

namespace hilo::python {
namespace {

// Rows in the order (0, 0), (0, 1), ...: row i has the outcomes offsets[i] to offsets[i + 1].
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

// All outcomes as arrays: what TabularMdp.from_arrays takes.
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

// Where a built problem came from, so that it can be built again elsewhere.
struct BuiltProblem {
  std::string kind;
  Parameter parameters;
  std::uint64_t seed;
  Problem problem;
  HighSimulator high;
};

BuiltProblem build_problem_from(const std::string& kind, std::uint64_t seed,
                                const Parameter& given) {
  const ProblemKind& found = problem_kind(kind);
  HighSimulator high = build_high_fidelity(found, given, seed);
  Problem problem = build_problem(found, given, seed, high);
  return {kind, given, seed, std::move(problem), std::move(high)};
}

// As what it can do: most high fidelities are generative too.
nb::object cast_high(const HighSimulator& high) {
  if (auto simulator = std::dynamic_pointer_cast<const Simulator>(high)) return nb::cast(simulator);
  return nb::cast(high);
}

// A part of a built problem: pickled by building it again.
nb::object with_origin(nb::object part, const BuiltProblem& built, const char* name) {
  part.attr("_origin") = nb::make_tuple(built.kind, built.parameters, built.seed, name);
  return part;
}

nb::object reduce(nb::handle self) {
  if (nb::hasattr(self, "_origin"))
    return nb::make_tuple(rebuild("part_of_problem"), self.attr("_origin"));
  return nb::none();
}

[[noreturn]] void cannot_pickle(const char* what) {
  throw nb::type_error((std::string("this ") + what +
                        " cannot be pickled: it was made neither by hilo.build_problem nor from a "
                        "table")
                           .c_str());
}

void bind_tables(nb::module_& m) {
  nb::class_<Model>(m, "Model",
                    "The distribution behind a simulator that knows it: what exact solutions are "
                    "computed from. Learning never looks at it.")
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
          "The terminal states, rising.", nb::rv_policy::reference)
      .def_prop_ro(
          "start", [](const Model& model) { return own(start_of(model)); },
          "Probability of every state to be the first.", nb::rv_policy::reference)
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
          "state"_a, "action"_a, "All (next, probability, reward) of a pair, by rising next.")
      .def(
          "arrays", [](const Model& model) { return arrays_of(model); },
          "All outcomes as arrays, by the names that TabularMdp.from_arrays takes.");

  nb::class_<TabularMdp, Model>(m, "TabularMdp",
                                "A finite MDP with its non-zero transition probabilities.")
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
          "From sparse rows in the order (0, 0), (0, 1), ...: row i holds the outcomes offsets[i] "
          "to offsets[i + 1], by rising next. Rows of terminal states are ignored: these absorb.")
      .def_prop_ro("num_nonzeros", &TabularMdp::num_nonzeros, "Outcomes that are stored.")
      .def_prop_ro("memory_bytes", &TabularMdp::memory_bytes, "Memory of its tables.")
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
}

// How roll-outs are asked for from Python.
struct Asked {
  const QTable* policy;  // null: uniform
  double epsilon;
  std::uint64_t seed;
  std::uint32_t episode;
  double gamma;
  std::uint32_t max_steps;
};

template <class Run>
auto with_batch(const EpisodeSimulator& simulator, const Asked& asked, Run&& run) {
  require_within("epsilon", asked.epsilon, 0, 1, Errc::usage);
  require_within("gamma", asked.gamma, 0, 1, Errc::usage);
  std::optional<QTable> uniform;
  if (asked.policy == nullptr) uniform.emplace(simulator.num_states(), simulator.num_actions());
  const QTable& q = asked.policy != nullptr ? *asked.policy : *uniform;
  return run(RolloutBatch{.behaviour = q.behaviour(asked.policy != nullptr ? asked.epsilon : 1),
                          .seed = asked.seed,
                          .purpose = Purpose::user,
                          .episode = asked.episode,
                          .gamma = asked.gamma,
                          .max_steps = asked.max_steps});
}

// What is left of roll-outs whose paths nobody needs, as columns.
struct Summaries {
  std::vector<RolloutSummary> all;

  template <class T, class Get>
  std::vector<T> column(const Get& get) const {
    std::vector<T> out;
    out.reserve(all.size());
    for (const RolloutSummary& summary : all) out.push_back(static_cast<T>(get(summary)));
    return out;
  }
};

void bind_episodes(nb::module_& m) {
  nb::class_<Episode>(m, "Episode", "States s_0 ... s_T, actions and rewards of one episode.")
      .def(
          "__init__",
          [](Episode* self, const InVector<State>& states, const InVector<Action>& actions,
             const InVector<double>& rewards, bool truncated) {
            if (states.size() != actions.size() + 1 || rewards.size() != actions.size())
              throw Error(Errc::data, "an episode of n actions has n rewards and n + 1 states");
            new (self) Episode{.states = {states.data(), states.data() + states.size()},
                               .actions = {actions.data(), actions.data() + actions.size()},
                               .rewards = {rewards.data(), rewards.data() + rewards.size()},
                               .truncated = truncated};
          },
          "states"_a, "actions"_a, "rewards"_a, "truncated"_a = false)
      .def_prop_ro(
          "states",
          [](nb::handle self) { return view<State>(nb::cast<const Episode&>(self).states, self); },
          "One more than there are actions.", nb::rv_policy::reference)
      .def_prop_ro(
          "actions",
          [](nb::handle self) {
            return view<Action>(nb::cast<const Episode&>(self).actions, self);
          },
          "What was done.", nb::rv_policy::reference)
      .def_prop_ro(
          "rewards",
          [](nb::handle self) {
            return view<double>(nb::cast<const Episode&>(self).rewards, self);
          },
          "What came of it.", nb::rv_policy::reference)
      .def_ro("truncated", &Episode::truncated, "Whether it was cut before its end.")
      .def("__len__", &Episode::length)
      .def("__reduce__",
           [](nb::handle self) {
             return nb::make_tuple(self.type(),
                                   nb::make_tuple(self.attr("states"), self.attr("actions"),
                                                  self.attr("rewards"), self.attr("truncated")));
           })
      .def("__repr__", [](const Episode& episode) {
        double sum = 0;
        for (const double r : episode.rewards) sum += r;
        return "Episode(length=" + std::to_string(episode.length()) +
               ", reward_sum=" + std::to_string(sum) + (episode.truncated ? ", truncated)" : ")");
      });

  nb::class_<Summaries>(m, "RolloutSummaries", "Many roll-outs, without their paths.")
      .def_prop_ro(
          "discounted_return",
          [](const Summaries& s) {
            return own(s.column<double>([](const auto& x) { return x.discounted_return; }));
          },
          "Discounted return of each.", nb::rv_policy::reference)
      .def_prop_ro(
          "reward_sum",
          [](const Summaries& s) {
            return own(s.column<double>([](const auto& x) { return x.reward_sum; }));
          },
          "Sum of the rewards of each.", nb::rv_policy::reference)
      .def_prop_ro(
          "steps",
          [](const Summaries& s) {
            return own(s.column<std::uint32_t>([](const auto& x) { return x.steps; }));
          },
          "Length of each.", nb::rv_policy::reference)
      .def_prop_ro(
          "truncated",
          [](const Summaries& s) {
            return own(s.column<std::uint8_t>([](const auto& x) { return x.truncated; }));
          },
          "1 where it was cut.", nb::rv_policy::reference)
      .def("__len__", [](const Summaries& s) { return s.all.size(); })
      .def("__repr__", [](const Summaries& s) {
        return "RolloutSummaries(" + std::to_string(s.all.size()) + ")";
      });
}

// Hides which states of a high fidelity are terminal: a coarse map may put them together with
// others.
class EpisodesOnly final : public EpisodeSimulator {
 public:
  explicit EpisodesOnly(HighSimulator whole) : whole_(std::move(whole)) {}
  std::size_t num_states() const override { return whole_->num_states(); }
  std::size_t num_actions() const override { return whole_->num_actions(); }
  const Model* model() const override { return whole_->model(); }
  void run_episode(const RolloutBatch& batch, Episode& episode) const override {
    whole_->run_episode(batch, episode);
  }
  void run_episodes(const RolloutBatch& batch, std::span<RolloutSummary> out) const override {
    whole_->run_episodes(batch, out);
  }

 private:
  HighSimulator whole_;
};

void bind_simulators(nb::module_& m) {
  nb::class_<EpisodeSimulator>(
      m, "EpisodeSimulator", nb::dynamic_attr(),
      "A simulator that gives full episodes from its start: all that is asked of the high "
      "fidelity.")
      .def_prop_ro("num_states", &EpisodeSimulator::num_states, "Number of states.")
      .def_prop_ro("num_actions", &EpisodeSimulator::num_actions, "Number of actions.")
      .def_prop_ro("model", &EpisodeSimulator::model, nb::rv_policy::reference_internal,
                   "The distribution behind it, or None if it is not known.")
      .def(
          "run_episode",
          [](const EpisodeSimulator& simulator, const QTable* policy, double epsilon,
             std::uint64_t seed, std::uint32_t episode, double gamma, std::uint32_t max_steps) {
            Episode out;
            with_batch(simulator, {policy, epsilon, seed, episode, gamma, max_steps},
                       [&](const RolloutBatch& batch) { simulator.run_episode(batch, out); });
            return out;
          },
          "policy"_a.none() = nb::none(), "epsilon"_a = 0.0, "seed"_a = 0, "episode"_a = 0,
          "gamma"_a = 1.0, "max_steps"_a = 10'000, nb::call_guard<nb::gil_scoped_release>(),
          "One episode, epsilon-greedy in a QTable or by uniform actions. It is a function of the "
          "seed and the number of the episode.")
      .def(
          "run_episodes",
          [](const EpisodeSimulator& simulator, std::size_t count, const QTable* policy,
             double epsilon, std::uint64_t seed, std::uint32_t episode, double gamma,
             std::uint32_t max_steps) {
            require_within("count", count, 0, kMaxTableSize, Errc::usage);
            Summaries out{std::vector<RolloutSummary>(count)};
            with_batch(simulator, {policy, epsilon, seed, episode, gamma, max_steps},
                       [&](const RolloutBatch& batch) { simulator.run_episodes(batch, out.all); });
            return out;
          },
          "count"_a, "policy"_a.none() = nb::none(), "epsilon"_a = 0.0, "seed"_a = 0,
          "episode"_a = 0, "gamma"_a = 1.0, "max_steps"_a = 10'000,
          nb::call_guard<nb::gil_scoped_release>(), "Many episodes at once, without their paths.")
      .def("__repr__", [](nb::handle self) {
        const auto& simulator = nb::cast<const EpisodeSimulator&>(self);
        return nb::cast<std::string>(self.type().attr("__name__")) +
               "(num_states=" + std::to_string(simulator.num_states()) +
               ", num_actions=" + std::to_string(simulator.num_actions()) + ")";
      });

  nb::class_<Simulator, EpisodeSimulator>(
      m, "Simulator",
      "A simulator that can be started at any pair of state and action: what the low fidelity must "
      "be.")
      .def(
          "is_terminal",
          [](const Simulator& simulator, State s) {
            require_within("state", std::uint64_t{s}, 0, simulator.num_states() - 1, Errc::usage);
            return simulator.is_terminal(s);
          },
          "state"_a, "Whether an episode ends there.")
      .def(
          "reward",
          [](const Simulator& simulator, State s, Action a, State next) {
            require_within("state", std::uint64_t{s}, 0, simulator.num_states() - 1, Errc::usage);
            require_within("action", std::uint64_t{a}, 0, simulator.num_actions() - 1, Errc::usage);
            require_within("next", std::uint64_t{next}, 0, simulator.num_states() - 1, Errc::usage);
            return simulator.reward(s, a, next);
          },
          "state"_a, "action"_a, "next"_a, nb::call_guard<nb::gil_scoped_release>(),
          "The reward it gives for a step that may have been taken elsewhere.")
      .def(
          "roll_out",
          [](const Simulator& simulator, const InVector<State>& states,
             const InVector<Action>& actions, std::uint32_t rollouts, const QTable* policy,
             double epsilon, std::uint64_t seed, std::uint32_t episode, double gamma,
             std::uint32_t max_steps) {
            if (states.size() != actions.size())
              throw Error(Errc::usage, "roll_out needs as many states as actions");
            require_within("rollouts", std::uint64_t{rollouts}, 1, 100'000'000, Errc::usage);
            std::vector<StateAction> starts;
            for (std::size_t i = 0; i < states.size(); ++i)
              starts.push_back({states.data()[i], actions.data()[i]});
            Summaries out{std::vector<RolloutSummary>(starts.size() * rollouts)};
            with_batch(simulator, {policy, epsilon, seed, episode, gamma, max_steps},
                       [&](const RolloutBatch& batch) {
                         simulator.roll_out(batch, starts, rollouts, out.all);
                       });
            return out;
          },
          "states"_a, "actions"_a, "rollouts"_a = 1, "policy"_a.none() = nb::none(),
          "epsilon"_a = 0.0, "seed"_a = 0, "episode"_a = 0, "gamma"_a = 1.0, "max_steps"_a = 10'000,
          nb::call_guard<nb::gil_scoped_release>(),
          "Starts so many times at each pair; roll-out j of pair i is at place i * rollouts + j.")
      .def("__reduce__", [](nb::handle self) -> nb::object {
        if (nb::object built = reduce(self); !built.is_none()) return built;
        const auto& simulator = nb::cast<const Simulator&>(self);
        const auto* mdp = dynamic_cast<const TabularMdp*>(simulator.model());
        if (mdp == nullptr) cannot_pickle("simulator");
        return nb::make_tuple(
            rebuild("simulator"),
            nb::make_tuple(nb::cast(mdp, nb::rv_policy::reference_internal, self),
                           nb::hasattr(self, "_sampling") ? nb::object(self.attr("_sampling"))
                                                          : nb::object(nb::str("alias"))));
      });

  m.def(
      "make_simulator",
      [](const std::shared_ptr<TabularMdp>& mdp, const std::string& sampling) {
        nb::object simulator = nb::cast(
            make_simulator(std::shared_ptr<const TabularMdp>(mdp), sampling_from_name(sampling)));
        simulator.attr("_sampling") = sampling;
        return simulator;
      },
      "mdp"_a, "sampling"_a = "alias",
      nb::sig("def make_simulator(mdp: TabularMdp, sampling: str = 'alias') -> Simulator"),
      "A simulator that draws from a table: by \"alias\", fast, or by \"inverse-cdf\", for "
      "coupling "
      "by common random numbers.");

  nb::class_<EpisodesOnly, EpisodeSimulator>(m, "EpisodesOnly",
                                             "A simulator of which only whole episodes are shown.")
      .def(
          "__init__",
          [](EpisodesOnly* self, const std::shared_ptr<EpisodeSimulator>& simulator) {
            new (self) EpisodesOnly(simulator);
          },
          "simulator"_a);

  nb::class_<StateMap>(m, "StateMap",
                       "The map T from high-fidelity to low-fidelity states, with its preimages.")
      .def(
          "__init__",
          [](StateMap* self, const InVector<State>& low_of, std::size_t num_low_states) {
            new (self) StateMap({low_of.data(), low_of.data() + low_of.size()}, num_low_states);
          },
          "low_of"_a, "num_low_states"_a)
      .def_static("identity", &StateMap::identity, "num_states"_a)
      .def_prop_ro("num_high_states", &StateMap::num_high_states, "States that are mapped.")
      .def_prop_ro("num_low_states", &StateMap::num_low_states, "States they are mapped to.")
      .def_prop_ro(
          "low_of",
          [](const StateMap& map) {
            std::vector<State> out(map.num_high_states());
            for (State s = 0; s < out.size(); ++s) out[s] = map.low_of(s);
            return own(std::move(out));
          },
          "T(s) for every high-fidelity state s.", nb::rv_policy::reference)
      .def(
          "high_of",
          [](nb::handle self, State low) {
            const auto& map = nb::cast<const StateMap&>(self);
            require_within("state", std::uint64_t{low}, 0, map.num_low_states() - 1, Errc::usage);
            return view<State>(map.high_of(low), self);
          },
          "low"_a, "All s with T(s) = low, rising.")
      .def("__reduce__",
           [](nb::handle self) {
             return nb::make_tuple(
                 self.type(), nb::make_tuple(self.attr("low_of"), self.attr("num_low_states")));
           })
      .def("__repr__", [](const StateMap& map) {
        return "StateMap(" + std::to_string(map.num_high_states()) + " states to " +
               std::to_string(map.num_low_states()) + ")";
      });

  nb::class_<FidelityPair>(m, "FidelityPair", nb::dynamic_attr(),
                           "An expensive simulator, its cheap sketch, and the map between them.")
      .def(
          "__init__",
          [](FidelityPair* self, const std::shared_ptr<EpisodeSimulator>& high,
             const std::shared_ptr<Simulator>& low, const std::optional<StateMap>& map) {
            if (map)
              new (self) FidelityPair(high, low, *map);
            else
              new (self) FidelityPair(high, low);
          },
          "high"_a, "low"_a, "map"_a = nb::none())
      .def_prop_ro(
          "high", [](const FidelityPair& pair) { return cast_high(pair.shared_high()); },
          nb::sig("def high(self) -> EpisodeSimulator"), "The expensive simulator.")
      .def_prop_ro(
          "low", [](const FidelityPair& pair) { return pair.shared_low(); }, "The cheap simulator.")
      .def_prop_ro("map", &FidelityPair::map, nb::rv_policy::reference_internal, "T.")
      .def_prop_ro("num_actions", &FidelityPair::num_actions, "Number of actions of both.")
      .def(
          "save",
          [](const FidelityPair& pair, const std::filesystem::path& folder) {
            const auto* high = dynamic_cast<const TabularMdp*>(pair.high().model());
            const auto* low = dynamic_cast<const TabularMdp*>(pair.low().model());
            if (high == nullptr || low == nullptr)
              throw Error(Errc::usage, "only pairs of tables can be saved as tables");
            save_pair(*high, *low, pair.map(), folder);
          },
          "folder"_a, "Writes both as CSV files (docs/tables.md), for the program hilo.")
      .def_static(
          "load", [](const std::filesystem::path& folder) { return load_pair(folder); }, "folder"_a,
          "Reads what save wrote.")
      .def("__reduce__",
           [](nb::handle self) -> nb::object {
             if (nb::object built = reduce(self); !built.is_none()) return built;
             return nb::make_tuple(self.type(), nb::make_tuple(self.attr("high"), self.attr("low"),
                                                               self.attr("map")));
           })
      .def("__repr__", [](const FidelityPair& pair) {
        return "FidelityPair(" + std::to_string(pair.high().num_states()) + " states to " +
               std::to_string(pair.low().num_states()) + ", " + std::to_string(pair.num_actions()) +
               " actions)";
      });
}

nb::dict describe(const ParameterInfo& info) {
  nb::dict out;
  out["name"] = info.name;
  out["description"] = info.description;
  out["default"] = nb::cast(info.default_value);
  out["low"] = info.low;
  out["high"] = info.high;
  out["choices"] = info.choices;
  return out;
}

void bind_problems(nb::module_& m) {
  nb::class_<BuiltProblem>(m, "Problem",
                           "A problem that hilo comes with: a pair of simulators, built from its "
                           "kind, its parameters and a seed.")
      .def_ro("kind", &BuiltProblem::kind, "Its kind, as in a spec.")
      .def_ro("parameters", &BuiltProblem::parameters, "What was given of its parameters.")
      .def_ro("seed", &BuiltProblem::seed, "The seed it was built from.")
      .def_prop_ro(
          "pair",
          [](const BuiltProblem& built) {
            return with_origin(nb::cast(built.problem.pair), built, "pair");
          },
          nb::sig("def pair(self) -> FidelityPair"), "Both simulators and the map.")
      .def_prop_ro(
          "high",
          [](const BuiltProblem& built) {
            return with_origin(cast_high(built.high), built, "high");
          },
          nb::sig("def high(self) -> Simulator"), "The expensive simulator.")
      .def_prop_ro(
          "low",
          [](const BuiltProblem& built) {
            return with_origin(nb::cast(built.problem.pair.shared_low()), built, "low");
          },
          nb::sig("def low(self) -> Simulator"), "The cheap simulator.")
      .def_prop_ro(
          "facts",
          [](const BuiltProblem& built) {
            std::map<std::string, double> out;
            for (const Fact& fact : built.problem.facts) out[fact.name] = fact.value;
            return out;
          },
          "Numbers worth knowing about it.")
      .def("__reduce__",
           [](const BuiltProblem& built) {
             return nb::make_tuple(rebuild("part_of_problem"),
                                   nb::make_tuple(built.kind, built.parameters, built.seed, ""));
           })
      .def("__repr__", [](nb::handle self) {
        const auto& built = nb::cast<const BuiltProblem&>(self);
        return "Problem('" + built.kind + "', seed=" + std::to_string(built.seed) +
               ", parameters=" + nb::cast<std::string>(nb::repr(self.attr("parameters"))) + ")";
      });

  m.def(
      "build_problem",
      [](const std::string& kind, std::uint64_t seed, const nb::kwargs& parameters) {
        const Parameter given = parameters_of(parameters);
        const nb::gil_scoped_release release;
        return build_problem_from(kind, seed, given);
      },
      "kind"_a, "seed"_a = 0, "parameters"_a,
      "Builds a problem that hilo comes with: \"random-mdp\", \"docking\", \"nas-bench-201\" or "
      "\"table\". hilo.problem_kinds() lists their parameters.");
  m.def(
      "problem_kinds",
      [] {
        nb::dict out;
        for (const ProblemKind& kind : problem_kinds()) {
          nb::list parameters;
          for (const ParameterInfo& info : kind.parameters) parameters.append(describe(info));
          nb::dict entry;
          entry["description"] = kind.description;
          entry["parameters"] = parameters;
          out[kind.name.c_str()] = entry;
        }
        return out;
      },
      nb::sig("def problem_kinds() -> dict[str, dict[str, typing.Any]]"),
      "The kinds of problems, with what can be set.");

  nb::class_<Docking>(m, "Docking", "The docking problem's states in numbers, for pictures.")
      .def(
          "__init__",
          [](Docking* self, std::size_t cells, std::size_t speeds) {
            new (self) Docking({.cells = cells, .speeds = speeds}, Docking::shuffled_actions(0));
          },
          "cells"_a = 10, "speeds"_a = 3)
      .def(
          "motion",
          [](const Docking& docking, State s) -> std::optional<std::array<double, 4>> {
            require_within("state", std::uint64_t{s}, 0, docking.num_states() - 1, Errc::usage);
            if (docking.is_terminal(s)) return std::nullopt;
            const Docking::Motion motion = docking.motion(s);
            return std::array<double, 4>{docking.centre(motion.ix), docking.centre(motion.iy),
                                         docking.speed(motion.jx), docking.speed(motion.jy)};
          },
          "state"_a, "x, y, and the speeds along them; None in a terminal state.")
      .def("__repr__",
           [](const Docking& docking) {
             return "Docking(cells=" + std::to_string(docking.cells()) + ")";
           })
      .def_prop_ro("docked", &Docking::docked, "The state in which the vehicle has docked.")
      .def_prop_ro("lost", &Docking::lost, "The state in which it is lost.")
      .def_prop_ro_static(
          "side", [](nb::handle) { return Docking::kSide; }, "Length of the square, in metres.")
      .def_prop_ro_static(
          "dock",
          [](nb::handle) {
            return std::array<double, 3>{Docking::kDockX, Docking::kDockY, Docking::kDockRadius};
          },
          "x, y and radius of the dock.");
  m.def("nas_architecture", &nasbench201::to_string, "architecture"_a,
        "The architecture string of a number in NAS-Bench-201: the state of that problem divided "
        "by 7.");
}

}  // namespace

void bind_env(nb::module_& m) {
  bind_tables(m);
  bind_episodes(m);
  bind_simulators(m);
  bind_problems(m);
}

}  // namespace hilo::python
