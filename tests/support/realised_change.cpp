#include "support/realised_change.hpp"

#include "hilo/agent/mcrl.hpp"
#include "hilo/agent/mfmcrl.hpp"
#include "hilo/exact/evaluate.hpp"

namespace hilo::testing {
namespace {

constexpr std::uint32_t kCheckEvery = 50;  // episodes
constexpr std::uint32_t kMostEpisodes = 20'000;

struct SquaredErrors {
  double plain = 0, corrected = 0;
};

double mean_returns(const Mcrl& agent) {
  double sum = 0, squares = 0;
  for (State s = 0; s < agent.q().num_states(); ++s)
    for (Action a = 0; a < agent.q().num_actions(); ++a) {
      const auto n = static_cast<double>(agent.returns(s, a).count());
      sum += n;
      squares += n * n;
    }
  return sum > 0 ? squares / sum : 0;
}

void train_both(const Fidelities& pair, const TrainingPlan& plan, std::uint64_t seed, Mcrl& plain,
                Mfmcrl& corrected) {
  const QTable uniform(pair.high().num_states(), pair.num_actions());
  Episode episode;
  for (std::uint32_t k = 0; k < kMostEpisodes; ++k) {
    if (k % kCheckEvery == 0 && mean_returns(plain) >= plan.returns) return;
    pair.high().run_episode(uniform.behaviour(1),
                            {.seed = seed, .purpose = Purpose::high_episode, .episode = k},
                            {.max_steps = 10'000}, episode);
    plain.learn(episode);
    corrected.learn(episode);
  }
}

}  // namespace

double realised_change(const Fidelities& pair, const TrainingPlan& plan) {
  const std::size_t num_states = pair.high().num_states(), num_actions = pair.num_actions();
  const QTable uniform(num_states, num_actions);
  const auto exact =
      evaluate_policy(*pair.high().model(), policy_matrix(uniform.behaviour(1)), plan.gamma).q;
  MfmcrlOptions options = mfmcrl_plus();
  options.gamma = plan.gamma;
  options.low_rollouts = plan.low_rollouts;
  options.pilot_episodes = kMostEpisodes;  // roll-outs follow the uniform policy as well
  SquaredErrors errors;
  for (int t = 0; t < plan.trainings; ++t) {
    const std::uint64_t seed = plan.first_seed + static_cast<std::uint64_t>(t);
    Mcrl plain(num_states, num_actions, {.gamma = plan.gamma, .recency = options.recency});
    Mfmcrl corrected(pair, options, seed);
    train_both(pair, plan, seed, plain, corrected);
    for (State s = 0; s < num_states; ++s)
      for (Action a = 0; a < num_actions; ++a) {
        const auto n = static_cast<double>(plain.returns(s, a).count());
        const double truth = exact[s * num_actions + a];
        const double of_plain = plain.q()(s, a) - truth;
        const double of_corrected = corrected.q()(s, a) - truth;
        errors.plain += n * of_plain * of_plain;
        errors.corrected += n * of_corrected * of_corrected;
      }
  }
  return errors.plain > 0 ? errors.corrected / errors.plain - 1 : 0;
}

}  // namespace hilo::testing
