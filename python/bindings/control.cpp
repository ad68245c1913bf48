#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "bindings.hpp"
#include "hilo/env/catalogue.hpp"
#include "hilo/model/corrected_steps.hpp"

// The control problems as simulators that are asked for one step at a time.
namespace hilo::python {
namespace {

// Walker, for problems of vectors. Step t of episode k draws from the same words as step t of
// run_episode with this seed, Purpose::user and episode k.
class ControlWalker {
 public:
  ControlWalker(const std::string& kind, const Parameter& parameters, const std::string& fidelity)
      : pair_(build_vector_problem(problem_kind(kind), parameters, 0).pair) {
    const auto simulator = fidelity == "low"
                               ? pair_.shared_low()
                               : std::dynamic_pointer_cast<const VectorSteps>(pair_.shared_high());
    if (!simulator) throw Error(Errc::usage, "'" + kind + "' cannot be asked for single steps");
    simulator_ = std::make_shared<const CorrectedSteps>(simulator, Correction());
    state_.resize(simulator_->state_space().dimension(), 1);
    action_.resize(simulator_->control_space().dimension(), 1);
    results_.resize(state_.padded());
  }

  const Space& observations() const { return simulator_->state_space(); }
  const Space& actions() const { return simulator_->control_space(); }
  std::uint32_t time_limit() const { return pair_.high().time_limit(); }
  std::uint32_t steps() const { return steps_; }
  std::vector<double> state() const {
    std::vector<double> out(state_.rows());
    state_.get(0, out);
    return out;
  }

  void set_seed(std::uint64_t seed) {
    seed_ = seed;
    next_episode_ = 0;
    steps_ = 0;
  }

  std::vector<double> reset() {
    simulator_->start({.seed = seed_, .purpose = Purpose::user, .episode = next_episode_}, state_);
    begin();
    return state();
  }
  void reset_to(const std::vector<double>& state) {
    require_in_space(observations(), std::span<const double>(state), "the state");
    state_.set(0, state);
    begin();
  }

  // Returns the reward.
  double step(const std::vector<double>& action) {
    if (next_episode_ == 0 || steps_ >= time_limit())
      throw Error(Errc::usage, "the episode is over or has not begun; call reset before step");
    require_in_space(actions(), std::span<const double>(action), "the action");
    action_.set(0, action);
    const Stream stream(seed_, Purpose::user, next_episode_ - 1);
    simulator_->step(state_, action_, {&stream, 1}, ++steps_, results_);
    const double reward = results_.rewards[0];
    if (!std::isfinite(reward))
      throw Error(Errc::simulator, "rewards of a control problem are not finite any more");
    return reward;
  }

 private:
  void begin() {
    ++next_episode_;
    steps_ = 0;
  }

  VectorFidelities pair_;
  std::shared_ptr<const VectorSteps> simulator_;
  std::uint64_t seed_ = 0;
  std::uint32_t next_episode_ = 0, steps_ = 0;
  Columns state_, action_;
  StepResults results_;
};

nb::object bounds_of(const Space& space) {
  nb::list low, high;
  for (const double x : space.low()) low.append(x);
  for (const double x : space.high()) high.append(x);
  return nb::make_tuple(low, high);
}

}  // namespace

void bind_control(nb::module_& m) {
  nb::class_<ControlWalker>(m, "ControlWalker",
                            "Runs episodes of a control problem (docs/control.md) one step at a "
                            "time, with actions that the caller chooses.")
      .def(
          "__init__",
          [](ControlWalker* self, const std::string& kind, const std::string& fidelity,
             const nb::kwargs& parameters) {
            new (self) ControlWalker(kind, parameters_of(parameters), fidelity);
          },
          "kind"_a, "fidelity"_a, "parameters"_a)
      .def_prop_ro(
          "observations", [](const ControlWalker& w) { return bounds_of(w.observations()); },
          nb::sig("def observations(self) -> tuple[list[float], list[float]]"),
          "Lower and upper bounds.")
      .def_prop_ro(
          "actions", [](const ControlWalker& w) { return bounds_of(w.actions()); },
          nb::sig("def actions(self) -> tuple[list[float], list[float]]"),
          "Lower and upper bounds.")
      .def_prop_ro("time_limit", &ControlWalker::time_limit, "Steps of an episode.")
      .def_prop_ro("steps", &ControlWalker::steps, "Number of steps of this episode so far.")
      .def_prop_ro("state", &ControlWalker::state, "The current state.")
      .def("set_seed", &ControlWalker::set_seed, "seed"_a,
           "Switches to the streams of another seed, from its first episode on.")
      .def("reset", &ControlWalker::reset, "Starts the next episode and returns its state.")
      .def("reset_to", &ControlWalker::reset_to, "state"_a,
           "Starts the next episode at a given state.")
      .def("step", &ControlWalker::step, "action"_a, "Takes a step and returns its reward.");
}

}  // namespace hilo::python
