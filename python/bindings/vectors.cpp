#include <cmath>

#include "bindings.hpp"
#include "hilo/env/source_steps.hpp"
#include "hilo/env/source_vectors.hpp"
#include "hilo/experiment/train.hpp"
#include "hilo/policy/network_file.hpp"
#include "live.hpp"
#include "own_problem.hpp"
#include "python_simulator.hpp"

// Simulators and policies whose observations and actions are vectors.
namespace hilo::python {
namespace {

using Bounds = std::vector<std::pair<double, double>>;
using Extent = std::variant<std::uint64_t, Bounds>;

Space space_of(const Extent& extent) {
  if (const auto* count = std::get_if<std::uint64_t>(&extent)) return Space::discrete(*count);
  std::vector<double> low, high;
  for (const auto& [a, b] : std::get<Bounds>(extent)) {
    low.push_back(a);
    high.push_back(b);
  }
  return Space::box(std::move(low), std::move(high));
}

// A Python object as a step source of vectors. It has
//
//   reset(seed: int) -> list[float]                                    the first observation
//   step(action: list[float] | int) -> tuple[list[float], float, bool, bool]
//
// and, if it can be started anywhere,
//
//   put(observation: list[float], seed: int) -> None
class PythonVectorSource final : public StepSource {
 public:
  PythonVectorSource(nb::object object, Space observations, Space actions, std::string role)
      : StepSource(std::move(observations), std::move(actions)),
        object_(live::keep(std::move(object))),
        role_(std::move(role)) {}

  void reset(std::uint32_t seed, Points& out) override {
    ask([&] { push(object_->attr("reset")(seed), "the start state", out); });
  }

  bool put(const Point& observation, std::uint32_t seed) override {
    ask([&] { object_->attr("put")(list_of(observation), seed); });
    return false;
  }

  SourceStep step(const Point& action, Points& out) override {
    if (live::must_stop()) throw Interrupted();
    return ask([&] {
      const nb::object answer = action_space().is_discrete()
                                    ? object_->attr("step")(action.index())
                                    : object_->attr("step")(list_of(action));
      if (!nb::isinstance<nb::tuple>(answer) || nb::len(answer) != 4)
        throw Error(Errc::simulator, role_ + ": a step must be (next, reward, ended, cut)");
      SourceStep step;
      if (!nb::try_cast(nb::object(answer[1]), step.reward) || !std::isfinite(step.reward))
        throw Error(Errc::simulator, role_ + ": the reward is " +
                                         nb::cast<std::string>(nb::repr(answer[1])) +
                                         ", but must be a finite number");
      if (!nb::try_cast(nb::object(answer[2]), step.ended) ||
          !nb::try_cast(nb::object(answer[3]), step.cut))
        throw Error(Errc::simulator,
                    role_ + ": whether the episode ended or was cut must be bools");
      push(answer[0], "the next state", out);
      return step;
    });
  }

  void enter() override { gil_.emplace(); }
  void leave() noexcept override { gil_.reset(); }

 private:
  static std::vector<double> list_of(const Point& point) {
    return {point.coordinates().begin(), point.coordinates().end()};
  }

  void push(nb::handle value, const char* what, Points& out) const {
    std::vector<double> numbers;
    if (!nb::try_cast(value, numbers))
      throw Error(Errc::simulator, role_ + ", " + what + " is " +
                                       nb::cast<std::string>(nb::repr(value)) +
                                       ", but must be a list of numbers");
    out.push_back(std::span<const double>(numbers));
  }

  std::shared_ptr<nb::object> object_;
  std::string role_;
  std::optional<nb::gil_scoped_acquire> gil_;
};

OwnProblem make_vector_problem(const std::string& name, nb::object high, nb::object low,
                               const Extent& observations, const Extent& actions,
                               const std::vector<std::size_t>& angles, const std::string& high_text,
                               const std::string& low_text) {
  if (is_problem_kind(name))
    throw Error(Errc::usage, "a problem of your own cannot be called '" + name +
                                 "', which is the name of a problem of hilo");
  const auto source = [&](nb::object object, const char* role) {
    return std::make_shared<PythonVectorSource>(std::move(object), space_of(observations),
                                                space_of(actions), role);
  };
  const bool has_low = !low.is_none();
  auto expensive = std::make_shared<const SourceVectors>(
      std::vector<std::shared_ptr<StepSource>>{source(std::move(high), "the expensive simulator")},
      "the expensive simulator", angles);
  std::shared_ptr<const VectorSteps> cheap;
  if (has_low)
    cheap = std::make_shared<const SourceSteps>(source(std::move(low), "the cheap simulator"),
                                                angles, "the cheap simulator");
  const VectorFidelities pair(std::move(expensive), std::move(cheap));
  auto kind = std::make_shared<ProblemKind>();
  kind->name = name;
  kind->description = "made in Python";
  kind->parameters = {{.name = "high",
                       .description = "identifies the expensive simulator",
                       .default_value = high_text,
                       .choices = {}},
                      {.name = "low",
                       .description = "identifies the cheap simulator",
                       .default_value = low_text,
                       .choices = {},
                       .low_fidelity_only = true}};
  kind->same_for_all_seeds = true;
  kind->low_fidelities = has_low ? 1 : 0;
  kind->low_is_slow = true;
  kind->build_vectors = [pair](const Parameters&, std::uint64_t) {
    return VectorProblem{.pair = pair};
  };
  return {std::move(kind)};
}

// A network that acts, from its JSON text.
struct Network {
  std::shared_ptr<const NetworkPolicy> policy;

  std::vector<double> act(const std::vector<double>& observation) const {
    Points seen(policy->observation_space()), chosen(policy->action_space());
    seen.push_back(std::span<const double>(observation));
    const ActionWords words;
    policy->act(seen, {&words, 1}, chosen);
    if (policy->action_space().is_discrete()) return {static_cast<double>(chosen[0].index())};
    return {chosen[0].coordinates().begin(), chosen[0].coordinates().end()};
  }
};

}  // namespace

void bind_vectors(nb::module_& m) {
  m.def("make_vector_problem", &make_vector_problem, "name"_a, "high"_a, "low"_a.none(),
        "observations"_a, "actions"_a, "angles"_a, "high_text"_a, "low_text"_a,
        "Simulators of vectors that exist only in this process, as a problem of a spec.");
  nb::class_<Network>(m, "Network", "A policy that is a network (docs/control.md).")
      .def(
          "__init__",
          [](Network* self, const std::string& json) {
            new (self) Network{parse_network(json, "the policy")};
          },
          "json"_a)
      .def_prop_ro(
          "discrete", [](const Network& self) { return self.policy->action_space().is_discrete(); },
          "Whether actions are numbers.")
      .def("act", &Network::act, "observation"_a, "The action, as a list of numbers.");
}

}  // namespace hilo::python
