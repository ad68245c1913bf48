#include "hilo/exact/optimum.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/exact/solve.hpp"

namespace hilo {
namespace {

constexpr double kTie = 1e-9;  // actions whose values are closer are equally good

}  // namespace

Optimum find_optimum(const Model& model, double gamma, std::uint32_t max_steps) {
  const Solution solution = model.num_afterstates() > 0 ? solve_afterstates(model, gamma)
                                                        : policy_iteration(model, gamma);
  const std::vector<double>& q = solution.values.q;
  const std::size_t num_actions = model.num_actions();
  Optimum optimum;
  optimum.optimal.resize(q.size());
  for (State s = 0; s < model.num_states(); ++s) {
    const auto row = q.begin() + static_cast<std::ptrdiff_t>(s * num_actions);
    const double best = *std::max_element(row, row + static_cast<std::ptrdiff_t>(num_actions));
    for (Action a = 0; a < num_actions; ++a)
      optimum.optimal[s * num_actions + a] =
          q[s * num_actions + a] >= best - kTie * (1 + std::abs(best)) ? 1 : 0;
  }
  const StartValues start = evaluate_from_start(
      model, deterministic_policy(solution.policy, num_actions), gamma, max_steps);
  optimum.value = start.value;
  optimum.mean_reward = start.mean_reward;
  return optimum;
}

double share_of_optimal_actions(const Model& model, const Optimum& optimum,
                                const PolicyMatrix& policy) {
  double share = 0;
  std::size_t num_states = 0;
  for (State s = 0; s < model.num_states(); ++s) {
    if (model.is_terminal(s)) continue;
    ++num_states;
    for (Action a = 0; a < model.num_actions(); ++a)
      if (optimum.optimal[s * model.num_actions() + a] != 0) share += policy(s, a);
  }
  return num_states > 0 ? share / static_cast<double>(num_states) : 1;
}

}  // namespace hilo
