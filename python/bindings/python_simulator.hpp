#pragma once

#include <optional>
#include <utility>

#include "bindings.hpp"
#include "hilo/env/source_simulator.hpp"

namespace hilo::python {

// Carries an exception of the user's code through the engine. The engine records its text. At the
// boundary to Python the exception itself is raised again, with its traceback.
class RaisedByUser : public Error {
 public:
  // The Python error indicator must be set in `error`; the GIL must be held.
  explicit RaisedByUser(nb::python_error& error);
  void restore() const;  // sets the error indicator; needs the GIL
  nb::object exception() const { return *exception_; }

 private:
  std::shared_ptr<nb::object> exception_;  // deleted with the GIL held
};

// Calls the user's code and turns its exceptions into RaisedByUser.
template <class F>
auto ask(F&& call) {
  try {
    return call();
  } catch (nb::python_error& error) {
    throw RaisedByUser(error);
  }
}

// A Python object as a step source. It has
//
//   reset(seed: int) -> int                                  the start state
//   step(action: int) -> tuple[int, float, bool, bool]       next, reward, ended, truncated
//
// and, if it can be started anywhere,
//
//   put(state: int, seed: int) -> None
//   reward(state: int, action: int, next: int) -> float
//
// The lock of the source is taken before the GIL, never while holding it.
class PythonSource final : public StepSource {
 public:
  // Messages begin with `role`, for example "high fidelity".
  PythonSource(nb::object object, std::size_t num_states, std::size_t num_actions,
               std::string role);
  ~PythonSource() override;

  void reset(std::uint32_t seed, Points& out) override;
  bool put(const Point& observation, std::uint32_t seed) override;
  SourceStep step(const Point& action, Points& out) override;
  double reward(const Point& observation, const Point& action, const Point& next) override;
  void enter() override { gil_.emplace(); }
  void leave() noexcept override { gil_.reset(); }

  nb::object object() const { return object_; }
  // Releases the object when Python ends. The source must not be used afterwards.
  nb::object let_go() const { return std::exchange(object_, nb::none()); }

 private:
  std::uint64_t state_of(nb::handle value, const std::string& what) const;

  mutable nb::object object_;
  std::string role_;
  std::uint64_t state_ = 0;  // the current state, for messages
  std::optional<nb::gil_scoped_acquire> gil_;
};

}  // namespace hilo::python
