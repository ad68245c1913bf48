#pragma once

#include <cmath>
#include <memory>
#include <utility>

#include "hilo/env/environment_check.hpp"
#include "hilo/env/model_check.hpp"
#include "hilo/env/simulator.hpp"

namespace hilo {

// "state 3, action 1: next state is 9, but must be in [0, 4]", or the same for the reward.
[[noreturn]] void throw_bad_reset(State s, std::size_t num_states);
[[noreturn]] void throw_bad_step(State s, Action a, const Step& step, std::size_t num_states);

// Step 0 of a stream is the reset; the t-th step of the path draws from step t + 1: two words for
// the action, whether it is free or given, and the rest for the environment.
template <Environment E>
State reset_with(const E& env, const Stream& stream) {
  Rng rng = Rng::of_step(stream, 0);
  const State s = env.reset(rng);
  if (s >= env.num_states()) throw_bad_reset(s, env.num_states());
  return s;
}

// Simulators are not trusted: a step out of range or a reward that is no number would corrupt every
// table behind it. An environment whose steps are right by construction says so by kChecked = true.
template <Environment E>
void check_step(const E& env, State s, Action a, const Step& step) {
  if constexpr (requires { requires E::kChecked; }) return;
  if (step.next >= env.num_states() || !std::isfinite(step.reward))
    throw_bad_step(s, a, step, env.num_states());
}

// Runs a path from s, whose first action is `first_action` unless null, until it ends or has
// max_steps steps, and hands every step to visit(action, step). Returns whether it was cut.
template <Environment E, class Visit>
bool run_path(const E& env, const RolloutBatch& batch, const Stream& stream, State s,
              const Action* first_action, Visit&& visit) {
  if (env.is_terminal(s)) return false;
  const Behaviour& behaviour = batch.behaviour;
  for (std::uint32_t t = 0; t < batch.max_steps; ++t) {
    Rng rng = Rng::of_step(stream, batch.first_step + t + 1);
    const std::uint32_t explore_word = rng.u32();
    const std::uint32_t action_word = rng.u32();
    const Action a = t == 0 && first_action != nullptr
                         ? *first_action
                         : behaviour.choose(s, explore_word, action_word);
    const Step step = env.step(s, a, rng);
    check_step(env, s, a, step);
    visit(a, step);
    if (step.done) return false;
    s = step.next;
  }
  return true;
}

template <Environment E>
RolloutSummary summarise_path(const E& env, const RolloutBatch& batch, const Stream& stream,
                              State s, const Action* first_action) {
  RolloutSummary summary;
  double discount = 1;
  summary.truncated = run_path(env, batch, stream, s, first_action, [&](Action, const Step& step) {
    summary.discounted_return += discount * step.reward;
    discount *= batch.gamma;
    summary.reward_sum += step.reward;
    ++summary.steps;
  });
  return summary;
}

template <Environment E>
void record_path(const E& env, const RolloutBatch& batch, const Stream& stream, State s,
                 const Action* first_action, Episode& episode) {
  episode.begin(s);
  episode.truncated =
      run_path(env, batch, stream, s, first_action,
               [&](Action a, const Step& step) { episode.append(a, step.reward, step.next); });
}

// The type-erased bulk form of any environment, one path after the other. Owns the environment.
template <Environment E>
class BulkSimulator : public Simulator {
 public:
  explicit BulkSimulator(E env) : env_(std::move(env)) {
    if constexpr (requires { env_.model(); })
      if (const Model* model = env_.model(); model != nullptr)
        check_model_of(*model, env_.num_states(), env_.num_actions(),
                       [this](State s) { return env_.is_terminal(s); });
  }

  std::size_t num_states() const override { return env_.num_states(); }
  std::size_t num_actions() const override { return env_.num_actions(); }
  bool is_terminal(State s) const override { return env_.is_terminal(s); }
  double reward(State s, Action a, State next) const override { return env_.reward(s, a, next); }

  const Model* model() const override {
    if constexpr (requires { env_.model(); })
      return env_.model();
    else
      return nullptr;
  }

  void run_episode(const RolloutBatch& batch, Episode& episode) const override {
    check(batch, 1, 1);
    const Stream stream = stream_of(batch, 0, 0);
    record_path(env_, batch, stream, reset_with(env_, stream), nullptr, episode);
  }

  void run_episodes(const RolloutBatch& batch, std::span<RolloutSummary> summaries) const override {
    check(batch, 1, summaries.size());
    std::uint32_t rollout = 0;
    for (RolloutSummary& summary : summaries) {
      const Stream stream = stream_of(batch, 0, rollout++);
      summary = summarise_path(env_, batch, stream, reset_with(env_, stream), nullptr);
    }
  }

  void roll_out(const RolloutBatch& batch, std::span<const StateAction> starts,
                std::uint32_t rollouts, std::span<RolloutSummary> summaries) const override {
    check_roll_out(batch, starts, rollouts, summaries);
    std::size_t out = 0;
    for (std::uint32_t i = 0; i < starts.size(); ++i)
      for (std::uint32_t j = 0; j < rollouts; ++j)
        summaries[out++] =
            summarise_path(env_, batch, stream_of(batch, i, j), starts[i].state, &starts[i].action);
  }

  void record(const RolloutBatch& batch, StateAction start, Episode& episode) const override {
    check(batch, 1, 1);
    check_start(start);
    record_path(env_, batch, stream_of(batch, 0, 0), start.state, &start.action, episode);
  }

 protected:
  const E& env() const { return env_; }

  static Stream stream_of(const RolloutBatch& batch, std::uint32_t pair, std::uint32_t rollout) {
    return {batch.seed, batch.purpose, batch.episode, batch.first_pair + pair,
            batch.first_rollout + rollout};
  }

  void check(const RolloutBatch& batch, std::size_t num_pairs, std::size_t num_rollouts) const {
    check_batch(batch, env_.num_states(), env_.num_actions(), num_pairs, num_rollouts);
  }

  void check_roll_out(const RolloutBatch& batch, std::span<const StateAction> starts,
                      std::uint32_t rollouts, std::span<const RolloutSummary> summaries) const {
    check(batch, starts.size(), rollouts);
    if (summaries.size() != starts.size() * rollouts)
      throw Error(Errc::usage, "roll_out needs one summary for each start and roll-out");
    for (const StateAction start : starts) check_start(start);
  }

  void check_start(StateAction start) const {
    require_within("start state", std::uint64_t{start.state}, 0, env_.num_states() - 1,
                   Errc::usage);
    require_within("start action", std::uint64_t{start.action}, 0, env_.num_actions() - 1,
                   Errc::usage);
  }

 private:
  E env_;
};

template <Environment E>
std::shared_ptr<const Simulator> make_simulator(E env) {
  static_assert(check_environment<E>());
  return std::make_shared<const BulkSimulator<E>>(std::move(env));
}

// For everything else, so that the compiler says what is wrong with it. Pointers are left to the
// functions that take them.
template <class E>
requires(!Environment<E> && !requires(const E& e) {
  *e;
}) std::shared_ptr<const Simulator> make_simulator(const E& /*env*/) {
  static_assert(check_environment<E>(), "this type is no hilo::Environment");
  return nullptr;
}

}  // namespace hilo
