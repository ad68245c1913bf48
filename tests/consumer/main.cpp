// A stranger's simulator: a walk on a line, three to the left or three to the right of the start.
// The cheap copy of it pays a little too much.
#include <filesystem>
#include <hilo/agent/mfmcrl.hpp>
#include <hilo/driver/learner.hpp>
#include <hilo/env/one_path_simulator.hpp>
#include <iostream>

struct Walk {
  double pay;

  std::size_t num_states() const { return 7; }
  std::size_t num_actions() const { return 2; }
  bool is_terminal(hilo::State s) const { return s == 0 || s == 6; }
  hilo::State reset(hilo::Rng&) const { return 3; }
  double reward(hilo::State, hilo::Action, hilo::State next) const { return next == 6 ? pay : 0; }
  hilo::Step step(hilo::State s, hilo::Action a, hilo::Rng& rng) const {
    const bool slips = rng.uniform() < 0.2;
    const hilo::State next = (a == 1) != slips ? s + 1 : s - 1;
    return {.next = next, .reward = reward(s, a, next), .done = is_terminal(next)};
  }
};

// One budget for a problem that hilo has: interrupted after every third episode, and gone on with.
void learn() {
  const std::filesystem::path journal = "consumer.journal";
  std::filesystem::remove(journal);
  const hilo::LearnSpec spec = hilo::parse_learn_spec(
      "spec_version = 1\nname = 'consumer'\n[problem]\nkind = 'random-mdp'\nstates = 10\n"
      "actions = 2\nstart_states = 2\n[train]\ngamma = 0.9\n[budget]\nepisodes = 20\n",
      "consumer");
  for (bool done = false; !done;) {
    hilo::Learner learner(spec, {.journal = journal});
    for (int i = 0; i < 3 && !done; ++i) done = learner.step();
    if (done)
      std::cout << "policy tested in " << learner.outcome().value.returns.n << " of "
                << learner.bill().episodes << " episodes\n";
  }
}

int main() {
  learn();
  const hilo::Fidelities pair(hilo::make_simulator(Walk{1.0}), hilo::make_simulator(Walk{1.1}));
  hilo::Mfmcrl agent(pair, {.low_rollouts = 2}, 1);
  hilo::Episode episode;
  std::uint32_t dropped = 0;
  for (std::uint32_t k = 0; k < 100; ++k) {
    pair.high().run_episode(agent.behaviour(),
                            {.seed = 1, .purpose = hilo::Purpose::high_episode, .episode = k},
                            {.max_steps = 1000}, episode);
    dropped += agent.learn(episode).dropped ? 1 : 0;
  }
  std::cout << "learnt from " << agent.episodes() - dropped << " episodes\n";
}
