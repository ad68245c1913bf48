#pragma once

#include <cmath>
#include <memory>
#include <utility>

#include "hilo/env/environment_check.hpp"
#include "hilo/env/model_check.hpp"
#include "hilo/env/policy.hpp"
#include "hilo/env/simulator.hpp"

namespace hilo {

// Throw Errc::simulator, for example with
// "simulator: state 3, action 1: next state is 9, but must be in [0, 4]".
[[noreturn]] void throw_bad_reset(State s, std::size_t num_states);
[[noreturn]] void throw_bad_step(State s, Action a, const Step& step, std::size_t num_states);

// Step 0 of a stream is the reset; the t-th step of the path draws from step t + 1: two words for
// the action, even if the action is given, and the rest for the environment.
template <Environment E>
State reset_with(const E& env, const Stream& stream) {
  Rng rng = Rng::of_step(stream, 0);
  const State s = env.reset(rng);
  if (s >= env.num_states()) throw_bad_reset(s, env.num_states());
  return s;
}

// Simulators are not trusted: a next state out of range or a reward that is not finite would
// corrupt every table computed from it. An environment whose steps are correct by construction
// declares kChecked = true.
template <Environment E>
void check_outcome(const E& env, State s, Action a, const Step& step) {
  if constexpr (requires { requires E::kChecked; }) return;
  if (step.next >= env.num_states() || !std::isfinite(step.reward))
    throw_bad_step(s, a, step, env.num_states());
}

// Takes action a in state s and checks the result.
template <Environment E>
Step step_with(const E& env, State s, Action a, Rng& rng) {
  const Step step = env.step(s, a, rng);
  check_outcome(env, s, a, step);
  return step;
}

// The default watcher, which ignores every step.
struct Unwatched {
  void operator()(const Step& /*step*/) const {}
};

// Runs a path from s until it ends or has max_steps steps, and passes every step to visit(action,
// step). The first action is `first_action`, unless that is null. Returns whether the path was cut.
template <Environment E, class Visit>
bool run_path(const E& env, const Behaviour& policy, const Stream& stream, std::uint32_t first_step,
              std::uint32_t max_steps, State s, const Action* first_action, Visit&& visit) {
  if (env.is_terminal(s)) return false;
  for (std::uint32_t t = 0; t < max_steps; ++t) {
    Rng rng = Rng::of_step(stream, first_step + t + 1);
    const ActionWords words = draw_action_words(rng);
    const Action a = t == 0 && first_action != nullptr
                         ? *first_action
                         : policy.choose(s, words.explore, words.action);
    const Step step = step_with(env, s, a, rng);
    visit(a, step);
    if (step.done) return false;
    s = step.next;
  }
  return true;
}

// The type-erased form of any environment, which runs one path after another: the reference that
// faster simulators are compared with. It owns the environment, which is immutable, and calls
// watch(step) after every step.
template <Environment E, class Watch = Unwatched>
class OnePathSimulator : public Simulator {
 public:
  explicit OnePathSimulator(E env, Watch watch = {})
      : Simulator(env.num_states(), env.num_actions()),
        env_(std::move(env)),
        watch_(std::move(watch)) {
    if constexpr (requires { env_.model(); })
      if (const Model* model = env_.model(); model != nullptr)
        check_model_of(*model, num_states(), num_actions(),
                       [this](State s) { return env_.is_terminal(s); });
  }

  bool is_terminal(State s) const override { return env_.is_terminal(s); }
  double reward(State s, Action a, State next) const override { return env_.reward(s, a, next); }

  const Model* model() const override {
    if constexpr (requires { env_.model(); })
      return env_.model();
    else
      return nullptr;
  }

  State reset(const StreamAddress& streams) const override {
    return reset_with(env_, streams.stream());
  }

  Step step(StateAction at, const StreamAddress& streams) const override {
    check_step(at, streams);
    Rng rng = Rng::of_step(streams.stream(), streams.first_step + 1);
    draw_action_words(rng);  // not used: the action is given
    const Step step = step_with(env_, at.state, at.action, rng);
    watch_(step);
    return step;
  }

  void run_episode(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                   Episode& episode) const override {
    check(policy, streams, horizon, 1, 1);
    record_path(policy, streams, horizon, reset(streams), nullptr, episode);
  }

  void run_episodes(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                    std::span<RolloutSummary> summaries) const override {
    check(policy, streams, horizon, 1, summaries.size());
    std::uint32_t rollout = 0;
    for (RolloutSummary& summary : summaries) {
      const Stream stream = streams.stream(0, rollout++);
      summary = summarise_path(policy, streams, horizon, stream, reset_with(env_, stream), nullptr);
    }
  }

  void roll_out(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                std::span<const StateAction> starts, std::uint32_t rollouts,
                std::span<RolloutSummary> summaries) const override {
    check(policy, streams, horizon, starts.size(), rollouts);
    check_starts(starts, rollouts, summaries);
    std::size_t out = 0;
    for (std::uint32_t i = 0; i < starts.size(); ++i)
      for (std::uint32_t j = 0; j < rollouts; ++j)
        summaries[out++] = summarise_path(policy, streams, horizon, streams.stream(i, j),
                                          starts[i].state, &starts[i].action);
  }

  void record(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
              StateAction start, Episode& episode) const override {
    check(policy, streams, horizon, 1, 1);
    check_start(start);
    record_path(policy, streams, horizon, start.state, &start.action, episode);
  }

 protected:
  const E& env() const { return env_; }

 private:
  RolloutSummary summarise_path(const Behaviour& policy, const StreamAddress& streams,
                                const Horizon& horizon, const Stream& stream, State s,
                                const Action* first_action) const {
    RolloutSummary summary;
    double discount = 1;
    summary.truncated = run_path(env_, policy, stream, streams.first_step, horizon.max_steps, s,
                                 first_action, [&](Action, const Step& step) {
                                   watch_(step);
                                   summary.discounted_return += discount * step.reward;
                                   discount *= horizon.gamma;
                                   summary.reward_sum += step.reward;
                                   ++summary.steps;
                                 });
    return summary;
  }

  void record_path(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                   State s, const Action* first_action, Episode& episode) const {
    episode.begin(s);
    episode.truncated =
        run_path(env_, policy, streams.stream(), streams.first_step, horizon.max_steps, s,
                 first_action, [&](Action a, const Step& step) {
                   watch_(step);
                   episode.append(a, step.reward, step.next);
                 });
  }

  E env_;
  Watch watch_;
};

template <Environment E>
std::shared_ptr<const Simulator> make_simulator(E env) {
  static_assert(check_environment<E>());
  return std::make_shared<const OnePathSimulator<E>>(std::move(env));
}

// The same, but every step is passed to watch(step). For one run on one thread.
template <Environment E, class Watch>
std::shared_ptr<const Simulator> make_watched_simulator(E env, Watch watch) {
  static_assert(check_environment<E>());
  return std::make_shared<const OnePathSimulator<E, Watch>>(std::move(env), std::move(watch));
}

// For types that are not environments, so that the compiler explains what is wrong. Pointers are
// left to the overloads that take them.
template <class E>
requires(!Environment<E> && !requires(const E& e) {
  *e;
}) std::shared_ptr<const Simulator> make_simulator(const E& /*env*/) {
  static_assert(check_environment<E>(), "this type is no hilo::Environment");
  return nullptr;
}

}  // namespace hilo
