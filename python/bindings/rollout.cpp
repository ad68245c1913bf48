#include "bindings.hpp"
#include "hilo/rollout/returns.hpp"
#include "hilo/rollout/walker.hpp"

namespace hilo::python {
namespace {

// Many walkers. One call takes one step with each.
class Walkers {
 public:
  Walkers(const std::shared_ptr<Simulator>& simulator, std::size_t count) {
    require_within("number of environments", count, 1, 1U << 20, Errc::usage);
    walkers_.assign(count, Walker(simulator));
  }

  Walker& at(std::size_t i) {
    require_within("environment", i, 0, walkers_.size() - 1, Errc::usage);
    return walkers_[i];
  }
  std::size_t size() const { return walkers_.size(); }

  struct Steps {
    std::vector<std::int64_t> next;
    std::vector<double> reward;
    std::vector<std::uint8_t> done;
  };
  // Walkers whose `skip` is not 0 stay where they are.
  Steps step(std::span<const std::int64_t> actions, std::span<const std::uint8_t> skip) {
    if (actions.size() != size() || skip.size() != size())
      throw Error(Errc::usage, "there must be one action for each environment");
    // All actions are checked before any walker moves.
    const auto num_actions = static_cast<std::int64_t>(walkers_[0].simulator().num_actions());
    for (std::size_t i = 0; i < size(); ++i)
      if (skip[i] == 0 && (actions[i] < 0 || actions[i] >= num_actions))
        throw Error(Errc::usage, "action " + std::to_string(i) + " is " +
                                     std::to_string(actions[i]) + ", but must be in [0, " +
                                     std::to_string(num_actions - 1) + "]");
    Steps out{std::vector<std::int64_t>(size()), std::vector<double>(size(), 0),
              std::vector<std::uint8_t>(size(), 0)};
    for (std::size_t i = 0; i < size(); ++i) {
      if (skip[i] == 0) {
        const Step step = walkers_[i].step(static_cast<Action>(actions[i]));
        out.reward[i] = step.reward;
        out.done[i] = step.done ? 1 : 0;
      }
      out.next[i] = walkers_[i].state();
    }
    return out;
  }

 private:
  std::vector<Walker> walkers_;
};

}  // namespace

void bind_rollout(nb::module_& m) {
  nb::class_<Walker>(m, "Walker",
                     "Runs episodes one step at a time, with actions that the caller chooses. They "
                     "are a function of the seed: no global generator is used.")
      .def(
          "__init__",
          [](Walker* self, const std::shared_ptr<Simulator>& simulator, std::uint64_t seed) {
            new (self) Walker(simulator, seed);
          },
          "simulator"_a, "seed"_a = 0)
      .def_prop_ro("state", &Walker::state, "The current state.")
      .def_prop_ro("steps", &Walker::steps, "Number of steps of this episode so far.")
      .def("set_seed", &Walker::set_seed, "seed"_a,
           "Switches to the random streams of another seed, from its first episode on.")
      .def("reset", &Walker::reset, nb::call_guard<nb::gil_scoped_release>(),
           "Starts the next episode and returns its first state.")
      .def("reset_to", &Walker::reset_to, "state"_a, "Starts the next episode at a given state.")
      .def(
          "step",
          [](Walker& walker, Action a) {
            const Step step = walker.step(a);
            return std::tuple(step.next, step.reward, step.done);
          },
          "action"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Takes an action. Returns the next state, the reward and whether the episode ended.")
      .def("__repr__", [](const Walker& walker) {
        return "Walker(state=" + std::to_string(walker.state()) +
               ", steps=" + std::to_string(walker.steps()) +
               ", seed=" + std::to_string(walker.seed()) + ")";
      });

  nb::class_<Walkers>(m, "Walkers", "Many walkers. One call takes one step with each.")
      .def(nb::init<const std::shared_ptr<Simulator>&, std::size_t>(), "simulator"_a, "count"_a)
      .def("__len__", &Walkers::size)
      .def("__repr__",
           [](const Walkers& w) { return "Walkers(count=" + std::to_string(w.size()) + ")"; })
      .def(
          "set_seed", [](Walkers& w, std::size_t i, std::uint64_t seed) { w.at(i).set_seed(seed); },
          "walker"_a, "seed"_a, "Walker.set_seed of one of them.")
      .def(
          "reset", [](Walkers& w, std::size_t i) { return w.at(i).reset(); }, "walker"_a,
          nb::call_guard<nb::gil_scoped_release>(), "Walker.reset of one of them.")
      .def(
          "reset_to", [](Walkers& w, std::size_t i, State s) { w.at(i).reset_to(s); }, "walker"_a,
          "state"_a, "Walker.reset_to of one of them.")
      .def(
          "step",
          [](Walkers& w, const InVector<std::int64_t>& actions,
             const InVector<std::uint8_t>& skip) {
            Walkers::Steps out = [&] {
              const nb::gil_scoped_release release;
              return w.step(span_of(actions), span_of(skip));
            }();
            return nb::make_tuple(own(std::move(out.next)), own(std::move(out.reward)),
                                  own(std::move(out.done)));
          },
          "actions"_a, "skip"_a,
          nb::sig("def step(self, actions: numpy.typing.NDArray[numpy.int64], skip: "
                  "numpy.typing.NDArray[numpy.uint8]) -> "
                  "tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], "
                  "numpy.typing.NDArray[numpy.uint8]]"),
          "Returns the next states, the rewards and whether the episodes ended. Walkers that are "
          "skipped stay where they are.");

  m.def(
      "discounted_returns",
      [](const InVector<double>& rewards, double gamma) {
        require_within("gamma", gamma, 0, 1, Errc::usage);
        std::vector<double> out;
        const auto in = span_of(rewards);
        discounted_returns({in.begin(), in.end()}, gamma, out);
        return own(std::move(out));
      },
      "rewards"_a, "gamma"_a, "G_t = r_{t+1} + gamma G_{t+1}, for every step of an episode.");
}

}  // namespace hilo::python
