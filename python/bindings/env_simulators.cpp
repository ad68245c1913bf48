#include "bindings.hpp"
#include "env_cast.hpp"
#include "env_episodes.hpp"
#include "hilo/env/source_simulator.hpp"
#include "hilo/env/table_csv.hpp"
#include "hilo/policy/q_table.hpp"

namespace hilo::python {
namespace {

// The arguments of roll-outs from Python.
struct Asked {
  const QTable* policy;  // null: uniform
  double epsilon;
  std::uint64_t seed;
  std::uint32_t episode;
  double gamma;
  std::uint32_t max_steps;
};

// Calls `run` with the given policy or a uniform one, and with the streams and horizon of `asked`.
template <class Run>
auto with_policy(const EpisodeSimulator& simulator, const Asked& asked, Run&& run) {
  require_within("epsilon", asked.epsilon, 0, 1, Errc::usage);
  require_within("gamma", asked.gamma, 0, 1, Errc::usage);
  std::optional<QTable> uniform;
  if (asked.policy == nullptr) uniform.emplace(simulator.num_states(), simulator.num_actions());
  const QTable& q = asked.policy != nullptr ? *asked.policy : *uniform;
  return run(q.behaviour(asked.policy != nullptr ? asked.epsilon : 1),
             StreamAddress{.seed = asked.seed, .purpose = Purpose::user, .episode = asked.episode},
             Horizon{.gamma = asked.gamma, .max_steps = asked.max_steps});
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

}  // namespace

void bind_simulators(nb::module_& m) {
  nb::class_<EpisodeSimulator>(
      m, "EpisodeSimulator", nb::dynamic_attr(),
      "A simulator that gives full episodes from its start. The high fidelity needs no more than "
      "this.")
      .def_prop_ro("num_states", &EpisodeSimulator::num_states, "Number of states.")
      .def_prop_ro("num_actions", &EpisodeSimulator::num_actions, "Number of actions.")
      .def_prop_ro("model", &EpisodeSimulator::model, nb::rv_policy::reference_internal,
                   "Its transition model, or None if it is not known.")
      .def(
          "run_episode",
          [](const EpisodeSimulator& simulator, const QTable* policy, double epsilon,
             std::uint64_t seed, std::uint32_t episode, double gamma, std::uint32_t max_steps) {
            Episode out;
            with_policy(simulator, {policy, epsilon, seed, episode, gamma, max_steps},
                        [&](const auto&... how) { simulator.run_episode(how..., out); });
            return out;
          },
          "policy"_a.none() = nb::none(), "epsilon"_a = 0.0, "seed"_a = 0, "episode"_a = 0,
          "gamma"_a = 1.0, "max_steps"_a = 10'000, nb::call_guard<nb::gil_scoped_release>(),
          "Runs one episode with the epsilon-greedy policy of a QTable or with uniform actions. It "
          "is a function of the seed and the number of the episode.")
      .def(
          "run_episodes",
          [](const EpisodeSimulator& simulator, std::size_t count, const QTable* policy,
             double epsilon, std::uint64_t seed, std::uint32_t episode, double gamma,
             std::uint32_t max_steps) {
            require_within("count", count, 0, kMaxTableSize, Errc::usage);
            Summaries out{std::vector<RolloutSummary>(count)};
            with_policy(simulator, {policy, epsilon, seed, episode, gamma, max_steps},
                        [&](const auto&... how) { simulator.run_episodes(how..., out.all); });
            return out;
          },
          "count"_a, "policy"_a.none() = nb::none(), "epsilon"_a = 0.0, "seed"_a = 0,
          "episode"_a = 0, "gamma"_a = 1.0, "max_steps"_a = 10'000,
          nb::call_guard<nb::gil_scoped_release>(),
          "Runs many episodes at once, without their paths.")
      .def("__repr__", [](nb::handle self) {
        const auto& simulator = nb::cast<const EpisodeSimulator&>(self);
        return nb::cast<std::string>(self.type().attr("__name__")) +
               "(num_states=" + std::to_string(simulator.num_states()) +
               ", num_actions=" + std::to_string(simulator.num_actions()) + ")";
      });

  nb::class_<Simulator, EpisodeSimulator>(
      m, "Simulator",
      "A simulator that can be started at any state-action pair. The low fidelity must be one.")
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
          "The reward that it gives for a step, which another simulator may have taken.")
      .def(
          "roll_out",
          [](const Simulator& simulator, const Indices& states, const Indices& actions,
             std::uint32_t rollouts, const QTable* policy, double epsilon, std::uint64_t seed,
             std::uint32_t episode, double gamma, std::uint32_t max_steps) {
            if (states.size() != actions.size())
              throw Error(Errc::usage, "roll_out needs as many states as actions");
            require_within("rollouts", std::uint64_t{rollouts}, 1, 100'000'000, Errc::usage);
            std::vector<StateAction> starts;
            for (std::size_t i = 0; i < states.size(); ++i)
              starts.push_back({states.data()[i], actions.data()[i]});
            Summaries out{std::vector<RolloutSummary>(starts.size() * rollouts)};
            with_policy(
                simulator, {policy, epsilon, seed, episode, gamma, max_steps},
                [&](const auto&... how) { simulator.roll_out(how..., starts, rollouts, out.all); });
            return out;
          },
          "states"_a, "actions"_a, "rollouts"_a = 1, "policy"_a.none() = nb::none(),
          "epsilon"_a = 0.0, "seed"_a = 0, "episode"_a = 0, "gamma"_a = 1.0, "max_steps"_a = 10'000,
          nb::call_guard<nb::gil_scoped_release>(),
          "Runs `rollouts` roll-outs from each pair. Index i * rollouts + j is roll-out j of pair "
          "i.")
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
      "A simulator that samples from a table: by \"alias\", which is fast, or by \"inverse-cdf\", "
      "for coupling by common random numbers.");

  nb::class_<EpisodesOnly, EpisodeSimulator>(
      m, "EpisodesOnly", "A simulator that shows only its full episodes and its model.")
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
          [](StateMap* self, const Indices& low_of, std::size_t num_low_states) {
            new (self) StateMap({low_of.data(), low_of.data() + low_of.size()}, num_low_states);
          },
          "low_of"_a, "num_low_states"_a)
      .def_static("identity", &StateMap::identity, "num_states"_a)
      .def_prop_ro("num_high_states", &StateMap::num_high_states, "Number of high-fidelity states.")
      .def_prop_ro("num_low_states", &StateMap::num_low_states, "Number of low-fidelity states.")
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
          "low"_a, "All s with T(s) = low, in ascending order.")
      .def("__reduce__",
           [](nb::handle self) {
             return nb::make_tuple(
                 self.type(), nb::make_tuple(self.attr("low_of"), self.attr("num_low_states")));
           })
      .def("__repr__", [](const StateMap& map) {
        return "StateMap(" + std::to_string(map.num_high_states()) + " states to " +
               std::to_string(map.num_low_states()) + ")";
      });

  nb::class_<Fidelities>(m, "Fidelities", nb::dynamic_attr(),
                         "An expensive simulator, its cheap ones, and the maps between them.")
      .def(
          "__init__",
          [](Fidelities* self, const std::shared_ptr<EpisodeSimulator>& high,
             const std::shared_ptr<Simulator>& low, const std::optional<StateMap>& map) {
            if (map)
              new (self) Fidelities(high, low, *map);
            else
              new (self) Fidelities(high, low);
          },
          "high"_a, "low"_a, "map"_a = nb::none())
      .def_prop_ro(
          "high", [](const Fidelities& pair) { return cast_high(pair.shared_high()); },
          nb::sig("def high(self) -> EpisodeSimulator"), "The expensive simulator.")
      .def_prop_ro(
          "low", [](const Fidelities& pair) { return pair.shared_low(); },
          "The first cheap simulator.")
      .def_prop_ro(
          "map", [](const Fidelities& pair) -> const StateMap& { return pair.map(); },
          nb::rv_policy::reference_internal, "The map T of the first cheap simulator.")
      .def_prop_ro(
          "lows",
          [](const Fidelities& pair) {
            std::vector<std::shared_ptr<const Simulator>> out;
            for (const LowFidelity& low : pair.lows()) out.push_back(low.simulator);
            return out;
          },
          "All cheap simulators, the best first.")
      .def_prop_ro("num_actions", &Fidelities::num_actions,
                   "Number of actions, the same in all simulators.")
      .def(
          "save",
          [](const Fidelities& pair, const std::filesystem::path& folder) {
            const auto* high = dynamic_cast<const TabularMdp*>(pair.high().model());
            const auto* low = dynamic_cast<const TabularMdp*>(pair.low().model());
            if (high == nullptr || low == nullptr)
              throw Error(Errc::usage, "only pairs of tables can be saved as tables");
            save_pair(*high, *low, pair.map(), folder);
          },
          "folder"_a, "Writes both simulators as CSV files (docs/tables.md), for the program hilo.")
      .def_static(
          "load", [](const std::filesystem::path& folder) { return load_pair(folder); }, "folder"_a,
          "Reads what save wrote.")
      .def("__reduce__",
           [](nb::handle self) -> nb::object {
             if (nb::object built = reduce(self); !built.is_none()) return built;
             return nb::make_tuple(self.type(), nb::make_tuple(self.attr("high"), self.attr("low"),
                                                               self.attr("map")));
           })
      .def("__repr__", [](const Fidelities& pair) {
        return "Fidelities(" + std::to_string(pair.high().num_states()) + " states to " +
               std::to_string(pair.low().num_states()) + ", " + std::to_string(pair.num_actions()) +
               " actions)";
      });
}

}  // namespace hilo::python
