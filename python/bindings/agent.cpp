#include <algorithm>

#include "bindings.hpp"
#include "hilo/agent/catalogue.hpp"
#include "hilo/experiment/train.hpp"
#include "polling.hpp"
#include "turn.hpp"

namespace hilo::python {
namespace {

// An agent with its arguments, so that it can be made again elsewhere.
struct BoundAgent {
  std::string kind;
  Parameter given;
  AgentSetting setting;
  Fidelities pair;
  std::shared_ptr<TabularAgent> agent;
  bool broken = false;  // a simulator failed in learn: the agent may have learnt half an episode
  std::shared_ptr<std::atomic<bool>> busy = std::make_shared<std::atomic<bool>>(false);
};

std::shared_ptr<TabularAgent> build(const std::string& name, const Parameter& given,
                                    const AgentSetting& setting, const Fidelities& pair) {
  return build_agent(agent_kind(name), pair, given, setting);
}

BoundAgent make_agent(const std::string& kind, const Fidelities& pair, std::uint64_t seed,
                      double gamma, double epsilon, std::uint32_t max_steps,
                      const std::string& truncation, const Parameter& given) {
  const AgentSetting setting{.gamma = gamma,
                             .epsilon = epsilon,
                             .max_steps = max_steps,
                             .truncation = truncation_from_name(truncation),
                             .seed = seed};
  return {kind, given, setting, pair, build(kind, given, setting, pair)};
}

// A view of the agent's values that keeps it alive.
Matrix<double> values_of(const BoundAgent& self) {
  auto* kept = new std::shared_ptr<const Agent>(self.agent);
  const nb::capsule owner(
      kept, [](void* p) noexcept { delete static_cast<std::shared_ptr<const Agent>*>(p); });
  const QTable& q = self.agent->q();
  return view<double>(q.values(), q.num_states(), owner);
}

nb::dict describe(const LearnReport& report) {
  nb::dict out;
  out["variance_ratio"] = report.variance_ratio;
  out["low_steps"] = report.low_steps;
  out["truncated_rollouts"] = report.truncated_rollouts;
  out["dropped"] = report.dropped;
  return out;
}

template <class Do>
LearnReport guarded(BoundAgent& self, const Do& act) {
  const Turn turn(*self.busy, "agent");
  if (self.broken)
    throw Error(Errc::usage,
                "a simulator failed while this agent learnt; load a saved state before it is used "
                "again");
  try {
    self.broken = true;
    const LearnReport report = act();
    self.broken = false;
    return report;
  } catch (const Error& e) {
    // All other errors are thrown before the agent changes.
    self.broken = e.code() == Errc::simulator;
    throw;
  }
}

// A new agent takes the state, so that views of the old agent's values do not change.
void load(BoundAgent& self, const nb::bytes& bytes) {
  const Turn turn(*self.busy, "agent");
  auto fresh = build(self.kind, self.given, self.setting, self.pair);
  fresh->load({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
  self.agent = std::move(fresh);
  self.broken = false;
}

std::vector<std::tuple<std::uint64_t, std::string, double>> train_agent(BoundAgent& self,
                                                                        std::uint64_t episodes,
                                                                        std::uint64_t test_every,
                                                                        std::uint32_t test_episodes,
                                                                        std::uint64_t exact_every) {
  require_within("episodes", episodes, 1, 4'000'000'000, Errc::usage);
  require_within("test_every", test_every, 1, 4'000'000'000, Errc::usage);
  std::vector<Measurement> measurements;
  guarded(self, [&] {
    run_polling(
        [&](const std::function<bool()>& keep_going) {
          measurements =
              train(*self.agent, self.pair.high(),
                    {.episodes = episodes,
                     .gamma = self.setting.gamma,
                     .max_steps = self.setting.max_steps,
                     .seed = self.setting.seed},
                    {.every = test_every, .episodes = test_episodes, .exact_every = exact_every},
                    keep_going, self.setting.truncation);
        },
        [] {});
    return LearnReport();
  });
  std::vector<std::tuple<std::uint64_t, std::string, double>> out;
  for (const Measurement& m : measurements) out.emplace_back(m.episode, m.metric, m.value);
  return out;
}

nb::dict describe(const AgentKind& kind) {
  std::vector<std::string> variants;
  for (const Shorthand& variant : kind.variants) variants.push_back(variant.name);
  nb::dict out;
  out["display"] = kind.display;
  out["description"] = kind.description;
  out["parameters"] = list_parameters(kind.parameters);
  out["variants"] = variants;
  nb::dict for_slow_low_fidelity;
  for (const auto& [key, value] : kind.for_slow_low_fidelity)
    for_slow_low_fidelity[key.c_str()] = nb::cast(value);
  out["for_slow_low_fidelity"] = for_slow_low_fidelity;
  out["uses_low_fidelity"] = kind.uses_low_fidelity();
  out["plans"] = kind.needs.gamma_below_1;
  return out;
}

}  // namespace

void bind_agent(nb::module_& m) {
  nb::class_<BoundAgent>(m, "Agent",
                         "A learner: a table of values that gives its actions, and methods that "
                         "update it. It owns no loop and no simulator of the high fidelity.")
      .def(
          "__init__",
          [](BoundAgent* self, const std::string& kind, const Fidelities& pair, std::uint64_t seed,
             double gamma, double epsilon, std::uint32_t max_steps, const std::string& truncation,
             const nb::kwargs& parameters) {
            new (self) BoundAgent(make_agent(kind, pair, seed, gamma, epsilon, max_steps,
                                             truncation, parameters_of(parameters)));
          },
          "kind"_a, "pair"_a, "seed"_a = 0, "gamma"_a = 0.99, "epsilon"_a = 0.1,
          "max_steps"_a = 10'000, "truncation"_a = "drop", "parameters"_a,
          "hilo.agent_kinds() lists the kinds and their parameters.")
      .def_ro("kind", &BoundAgent::kind, "Its kind, as in a spec.")
      .def_ro("parameters", &BoundAgent::given, "The parameters that were given.")
      .def_prop_ro(
          "episodes", [](const BoundAgent& self) { return self.agent->episodes(); },
          "Number of episodes learnt from so far.")
      .def_prop_ro(
          "q", [](const BoundAgent& self) { return QTable(self.agent->q()); },
          "A copy of its values as a QTable, which also gives greedy actions.")
      .def_prop_ro("values", &values_of,
                   "Its values, of shape (num_states, num_actions): a view that changes as it "
                   "learns.",
                   nb::rv_policy::reference)
      .def(
          "standard_error",
          [](const BoundAgent& self, std::uint64_t s, std::uint64_t a) {
            require_within("state", s, 0, self.agent->q().num_states() - 1, Errc::usage);
            require_within("action", a, 0, self.agent->q().num_actions() - 1, Errc::usage);
            return self.agent->standard_error(static_cast<State>(s), static_cast<Action>(a));
          },
          "state"_a, "action"_a,
          "The standard error of a value, as the agent estimates it; infinite if unknown.")
      .def(
          "run_episode",
          [](const BoundAgent& self) {
            Episode out;
            self.pair.high().run_episode(
                self.agent->behaviour(),
                {.seed = self.setting.seed,
                 .purpose = Purpose::high_episode,
                 .episode = static_cast<std::uint32_t>(self.agent->episodes())},
                {.gamma = self.setting.gamma, .max_steps = self.setting.max_steps}, out);
            return out;
          },
          nb::call_guard<nb::gil_scoped_release>(),
          "Runs its next episode in the high fidelity with its own policy; learns nothing yet.")
      .def(
          "prepare",
          [](BoundAgent& self) {
            LearnReport report;
            {
              const nb::gil_scoped_release release;
              report = guarded(self, [&] { return self.agent->prepare(); });
            }
            return describe(report);
          },
          nb::sig("def prepare(self) -> dict[str, typing.Any]"),
          "Work before the first episode, which uses only the low fidelity.")
      .def(
          "learn",
          [](BoundAgent& self, Episode episode) {
            LearnReport report;
            {
              const nb::gil_scoped_release release;
              if (self.setting.truncation == Truncation::terminal) episode.truncated = false;
              report = guarded(self, [&] { return self.agent->learn(episode); });
            }
            return describe(report);
          },
          "episode"_a, nb::sig("def learn(self, episode: Episode) -> dict[str, typing.Any]"),
          "Updates the values by one episode of the high fidelity. `dropped` in the result means "
          "that the episode was truncated and nothing was learnt from it.")
      .def("train", &train_agent, "episodes"_a, "test_every"_a = 50, "test_episodes"_a = 200,
           "exact_every"_a = 0,
           "Runs episodes and learns until it has learnt from `episodes` episodes, with tests in "
           "between. Returns (episode, metric, value) of all measurements.")
      .def(
          "save", [](const BoundAgent& self) { return bytes_of(self.agent->save()); },
          "Its whole state. An agent of the same kind and options continues from it with the same "
          "bits.")
      .def("load", &load, "state"_a,
           "Continues from a saved state. Raises and changes nothing if it is not one.")
      .def("__getstate__",
           [](const BoundAgent& self) {
             return std::tuple(self.kind, self.given, self.pair, self.setting.seed,
                               self.setting.gamma, self.setting.epsilon, self.setting.max_steps,
                               self.setting.truncation == Truncation::drop ? "drop" : "terminal",
                               bytes_of(self.agent->save()));
           })
      .def("__setstate__",
           [](BoundAgent& self,
              const std::tuple<std::string, Parameter, Fidelities, std::uint64_t, double, double,
                               std::uint32_t, std::string, nb::bytes>& state) {
             const auto& [kind, given, pair, seed, gamma, epsilon, max_steps, truncation, bytes] =
                 state;
             BoundAgent made =
                 make_agent(kind, pair, seed, gamma, epsilon, max_steps, truncation, given);
             load(made, bytes);
             new (&self) BoundAgent(std::move(made));
           })
      .def("__repr__", [](const BoundAgent& self) {
        return "Agent('" + self.kind + "', episodes=" + std::to_string(self.agent->episodes()) +
               ", seed=" + std::to_string(self.setting.seed) + ")";
      });

  m.def(
      "agent_kinds",
      [] {
        nb::dict out;
        for (const AgentKind& kind : agent_kinds()) out[kind.name.c_str()] = describe(kind);
        return out;
      },
      nb::sig("def agent_kinds() -> dict[str, dict[str, typing.Any]]"),
      "The kinds of agents, with their parameters.");
}

}  // namespace hilo::python
