#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

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
      const std::size_t size = nb::isinstance<nb::tuple>(answer) ? nb::len(answer) : 0;
      if (size != 4 && size != 5)
        throw Error(Errc::simulator, role_ + ": a step must be (next, reward, ended, cut[, cost])");
      SourceStep step;
      if (!nb::try_cast(nb::object(answer[1]), step.reward) || !std::isfinite(step.reward))
        throw Error(Errc::simulator, role_ + ": the reward is " +
                                         nb::cast<std::string>(nb::repr(answer[1])) +
                                         ", but must be a finite number");
      if (!nb::try_cast(nb::object(answer[2]), step.ended) ||
          !nb::try_cast(nb::object(answer[3]), step.cut))
        throw Error(Errc::simulator,
                    role_ + ": whether the episode ended or was cut must be bools");
      if (size == 5 && !answer[4].is_none()) {
        double cost = 0;
        if (!nb::try_cast(nb::object(answer[4]), cost) || !(cost >= 0) || !std::isfinite(cost))
          throw Error(Errc::simulator, role_ + ": the cost is " +
                                           nb::cast<std::string>(nb::repr(answer[4])) +
                                           ", but must be a finite number from 0");
        step.cost = cost;
      }
      push(answer[0], "the next state", out);
      return step;
    });
  }

  std::vector<std::string> tunable() override {
    if (!has_numbers()) return {};
    return ask([&] { return nb::cast<std::vector<std::string>>(object_->attr("tunable")); });
  }
  void tune(std::span<const std::string> names, std::span<const double> values) override {
    const std::vector<double> wanted(values.begin(), values.end());
    if (wanted == tuned_ || !has_numbers()) return;
    ask([&] {
      object_->attr("tune")(std::vector<std::string>(names.begin(), names.end()), wanted);
    });
    tuned_ = wanted;
  }

  void enter() override { gil_.emplace(); }
  void leave() noexcept override { gil_.reset(); }

 private:
  bool has_numbers() const { return nb::hasattr(*object_, "tune"); }

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
  std::vector<double> tuned_;  // the values now; empty: those that it was made with
  std::optional<nb::gil_scoped_acquire> gil_;
};

// A Python object that advances many states at once. It has
//
//   reset(seed: int) -> list[float]
//   step_many(states, actions, noise, names, values) -> (next, rewards, done)
//
// Numbers that are tuned come by name and value. Arrays have a row for each coordinate; noise is
// standard normal. Values are not checked, because searches may drive a simulation anywhere:
// returns that are not finite count as bad ones there.
class PythonSteps final : public VectorSteps {
 public:
  PythonSteps(std::shared_ptr<nb::object> object, Space states, Space controls,
              std::vector<std::size_t> angles, std::size_t noise)
      : object_(std::move(object)),
        states_(std::move(states)),
        controls_(std::move(controls)),
        angles_(std::move(angles)),
        noise_(noise) {
    check_angles(states_, angles_);
  }

  const Space& state_space() const override { return states_; }
  const Space& control_space() const override { return controls_; }
  std::span<const std::size_t> angles() const override { return angles_; }
  bool prefers_many_paths() const override { return true; }

  std::vector<std::string> tunable() const override {
    const nb::gil_scoped_acquire gil;
    return ask([&] { return nb::cast<std::vector<std::string>>(object_->attr("tunable")); });
  }
  std::shared_ptr<const VectorSteps> tuned(std::span<const std::string> names,
                                           std::span<const double> values) const override {
    auto out = std::make_shared<PythonSteps>(object_, states_, controls_, angles_, noise_);
    out->names_.assign(names.begin(), names.end());
    out->values_.assign(values.begin(), values.end());
    return out;
  }

  void start(const StreamAddress& streams, Columns& states) const override {
    const nb::gil_scoped_acquire gil;
    for (std::uint32_t i = 0; i < states.count(); ++i) {
      std::vector<double> start;
      ask([&] {
        const nb::object given =
            object_->attr("reset")(seed_of(streams.stream(0, i), streams.first_step));
        if (!nb::try_cast(given, start) || start.size() != states.rows())
          throw Error(Errc::simulator, "the cheap simulator, the start state is " +
                                           nb::cast<std::string>(nb::repr(given)) +
                                           ", but must be a list of numbers");
      });
      require_in_space(states_, std::span<const double>(start),
                       "the cheap simulator, the start state");
      states.set(i, start);
    }
  }

  void step(Columns& states, const Columns& actions, std::span<const Stream> streams,
            std::uint32_t step, StepResults& out) const override {
    if (live::must_stop()) throw Interrupted();
    const std::size_t count = states.count();
    Columns noise(noise_, count);
    for (std::size_t i = 0; noise_ > 0 && i < count; ++i) {
      if (i > 0 && streams.size() == 1) {  // the same for all
        for (std::size_t k = 0; k < noise_; ++k) noise.at(k, i) = noise.at(k, 0);
        continue;
      }
      Rng rng = Rng::of_step(streams[i], step);
      (void)draw_action_words(rng);
      for (std::size_t k = 0; k < noise_; ++k) noise.at(k, i) = rng.normal();
    }
    const nb::gil_scoped_acquire gil;
    ask([&] {
      const nb::object answer = object_->attr("step_many")(array_of(states), array_of(actions),
                                                           array_of(noise), names_, values_);
      const auto next = nb::cast<Values>(answer[0]);
      const auto rewards = nb::cast<Values>(answer[1]), done = nb::cast<Values>(answer[2]);
      if (next.size() != states.rows() * count || rewards.size() != count || done.size() != count)
        throw Error(Errc::simulator, "the cheap simulator returned arrays of other shapes");
      for (std::size_t d = 0; d < states.rows(); ++d)
        std::copy_n(next.data() + d * count, count, states.row(d));
      for (std::size_t i = 0; i < count; ++i) {
        out.rewards[i] = rewards.data()[i];
        out.done[i] = done.data()[i] != 0 ? 1 : 0;
      }
    });
  }

 private:
  using Values = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

  // A copy, so that nothing that Python keeps or changes matters.
  static nb::object array_of(const Columns& columns) {
    const std::size_t rows = columns.rows(), count = columns.count();
    auto copy = std::make_unique<double[]>(std::max<std::size_t>(rows * count, 1));  // NOLINT
    for (std::size_t d = 0; d < rows; ++d)
      std::copy_n(columns.row(d), count, copy.get() + d * count);
    double* data = copy.release();
    const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, double>(data, {rows, count}, owner));
  }

  std::shared_ptr<nb::object> object_;
  Space states_, controls_;
  std::vector<std::size_t> angles_;
  std::size_t noise_;
  std::vector<std::string> names_;  // that are tuned
  std::vector<double> values_;
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
  const bool is_bulk = has_low && nb::hasattr(low, "step_many");
  if (is_bulk) {
    const auto noise = nb::cast<std::size_t>(low.attr("noise"));
    cheap = std::make_shared<const PythonSteps>(live::keep(std::move(low)), space_of(observations),
                                                space_of(actions), angles, noise);
  } else if (has_low) {
    cheap = std::make_shared<const SourceSteps>(source(std::move(low), "the cheap simulator"),
                                                angles, "the cheap simulator");
  }
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
  kind->low_is_slow = has_low && !is_bulk;
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
