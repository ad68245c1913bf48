#include "python_simulator.hpp"

#include <cmath>

#include "hilo/experiment/train.hpp"
#include "live.hpp"

namespace hilo::python {
namespace {

// For example "ValueError: no such valve (plant.py:12, in step)". The innermost frame is named,
// because it is the user's own code.
std::string describe(nb::python_error& error) try {
  const nb::object type = nb::borrow(error.type());
  const nb::object value = nb::borrow(error.value());
  std::string text =
      nb::cast<std::string>(type.attr("__name__")) + ": " + nb::cast<std::string>(nb::str(value));
  nb::object frame = nb::borrow(error.traceback());
  if (!frame.is_valid() || frame.is_none()) return text;
  while (!frame.attr("tb_next").is_none()) frame = frame.attr("tb_next");
  const nb::object code = frame.attr("tb_frame").attr("f_code");
  const std::string file = nb::cast<std::string>(code.attr("co_filename"));
  return text + " (" + file.substr(file.rfind('/') + 1) + ":" +
         std::to_string(nb::cast<long>(frame.attr("tb_lineno"))) + ", in " +
         nb::cast<std::string>(code.attr("co_name")) + ")";
} catch (const std::exception&) {
  // An exception whose text cannot be read is still reported by its type.
  return nb::cast<std::string>(nb::borrow(error.type()).attr("__name__"));
}

}  // namespace

RaisedByUser::RaisedByUser(nb::python_error& error)
    : Error(Errc::simulator, describe(error)),
      exception_(new nb::object(nb::borrow(error.value())), [](nb::object* object) {
        const nb::gil_scoped_acquire gil;
        delete object;
      }) {
  const nb::object traceback = nb::borrow(error.traceback());
  if (traceback.is_valid() && !traceback.is_none())
    PyException_SetTraceback(exception_->ptr(), traceback.ptr());
}

void RaisedByUser::restore() const {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception_->ptr())), exception_->ptr());
}

PythonSource::PythonSource(nb::object object, std::size_t num_states, std::size_t num_actions,
                           std::string role)
    : StepSource(Space::discrete(num_states), Space::discrete(num_actions)),
      object_(std::move(object)),
      role_(std::move(role)) {
  live::add(this);
}

PythonSource::~PythonSource() {
  live::remove(this);
  if (!Py_IsInitialized()) {
    object_.release();
    return;
  }
  const nb::gil_scoped_acquire gil;
  object_.reset();
}

std::uint64_t PythonSource::state_of(nb::handle value, const std::string& what) const {
  std::int64_t state = 0;
  if (!nb::try_cast(value, state))
    throw Error(Errc::simulator, what + " is " + nb::cast<std::string>(nb::repr(value)) +
                                     ", but must be a whole number");
  const std::uint64_t num_states = observation_space().size();
  if (state < 0 || static_cast<std::uint64_t>(state) >= num_states)
    throw Error(Errc::simulator, what + " is " + std::to_string(state) + ", but must be in [0, " +
                                     std::to_string(num_states - 1) + "]");
  return static_cast<std::uint64_t>(state);
}

void PythonSource::reset(std::uint32_t seed, Points& out) {
  ask([&] { state_ = state_of(object_.attr("reset")(seed), role_ + ", the start state"); });
  out.push_back(state_);
}

bool PythonSource::put(const Point& observation, std::uint32_t seed) {
  state_ = observation.index();
  ask([&] { object_.attr("put")(state_, seed); });
  return false;  // a state that ends a path is among those declared, or shows at the next step
}

SourceStep PythonSource::step(const Point& action, Points& out) {
  if (live::must_stop()) throw Interrupted();
  const auto where = [&] {
    return role_ + ", state " + std::to_string(state_) + ", action " +
           std::to_string(action.index()) + ": ";
  };
  return ask([&] {
    const nb::object answer = object_.attr("step")(action.index());
    if (!nb::isinstance<nb::tuple>(answer) || nb::len(answer) != 4)
      throw Error(Errc::simulator, where() + "a step must be (next, reward, ended, cut)");
    SourceStep step;
    const std::uint64_t next = state_of(answer[0], where() + "next state");
    if (!nb::try_cast(nb::object(answer[1]), step.reward) || !std::isfinite(step.reward))
      throw Error(Errc::simulator, where() + "reward is " +
                                       nb::cast<std::string>(nb::repr(answer[1])) +
                                       ", but must be a finite number");
    if (!nb::try_cast(nb::object(answer[2]), step.ended) ||
        !nb::try_cast(nb::object(answer[3]), step.cut))
      throw Error(Errc::simulator, where() + "whether the episode ended or was cut must be bools");
    out.push_back(next);
    state_ = next;
    return step;
  });
}

double PythonSource::reward(const Point& observation, const Point& action, const Point& next) {
  return ask([&] {
    const nb::object out =
        object_.attr("reward")(observation.index(), action.index(), next.index());
    double reward = 0;
    if (!nb::try_cast(out, reward) || !std::isfinite(reward))
      throw Error(Errc::simulator,
                  role_ + ": the reward of state " + std::to_string(observation.index()) +
                      ", action " + std::to_string(action.index()) + ", next " +
                      std::to_string(next.index()) + " is " + nb::cast<std::string>(nb::repr(out)) +
                      ", but must be a finite number");
    return reward;
  });
}

namespace {

SourcePaths paths_of(nb::object object, std::size_t num_states, std::size_t num_actions,
                     const std::vector<State>& terminal, const char* role) {
  require_within("number of states", num_states, 1, kMaxTableSize, Errc::data);
  require_within("number of actions", num_actions, 1, kMaxTableSize / num_states, Errc::data);
  return {std::make_shared<PythonSource>(std::move(object), num_states, num_actions, role),
          terminal, role};
}

nb::object object_of(const SourcePaths& paths) {
  return dynamic_cast<const PythonSource&>(*paths.source()).object();
}

template <class Made, class Base>
void bind_made_from_python(nb::module_& m, const char* name, const char* role) {
  nb::class_<Made, Base>(m, name,
                         "A simulator written in Python, as the engine sees it. hilo.pair and "
                         "hilo.train make it.")
      .def(
          "__init__",
          [role](Made* self, nb::object source, std::size_t num_states, std::size_t num_actions,
                 const std::vector<State>& terminal) {
            new (self) Made(paths_of(std::move(source), num_states, num_actions, terminal, role));
          },
          "source"_a, "num_states"_a, "num_actions"_a, "terminal"_a = std::vector<State>{})
      .def_prop_ro(
          "source", [](const Made& self) { return object_of(self.paths()); },
          "The Python object that simulates.")
      .def("__reduce__", [](nb::handle self) {
        const auto& made = nb::cast<const Made&>(self);
        return nb::make_tuple(self.type(),
                              nb::make_tuple(object_of(made.paths()), made.num_states(),
                                             made.num_actions(), made.paths().terminal()));
      });
}

}  // namespace

void bind_python_simulator(nb::module_& m) {
  bind_made_from_python<SourceEpisodes, EpisodeSimulator>(m, "PythonEpisodes", "high fidelity");
  bind_made_from_python<SourceSimulator, Simulator>(m, "PythonSimulator", "low fidelity");
}

}  // namespace hilo::python
