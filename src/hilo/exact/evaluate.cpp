#include "hilo/exact/evaluate.hpp"

#include <fmt/format.h>

#include "hilo/core/error.hpp"
#include "hilo/env/model_check.hpp"
#include "hilo/exact/detail/chain.hpp"
#include "hilo/exact/mean_reward.hpp"

namespace hilo {

Values evaluate_policy(const Model& model, const PolicyMatrix& policy, double gamma) {
  return evaluate_policy(model, policy, gamma,
                         [](State, Action, const Outcome& o) { return o.reward; });
}

Values evaluate_policy(const Model& model, const PolicyMatrix& policy, double gamma,
                       const RewardFunction& reward) {
  check_policy(model, policy, gamma);
  return evaluate_policy(model, policy, gamma, reward, ChainSolver(chain(model, policy), gamma));
}

Values evaluate_policy(const Model& model, const PolicyMatrix& policy, double gamma,
                       const RewardFunction& reward, const ChainSolver& solver) {
  const std::size_t num_actions = model.num_actions();
  Values values;
  values.q.assign(model.num_states() * num_actions, 0);
  std::vector<double> mean_reward(model.num_states(), 0);
  std::vector<Outcome> outcomes;

  // At first q holds the expected immediate rewards.
  for (State s = 0; s < model.num_states(); ++s)
    for (Action a = 0; a < num_actions && !model.is_terminal(s); ++a) {
      model.outcomes(s, a, outcomes);
      double& q = values.q[s * num_actions + a];
      for (const Outcome& o : outcomes) q += o.probability * reward(s, a, o);
      mean_reward[s] += policy(s, a) * q;
    }
  values.v = solver.solve(mean_reward);
  for (State s = 0; s < model.num_states(); ++s)
    for (Action a = 0; a < num_actions && !model.is_terminal(s); ++a) {
      model.outcomes(s, a, outcomes);
      double future = 0;
      for (const Outcome& o : outcomes) future += o.probability * values.v[o.next];
      values.q[s * num_actions + a] += gamma * future;
    }
  return values;
}

double start_value(const Model& model, std::span<const double> v) {
  check_model(model);
  if (v.size() != model.num_states())
    throw Error(Errc::usage, fmt::format("there are {} values, but the model has {} states",
                                         v.size(), model.num_states()));
  double sum = 0;
  for (const auto& [state, probability] : model.start_distribution()) sum += probability * v[state];
  return sum;
}

StartValues evaluate_from_start(const Model& model, const PolicyMatrix& policy, double gamma,
                                std::uint32_t max_steps) {
  check_policy(model, policy, gamma);
  if (model.num_afterstates() > 0) return evaluate_by_afterstates(model, policy, gamma, max_steps);
  // One pass over the outcomes builds the chain and the rewards together.
  const auto n = static_cast<Eigen::Index>(model.num_states());
  std::vector<double> mean_reward(model.num_states(), 0);
  StepRewards step(n);
  SparseMatrix go(n, n);
  ChainBuilder chain_rows(model, go);
  std::vector<Outcome> outcomes;
  for (State s = 0; s < model.num_states(); ++s) {
    chain_rows.begin_row(s);
    for (Action a = 0; a < model.num_actions() && !model.is_terminal(s); ++a) {
      if (policy(s, a) == 0) continue;
      model.outcomes(s, a, outcomes);
      double reward = 0;
      for (const Outcome& o : outcomes) reward += o.probability * o.reward;
      mean_reward[s] += policy(s, a) * reward;
      if (max_steps > 0) step.add(model, s, policy(s, a), outcomes);
      chain_rows.add(policy(s, a), outcomes);
    }
    chain_rows.end_row();
  }
  go.finalize();
  StartValues out;
  out.value = start_value(model, ChainSolver(go, gamma).solve(mean_reward));
  if (max_steps == 0) return out;
  step.finish(model, policy, go);
  out.mean_reward = expected_mean_reward(model, step, go, max_steps, kRunOut);
  return out;
}

}  // namespace hilo
