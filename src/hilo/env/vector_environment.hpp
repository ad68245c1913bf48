#pragma once

#include <memory>
#include <utility>

#include "hilo/env/vector_simulator.hpp"

namespace hilo {

template <class State>
struct VectorStep {
  State next;
  double reward;
  bool done;  // next is terminal
};

// A user-defined simulator in the domain of vectors, for make_vector_simulator. It is immutable:
// its state is a value of any type, owned by the caller. Policies only see what `observe` returns:
// a std::uint64_t if the observation space is discrete, otherwise something that converts to
// std::span<const double>.
template <class E>
concept VectorEnvironment = requires(const E env, const typename E::State state, const Point action,
                                     Rng& rng, Points& out) {
  { env.observation_space() } -> std::convertible_to<Space>;
  { env.action_space() } -> std::convertible_to<Space>;
  { env.reset(rng) } -> std::same_as<typename E::State>;
  { env.step(state, action, rng) } -> std::same_as<VectorStep<typename E::State>>;
  out.push_back(env.observe(state));
};

// Runs one path after another. Owns the environment.
template <VectorEnvironment E>
class VectorReference final : public VectorSimulator {
 public:
  explicit VectorReference(E env)
      : VectorSimulator(env.observation_space(), env.action_space()), env_(std::move(env)) {}

  void run_episode(const Policy& policy, const StreamAddress& streams, const Horizon& horizon,
                   VectorEpisode& episode) const override {
    check(policy, streams, horizon, 1);
    run_path(policy, streams, horizon, streams.stream(), episode);
  }

  void run_episodes(const Policy& policy, const StreamAddress& streams, const Horizon& horizon,
                    std::span<RolloutSummary> summaries) const override {
    check(policy, streams, horizon, summaries.size());
    VectorEpisode episode(*this);
    std::uint32_t rollout = 0;
    for (RolloutSummary& summary : summaries) {
      run_path(policy, streams, horizon, streams.stream(0, rollout++), episode);
      summary = summarise(episode, horizon.gamma);
    }
  }

 private:
  // Random words are used as in tables: step 0 is the reset, and the first two words of every other
  // step are for the action.
  void run_path(const Policy& policy, const StreamAddress& streams, const Horizon& horizon,
                const Stream& stream, VectorEpisode& episode) const {
    Rng start = Rng::of_step(stream, 0);
    typename E::State state = env_.reset(start);
    episode.clear();
    episode.observations.push_back(env_.observe(state));
    check_step(episode);
    Points seen(observation_space()), chosen(action_space());
    for (std::uint32_t t = 0; t < horizon.max_steps; ++t) {
      Rng rng = Rng::of_step(stream, streams.first_step + t + 1);
      const ActionWords words = draw_action_words(rng);
      seen.clear();
      seen.push_back(episode.observations[t]);
      policy.act(seen, {&words, 1}, chosen);
      if (chosen.size() != 1)
        throw Error(Errc::usage, "a policy must give one action for each observation");
      episode.actions.push_back(chosen[0]);
      require_in_space(action_space(), chosen[0], "the action");
      auto [next, reward, done] = env_.step(state, chosen[0], rng);
      state = std::move(next);
      episode.rewards.push_back(reward);
      episode.observations.push_back(env_.observe(state));
      check_step(episode);
      if (done) return;
    }
    episode.truncated = true;
  }

  E env_;
};

template <VectorEnvironment E>
std::shared_ptr<const VectorSimulator> make_vector_simulator(E env) {
  return std::make_shared<const VectorReference<E>>(std::move(env));
}

}  // namespace hilo
