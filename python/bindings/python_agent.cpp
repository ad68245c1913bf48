#include <limits>

#include "bindings.hpp"
#include "env_cast.hpp"
#include "hilo/agent/catalogue.hpp"
#include "hilo/core/archive.hpp"
#include "hilo/experiment/train.hpp"
#include "hilo/rollout/check_episode.hpp"
#include "live.hpp"
#include "python_simulator.hpp"

namespace hilo::python {
namespace {

// An agent written in Python. python/hilo/agents.py wraps the user's class in an object that has
//
//   learn(episode: Episode) -> int              number of low-fidelity steps taken
//   act() -> NDArray[numpy.int64]               the greedy action of every state
//   can_be_saved: bool
//   save() -> bytes;  load(state: bytes) -> None
//
// Its table of values is 1 for the greedy actions and 0 elsewhere, because the engine does not know
// the values that the user's agent estimates.
class PythonAgent final : public TabularAgent {
 public:
  // With the GIL held.
  PythonAgent(nb::object object, std::size_t num_states, std::size_t num_actions, double epsilon)
      : object_(live::keep(std::move(object))), q_(num_states, num_actions), epsilon_(epsilon) {
    can_be_saved_ = nb::cast<bool>(it().attr("can_be_saved"));
    ask_how_it_acts();
  }
  Behaviour behaviour() const override { return q_.behaviour(epsilon_); }
  const QTable& q() const override { return q_; }
  std::uint64_t episodes() const override { return episodes_; }
  double standard_error(State /*s*/, Action /*a*/) const override {
    return std::numeric_limits<double>::infinity();
  }
  bool can_be_saved() const override { return can_be_saved_; }

  LearnReport learn(const Episode& episode) override {
    if (live::must_stop()) throw Interrupted();
    check_episode(episode, q_.num_states(), q_.num_actions());
    const nb::gil_scoped_acquire gil;
    LearnReport report;
    ask([&] { report.low_steps = nb::cast<std::uint64_t>(it().attr("learn")(Episode(episode))); });
    ask_how_it_acts();
    ++episodes_;
    return report;
  }

  std::vector<std::byte> save() const override {
    require_saving();
    const nb::gil_scoped_acquire gil;
    const auto state = ask([&] { return nb::cast<nb::bytes>(it().attr("save")()); });
    ArchiveWriter out("python-agent", 1);
    out.value(episodes_);
    out.array<std::byte>({reinterpret_cast<const std::byte*>(state.data()), state.size()});
    return out.finish();
  }

  void load(std::span<const std::byte> bytes) override {
    require_saving();
    ArchiveReader in(bytes, "python-agent", 1);
    const auto episodes = in.value<std::uint64_t>();
    const auto state = in.list<std::byte>("state", kAnyLength);
    in.finish();
    const nb::gil_scoped_acquire gil;
    ask([&] {
      it().attr("load")(nb::bytes(reinterpret_cast<const char*>(state.data()), state.size()));
    });
    ask_how_it_acts();
    episodes_ = episodes;
  }

 private:
  // With the GIL held.
  void ask_how_it_acts() {
    const auto actions = ask([&] { return nb::cast<Indices>(it().attr("act")()); });
    if (actions.size() != q_.num_states())
      throw Error(Errc::simulator, "act gave " + std::to_string(actions.size()) + " actions for " +
                                       std::to_string(q_.num_states()) + " states");
    for (const Action a : actions.all)
      require_within("an action of act", std::uint64_t{a}, 0, q_.num_actions() - 1,
                     Errc::simulator);
    std::vector<double> values(q_.values().size(), 0);
    for (std::size_t s = 0; s < actions.size(); ++s)
      values[s * q_.num_actions() + actions.all[s]] = 1;
    q_.assign(values);
  }

  // The user's agent. Throws if Python is about to end.
  const nb::object& it() const {
    if (object_->is_none()) throw Interrupted();
    return *object_;
  }

  void require_saving() const {
    if (!can_be_saved_)
      throw Error(Errc::usage, "this agent has no methods save and load of its own");
  }

  std::shared_ptr<nb::object> object_;
  QTable q_;
  double epsilon_;
  bool can_be_saved_ = false;
  std::uint64_t episodes_ = 0;
};

std::unique_ptr<TabularAgent> build_in_python(const nb::object& factory,
                                              const Fidelities& fidelities, const Parameters& p,
                                              const AgentSetting& setting) {
  const nb::gil_scoped_acquire gil;
  if (factory.is_none()) throw Interrupted();  // Python is about to end
  nb::dict parameters;
  for (const auto& [key, value] : p.all()) parameters[key.c_str()] = value;
  nb::dict common;
  common["gamma"] = setting.gamma;
  common["epsilon"] = setting.epsilon;
  common["max_steps"] = setting.max_steps;
  common["truncation"] = setting.truncation == Truncation::drop ? "drop" : "terminal";
  common["seed"] = setting.seed;
  nb::object made = ask([&] { return factory(Fidelities(fidelities), common, parameters); });
  return std::make_unique<PythonAgent>(std::move(made), fidelities.high().num_states(),
                                       fidelities.num_actions(), setting.epsilon);
}

using PythonParameter =
    std::tuple<std::string, std::string, Value, double, double, std::vector<std::string>>;

void add_kind(const std::string& name, const std::string& display, const std::string& description,
              const std::vector<PythonParameter>& parameters, std::size_t low_fidelities,
              bool gamma_below_1, bool model, std::uint32_t algorithm_version,
              std::uint32_t code_version, nb::object factory) {
  AgentKind kind{.name = name,
                 .display = display,
                 .description = description,
                 .needs = {.low = low_fidelities == 0   ? LowFidelities::none
                                  : low_fidelities == 1 ? LowFidelities::one
                                                        : LowFidelities::several,
                           .model = model,
                           .gamma_below_1 = gamma_below_1},
                 .algorithm_version = algorithm_version,
                 .build = {}};
  for (const auto& [key, about, value, low, high, choices] : parameters)
    kind.parameters.push_back({.name = key,
                               .description = about,
                               .default_value = value,
                               .low = low,
                               .high = high,
                               .choices = choices});
  // The catalogue outlives Python, so it must release its Python objects before Python ends.
  const std::shared_ptr<nb::object> kept = live::keep(std::move(factory));
  kind.build = [kept](const Fidelities& fidelities, const Parameters& p,
                      const AgentSetting& setting) {
    return build_in_python(*kept, fidelities, p, setting);
  };
  // Different code is a different agent, even with the same algorithm version.
  kind.part_versions = [code_version](const Parameters&) {
    return std::map<std::string, std::uint32_t>{{"code", code_version}};
  };
  add_agent_kind(std::move(kind), /*may_replace=*/true);
}

}  // namespace

void bind_python_agent(nb::module_& m) {
  m.def("add_python_agent", &add_kind, "name"_a, "display"_a, "description"_a, "parameters"_a,
        "low_fidelities"_a, "gamma_below_1"_a, "model"_a, "algorithm_version"_a, "code_version"_a,
        "factory"_a, "Adds a kind of agent. Use hilo.add_agent_kind.");
}

}  // namespace hilo::python
