#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "bindings.hpp"
#include "hilo/env/simulator.hpp"

namespace hilo::python {

// What a user's environment raised, on its way through the engine. The engine records its text; at
// the boundary to Python the exception itself is raised again, with its traceback.
class RaisedByUser : public Error {
 public:
  // The Python error indicator must be set in `error`; the GIL must be held.
  explicit RaisedByUser(nb::python_error& error);
  void restore() const;  // sets the error indicator; needs the GIL
  nb::object exception() const { return *exception_; }

 private:
  std::shared_ptr<nb::object> exception_;  // deleted with the GIL held
};

// Full episodes, and where asked for roll-outs from any pair, of an object in Python:
//
//   reset(seed: int) -> int                                       the start state
//   put(state: int, seed: int) -> None                            generative ones only
//   step(action: int) -> tuple[int, float, bool, bool]            next, reward, ended, cut
//   reward(state: int, action: int, next: int) -> float           generative ones only
//
// A step into a state of `terminal` ends the episode, whatever the object says of it.
//
// The object has a state of its own, so one episode runs at a time, on whichever thread. Actions
// are drawn from the same words as in any other simulator, and `seed` is a function of the stream,
// so that results depend on neither threads nor order as long as the object keeps nothing from one
// episode to the next.
class PythonSource {
 public:
  // `role` opens messages: "the high fidelity".
  PythonSource(nb::object object, std::size_t num_states, std::size_t num_actions,
               std::vector<State> terminal, std::string role);
  PythonSource(const PythonSource&) = delete;
  PythonSource& operator=(const PythonSource&) = delete;
  ~PythonSource();

  std::size_t num_states() const { return num_states_; }
  std::size_t num_actions() const { return num_actions_; }
  bool is_terminal(State s) const { return !terminal_.empty() && terminal_[s] != 0; }

  std::vector<State> terminal() const;

  // `start` null: a whole episode. Returns whether the path was cut.
  template <class Visit>
  bool run(const RolloutBatch& batch, std::uint32_t pair, std::uint32_t rollout,
           const StateAction* start, const std::function<void(State)>& begin, Visit&& visit) const;
  double reward(State s, Action a, State next) const;

  nb::object object() const { return object_; }
  // When Python ends: nobody asks it any more.
  nb::object let_go() const { return std::exchange(object_, nb::none()); }

 private:
  struct Taken {
    State next;
    double reward;
    bool ended, cut;
  };
  Taken step(State s, Action a) const;
  State state_of(nb::handle value, const char* what) const;

  mutable nb::object object_;
  std::size_t num_states_, num_actions_;
  std::string role_;
  std::vector<std::uint8_t> terminal_;
  class Entry;
  mutable std::mutex mutex_;  // taken before the GIL, never while holding it
  mutable std::atomic<std::thread::id> owner_;
};

}  // namespace hilo::python
