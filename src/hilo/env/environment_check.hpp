#pragma once

#include <concepts>
#include <type_traits>

#include "hilo/env/environment.hpp"

namespace hilo {

// Explains in words why a type is not an Environment, because compilers only list the parts of a
// concept that is not met. Each member is checked in three steps, and only its first error is
// reported: is there one that takes these arguments, can it be called on a const object, does it
// return the right type.
//
//   static_assert(hilo::check_environment<MySimulator>());
template <class E>
consteval bool check_environment() {
  constexpr bool kNumStates = requires(E & e) { e.num_states(); };
  constexpr bool kNumActions = requires(E & e) { e.num_actions(); };
  constexpr bool kIsTerminal = requires(E & e, State s) { e.is_terminal(s); };
  constexpr bool kReset = requires(E & e, Rng & rng) { e.reset(rng); };
  constexpr bool kStep = requires(E & e, State s, Action a, Rng & rng) { e.step(s, a, rng); };
  constexpr bool kReward = requires(E & e, State s, Action a) { e.reward(s, a, s); };
  static_assert(kNumStates,
                "the simulator needs a public `std::size_t num_states() const`, but has none");
  static_assert(kNumActions,
                "the simulator needs a public `std::size_t num_actions() const`, but has none");
  static_assert(kIsTerminal,
                "the simulator needs a public `bool is_terminal(hilo::State) const`, but has none "
                "that takes this argument");
  static_assert(kReset,
                "the simulator needs a public `hilo::State reset(hilo::Rng&) const`, but has none "
                "that takes this argument");
  static_assert(kStep,
                "the simulator needs a public `hilo::Step step(hilo::State, hilo::Action, "
                "hilo::Rng&) const`, but has none that takes these arguments");
  static_assert(
      kReward,
      "the simulator needs a public `double reward(hilo::State, hilo::Action, hilo::State "
      "next) const`, but has none that takes these arguments");

  constexpr bool kConstNumStates = requires(const E& e) { e.num_states(); };
  constexpr bool kConstNumActions = requires(const E& e) { e.num_actions(); };
  constexpr bool kConstIsTerminal = requires(const E& e, State s) { e.is_terminal(s); };
  constexpr bool kConstReset = requires(const E& e, Rng& rng) { e.reset(rng); };
  constexpr bool kConstStep = requires(const E& e, State s, Action a, Rng& rng) {
    e.step(s, a, rng);
  };
  constexpr bool kConstReward = requires(const E& e, State s, Action a) { e.reward(s, a, s); };
  // One object serves every thread and every roll-out, so it must not keep a state of its own.
  static_assert(!kNumStates || kConstNumStates, "num_states of the simulator must be const");
  static_assert(!kNumActions || kConstNumActions, "num_actions of the simulator must be const");
  static_assert(!kIsTerminal || kConstIsTerminal, "is_terminal of the simulator must be const");
  static_assert(
      !kReset || kConstReset,
      "reset of the simulator must be const: it returns the first state and keeps nothing, "
      "as the caller owns the state");
  static_assert(!kStep || kConstStep,
                "step of the simulator must be const: it is given the state and returns the next "
                "one, as one object serves all threads");
  static_assert(!kReward || kConstReward, "reward of the simulator must be const");

  if constexpr (kConstNumStates)
    static_assert(
        requires(const E& e) {
          { e.num_states() } -> std::convertible_to<std::size_t>;
        },
        "num_states of the simulator must return a number, std::size_t");
  if constexpr (kConstNumActions)
    static_assert(
        requires(const E& e) {
          { e.num_actions() } -> std::convertible_to<std::size_t>;
        },
        "num_actions of the simulator must return a number, std::size_t");
  if constexpr (kConstIsTerminal)
    static_assert(
        requires(const E& e, State s) {
          { e.is_terminal(s) } -> std::convertible_to<bool>;
        },
        "is_terminal of the simulator must return a bool");
  if constexpr (kConstReset)
    static_assert(
        requires(const E& e, Rng& rng) {
          { e.reset(rng) } -> std::same_as<State>;
        },
        "reset of the simulator must return hilo::State, which is std::uint32_t, and no other "
        "type");
  if constexpr (kConstStep)
    static_assert(
        requires(const E& e, State s, Action a, Rng& rng) {
          { e.step(s, a, rng) } -> std::same_as<Step>;
        },
        "step of the simulator must return hilo::Step: {.next, .reward, .done}");
  if constexpr (kConstReward)
    static_assert(
        requires(const E& e, State s, Action a) {
          { e.reward(s, a, s) } -> std::convertible_to<double>;
        },
        "reward of the simulator must return a double");

  // Optional members. Without this check, one with a wrong signature would be ignored silently.
  if constexpr (requires(E & e) { e.model(); }) {
    static_assert(
        requires(const E& e) { e.model(); }, "model of the simulator must be const");
    static_assert(
        requires(E & e) {
          { e.model() } -> std::convertible_to<const Model*>;
        },
        "model of the simulator must return `const hilo::Model*`, null where it is not known");
  }
  return Environment<E>;
}

}  // namespace hilo
