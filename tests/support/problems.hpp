#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "hilo/env/degraded_twin.hpp"
#include "hilo/env/fidelities.hpp"
#include "hilo/env/random_mdp.hpp"
#include "hilo/env/tabular_mdp.hpp"
#include "hilo/exact/solve.hpp"
#include "hilo/policy/q_table.hpp"

namespace hilo::testing {

// A small random MDP, quick to solve.
inline std::shared_ptr<const TabularMdp> small_mdp(std::uint64_t seed, std::size_t states = 12,
                                                   std::size_t actions = 3) {
  return make_random_mdp(
      {.states = states, .actions = actions, .start_states = std::min<std::size_t>(4, states - 1)},
      seed);
}

inline Fidelities degraded_pair(const std::shared_ptr<const TabularMdp>& high, double snr_db,
                                Projection projection, std::uint64_t seed) {
  const auto twin = degrade(*high, {.snr_db = snr_db, .projection = projection}, seed);
  return {make_simulator(high), make_simulator(twin.mdp)};
}

inline Fidelities small_pair(std::uint64_t seed, double snr_db = 0) {
  return degraded_pair(small_mdp(seed), snr_db, Projection::simplex, seed);
}

// The same dynamics with rewards f(s, a), 0 in terminal states.
inline std::shared_ptr<const TabularMdp> with_rewards(
    const TabularMdp& mdp, const std::function<double(State, Action)>& f) {
  std::vector<State> terminal;
  for (State s = 0; s < mdp.num_states(); ++s)
    if (mdp.is_terminal(s)) terminal.push_back(s);
  TabularBuilder builder(mdp.num_states(), mdp.num_actions(), terminal);
  std::vector<Outcome> outcomes;
  for (State s = 0; s < mdp.num_states(); ++s)
    for (Action a = 0; a < mdp.num_actions(); ++a) {
      mdp.outcomes(s, a, outcomes);
      for (Outcome& o : outcomes) o.reward = mdp.is_terminal(s) ? 0 : f(s, a);
      builder.add_row(outcomes);
    }
  return builder.build(mdp.start_distribution());
}

// The dynamics of one MDP with the rewards of another.
inline std::shared_ptr<const TabularMdp> with_rewards_of(const TabularMdp& dynamics,
                                                         const TabularMdp& rewards) {
  return with_rewards(dynamics, [&](State s, Action a) { return rewards.expected_reward(s, a); });
}

// Whether all outcomes and the start are the same to the last bit.
inline bool same_mdp(const TabularMdp& x, const TabularMdp& y) {
  std::vector<Outcome> a, b;
  for (State s = 0; s < x.num_states(); ++s)
    for (Action k = 0; k < x.num_actions(); ++k) {
      x.outcomes(s, k, a);
      y.outcomes(s, k, b);
      if (a.size() != b.size()) return false;
      for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i].next != b[i].next || a[i].probability != b[i].probability ||
            a[i].reward != b[i].reward)
          return false;
    }
  const auto x_start = x.start_distribution();
  const auto y_start = y.start_distribution();
  return std::ranges::equal(x_start, y_start, [](const auto& p, const auto& q) {
    return p.state == q.state && p.probability == q.probability;
  });
}

// A Q table that holds the exact optimal values.
inline QTable optimal_q(const Model& model, double gamma) {
  QTable q(model.num_states(), model.num_actions());
  q.assign(policy_iteration(model, gamma).values.q);
  return q;
}

// 0 -> 1 -> 2 (terminal), two actions: action 0 moves on, action 1 stays with probability 1/2.
// Rewards: r(0, 0) = 1, r(0, 1) = 2, r(1, 0) = 4, r(1, 1) = 8.
inline std::shared_ptr<const TabularMdp> line_mdp() {
  const State terminal = 2;
  TabularBuilder builder(3, 2, {&terminal, 1});
  const auto stay_or_go = [&](State s, double reward) {
    const State next[] = {s, s + 1};
    const double probability[] = {0.5, 0.5};
    builder.add_row(next, probability, reward);
  };
  const auto go = [&](State s, double reward) {
    const State next[] = {s + 1};
    const double probability[] = {1};
    builder.add_row(next, probability, reward);
  };
  go(0, 1);
  stay_or_go(0, 2);
  go(1, 4);
  stay_or_go(1, 8);
  builder.add_absorbing_row();
  builder.add_absorbing_row();
  const StartProbability start[] = {{0, 1}};
  return builder.build(start);
}

// Four states, the last terminal, two actions. Deterministic:
//   action 0: 0 -> 1 -> 2 -> 3 paying 1, 3, 5;   action 1: 0 -> 2, 1 -> 0, 2 -> 3 paying 2, 4, 5.
// Whatever is done in state 2, it pays 5 and ends, so that ties there do not matter.
inline std::shared_ptr<const TabularMdp> four_states() {
  const State terminal = 3;
  TabularBuilder builder(4, 2, {&terminal, 1});
  const double one = 1;
  const auto row = [&](State next, double reward) {
    builder.add_row({&next, 1}, {&one, 1}, reward);
  };
  row(1, 1);
  row(2, 2);
  row(2, 3);
  row(0, 4);
  row(3, 5);
  row(3, 5);
  builder.add_absorbing_row();
  builder.add_absorbing_row();
  const StartProbability start[] = {{0, 1}};
  return builder.build(start);
}

}  // namespace hilo::testing
