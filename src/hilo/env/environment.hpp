#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hilo/core/random.hpp"

namespace hilo {

using State = std::uint32_t;
using Action = std::uint32_t;

// The most states, and the most pairs of state and action, that a table may have.
inline constexpr std::size_t kMaxTableSize = 1U << 30;

struct StateAction {
  State state;
  Action action;
};

struct Step {
  State next;
  double reward;
  bool done;  // next is terminal
};

// A simulator at one fidelity. It is immutable: the caller owns the state and the random stream, so
// one object serves every thread and can be started at any (s, a).
template <class E>
concept Environment = requires(const E env, State s, Action a, State next, Rng& rng) {
  { env.num_states() } -> std::convertible_to<std::size_t>;
  { env.num_actions() } -> std::convertible_to<std::size_t>;
  { env.is_terminal(s) } -> std::convertible_to<bool>;
  { env.reset(rng) } -> std::same_as<State>;
  { env.step(s, a, rng) } -> std::same_as<Step>;
  { env.reward(s, a, next) } -> std::convertible_to<double>;
};

// One way a step can end.
struct Outcome {
  State next;
  double probability;
  double reward;
};

struct StartProbability {
  State state;
  double probability;
};

// The exact transition and reward distributions, for environments that know them. Exact solutions
// are computed from them; the built-in agents never use them. They are not trusted: check_model
// (model_check.hpp) checks every row before the first use.
class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  virtual std::size_t num_states() const = 0;
  virtual std::size_t num_actions() const = 0;
  virtual bool is_terminal(State s) const = 0;
  virtual std::vector<StartProbability> start_distribution() const = 0;
  // Overwrites `out` with the outcomes of (s, a), sorted by `next`, each `next` once.
  virtual void outcomes(State s, Action a, std::vector<Outcome>& out) const = 0;

  // Where many pairs (s, a) have the same distribution over successors, a model may give this
  // distribution a number, an after-state, which makes exact solutions that much smaller. The
  // reward must then depend on (s, a) alone. num_afterstates() is 0 if the model has none.
  virtual std::size_t num_afterstates() const { return 0; }
  virtual std::uint32_t afterstate(State /*s*/, Action /*a*/) const { return 0; }
  virtual double expected_reward_of(State /*s*/, Action /*a*/) const { return 0; }
  // Overwrites `out` with the successors of an after-state. Their rewards have no meaning.
  virtual void successors(std::uint32_t /*afterstate*/, std::vector<Outcome>& out) const {
    out.clear();
  }

  bool is_checked() const { return is_checked_.load(std::memory_order_acquire); }
  // Called by check_model, or by a model whose rows are correct by construction.
  void set_checked() const { is_checked_.store(true, std::memory_order_release); }

 private:
  mutable std::atomic<bool> is_checked_ = false;
};

}  // namespace hilo
