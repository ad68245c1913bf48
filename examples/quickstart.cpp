// Learn a policy for an expensive simulator, with and without the help of a cheap one.
#include <hilo/agent/mcrl.hpp>
#include <hilo/agent/mfmcrl.hpp>
#include <hilo/env/catalogue.hpp>
#include <hilo/exact/solve.hpp>
#include <iostream>

int main() {
  const std::uint64_t seed = 1;
  const double gamma = 0.99;
  // A random MDP of 200 states, and a noisy copy of it as the cheap simulator.
  const hilo::Fidelities pair = hilo::build_problem("random-mdp", {{"snr_db", 3.0}}, seed).pair;

  hilo::Mcrl mcrl(pair.high().num_states(), pair.num_actions(), {.gamma = gamma});
  hilo::Mfmcrl mfmcrl(pair, {.gamma = gamma, .low_rollouts = 10}, seed);
  hilo::TabularAgent* agents[] = {&mcrl, &mfmcrl};

  for (hilo::TabularAgent* agent : agents) {
    std::uint32_t dropped = 0;
    for (std::uint32_t k = 0; k < 5000; ++k) {
      hilo::Episode episode;
      pair.high().run_episode(agent->behaviour(),
                              {.seed = seed, .purpose = hilo::Purpose::high_episode, .episode = k},
                              {.max_steps = 10'000}, episode);
      dropped += agent->learn(episode).dropped ? 1 : 0;
    }
    // Episodes that max_steps cut did not end, so that their returns are unknown: where a simulator
    // never ends, all are dropped. Set episode.truncated = false to count the cut as an end.
    if (dropped > 0) std::cerr << dropped << " of 5000 episodes were cut and taught nothing\n";
  }

  // Both simulators are known here, so the learnt policies can be valued exactly.
  const hilo::Model& model = *pair.high().model();
  const auto value = [&](const hilo::PolicyMatrix& policy) {
    return hilo::start_value(model, hilo::evaluate_policy(model, policy, gamma).v);
  };
  std::cout << "value of the policy after 5000 expensive episodes (one seed)\n"
            << "  MCRL, expensive simulator alone  " << value(policy_matrix(mcrl.greedy())) << "\n"
            << "  MFMCRL, with the cheap one       " << value(policy_matrix(mfmcrl.greedy()))
            << "\n"
            << "  optimum                          "
            << hilo::start_value(model, hilo::policy_iteration(model, gamma).values.v) << "\n";
}
