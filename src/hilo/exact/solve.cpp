#include "hilo/exact/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/env/model_check.hpp"

namespace hilo {
namespace {

// Computes q(s, .) from the values v of the successors.
void bellman_row(const Model& model, State s, double gamma, const std::vector<double>& v,
                 std::vector<Outcome>& outcomes, std::vector<double>& q) {
  for (Action a = 0; a < model.num_actions(); ++a) {
    model.outcomes(s, a, outcomes);
    double sum = 0;
    for (const Outcome& o : outcomes) sum += o.probability * (o.reward + gamma * v[o.next]);
    q[s * model.num_actions() + a] = sum;
  }
}

constexpr std::size_t kMaxPolicies = 1000;  // a dozen is usual

// Without discounting, a policy that never ends has no values, and the initial policy may be one.
void require_discount(double gamma) {
  if (!(gamma >= 0 && gamma < 1))
    throw Error(Errc::spec,
                fmt::format("gamma is {}, but an exact solution needs it in [0, 1)", gamma));
}

std::span<const double> row_of(const Model& model, const std::vector<double>& q, State s) {
  return std::span(q).subspan(s * model.num_actions(), model.num_actions());
}

}  // namespace

PolicyMatrix deterministic_policy(const std::vector<Action>& policy, std::size_t num_actions) {
  PolicyMatrix pi{.num_states = policy.size(), .num_actions = num_actions};
  pi.probability.assign(policy.size() * num_actions, 0);
  for (State s = 0; s < policy.size(); ++s) pi.probability[s * num_actions + policy[s]] = 1;
  return pi;
}

Solution value_iteration(const Model& model, double gamma, double tolerance) {
  require_discount(gamma);
  check_model(model);
  require_within("tolerance", tolerance, 1e-14, 1);
  Solution solution;
  auto& [v, q] = solution.values;
  v.assign(model.num_states(), 0);
  q.assign(model.num_states() * model.num_actions(), 0);
  solution.policy.assign(model.num_states(), 0);
  std::vector<Outcome> outcomes;

  // A change below (1 - gamma) / gamma * tolerance leaves an error below the tolerance.
  const double enough = (1 - gamma) * tolerance;
  for (double change = enough + 1; change > enough; ++solution.iterations) {
    change = 0;
    for (State s = 0; s < model.num_states(); ++s) {
      if (model.is_terminal(s)) continue;
      bellman_row(model, s, gamma, v, outcomes, q);  // in place: newer values are better ones
      const double best = *std::ranges::max_element(row_of(model, q, s));
      change = std::max(change, std::abs(best - v[s]));
      v[s] = best;
    }
  }
  for (State s = 0; s < model.num_states(); ++s) {
    const auto row = row_of(model, q, s);
    solution.policy[s] = static_cast<Action>(std::ranges::max_element(row) - row.begin());
  }
  return solution;
}

Solution solve_afterstates(const Model& model, double gamma, double tolerance) {
  require_discount(gamma);
  check_model(model);
  const std::size_t num_actions = model.num_actions();
  std::vector<double> w(model.num_afterstates(), 0);  // value of what follows an after-state
  // Computed once, not in every sweep.
  std::vector<std::uint32_t> next(model.num_states() * num_actions);
  std::vector<double> reward(next.size(), 0);
  for (State s = 0; s < model.num_states(); ++s)
    for (Action a = 0; a < num_actions && !model.is_terminal(s); ++a) {
      next[s * num_actions + a] = model.afterstate(s, a);
      reward[s * num_actions + a] = model.expected_reward_of(s, a);
    }
  const auto q = [&](State s, Action a) {
    return reward[s * num_actions + a] + gamma * w[next[s * num_actions + a]];
  };
  const auto best_of = [&](State s) {
    double best = q(s, 0);
    for (Action a = 1; a < num_actions; ++a) best = std::max(best, q(s, a));
    return best;
  };
  Solution solution;
  std::vector<Outcome> successors;
  const double enough = (1 - gamma) * tolerance;
  for (double change = enough + 1; change > enough; ++solution.iterations) {
    change = 0;
    for (std::uint32_t u = 0; u < w.size(); ++u) {
      model.successors(u, successors);
      double sum = 0;
      for (const Outcome& o : successors)
        if (!model.is_terminal(o.next)) sum += o.probability * best_of(o.next);
      change = std::max(change, std::abs(sum - w[u]));
      w[u] = sum;
    }
  }
  solution.values.v.assign(model.num_states(), 0);
  solution.values.q.assign(model.num_states() * num_actions, 0);
  solution.policy.assign(model.num_states(), 0);
  for (State s = 0; s < model.num_states(); ++s) {
    if (model.is_terminal(s)) continue;
    for (Action a = 0; a < num_actions; ++a) solution.values.q[s * num_actions + a] = q(s, a);
    const auto row = row_of(model, solution.values.q, s);
    const auto best = std::ranges::max_element(row);
    solution.policy[s] = static_cast<Action>(best - row.begin());
    solution.values.v[s] = *best;
  }
  return solution;
}

Solution policy_iteration(const Model& model, double gamma) {
  require_discount(gamma);
  check_model(model);
  Solution solution;
  solution.policy.assign(model.num_states(), 0);
  for (bool stable = false; !stable; ++solution.iterations) {
    if (solution.iterations == kMaxPolicies)
      throw Error(Errc::data, "policy iteration does not come to an end");
    solution.values =
        evaluate_policy(model, deterministic_policy(solution.policy, model.num_actions()), gamma);
    stable = true;
    for (State s = 0; s < model.num_states(); ++s) {
      const auto row = row_of(model, solution.values.q, s);
      const auto best = std::ranges::max_element(row);
      // Only a real gain counts: rounding errors must not make two equal actions alternate.
      const double gain = *best - row[solution.policy[s]];
      if (gain <= 1e-12 * (1 + std::abs(*best))) continue;
      solution.policy[s] = static_cast<Action>(best - row.begin());
      stable = false;
    }
  }
  return solution;
}

}  // namespace hilo
