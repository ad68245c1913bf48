#include "hilo/exact/return_moments.hpp"

#include "hilo/core/error.hpp"
#include "hilo/exact/chain.hpp"

namespace hilo {
namespace {

// One of the two returns along a path: what its steps pay, and what it is worth.
struct PathReturn {
  RewardFunction reward;
  Values values;
};

// Covariance of two returns along one path, by the law of total covariance:
//   cov(s,a) = E[ d_x d_y ] + gamma^2 E[ cov(s') ],   d = r + gamma v(s') - q(s,a)
//   cov(s)   = E_pi[ cov(s,a) + (q_x - v_x) (q_y - v_y) ]
// Centred throughout, so that returns without spread get a covariance of zero up to rounding.
std::vector<double> covariance(const Model& model, const PolicyMatrix& policy, double gamma,
                               const ChainSolver& solver, const PathReturn& x,
                               const PathReturn& y) {
  const std::size_t num_actions = model.num_actions();
  std::vector<double> cov(model.num_states() * num_actions, 0);
  std::vector<double> known(model.num_states(), 0);
  std::vector<Outcome> outcomes;
  for (State s = 0; s < model.num_states(); ++s)
    for (Action a = 0; a < num_actions && !model.is_terminal(s); ++a) {
      model.outcomes(s, a, outcomes);
      const std::size_t i = s * num_actions + a;
      for (const Outcome& o : outcomes) {
        const double dx = x.reward(s, a, o) + gamma * x.values.v[o.next] - x.values.q[i];
        const double dy = y.reward(s, a, o) + gamma * y.values.v[o.next] - y.values.q[i];
        cov[i] += o.probability * dx * dy;
      }
      known[s] += policy(s, a) *
                  (cov[i] + (x.values.q[i] - x.values.v[s]) * (y.values.q[i] - y.values.v[s]));
    }
  const std::vector<double> of_state = solver.solve(known);
  for (State s = 0; s < model.num_states(); ++s)
    for (Action a = 0; a < num_actions && !model.is_terminal(s); ++a) {
      model.outcomes(s, a, outcomes);
      double future = 0;
      for (const Outcome& o : outcomes) future += o.probability * of_state[o.next];
      cov[s * num_actions + a] += gamma * gamma * future;
    }
  return cov;
}

double own_reward(State /*s*/, Action /*a*/, const Outcome& o) { return o.reward; }

}  // namespace

ReturnMoments return_moments(const Model& model, const PolicyMatrix& policy, double gamma) {
  const PathReturn g{own_reward, evaluate_policy(model, policy, gamma)};
  const ChainSolver solver(chain(model, policy), gamma * gamma);
  return {g.values.q, covariance(model, policy, gamma, solver, g, g)};
}

PairedReturnMoments paired_return_moments(const FidelityPair& pair, const PolicyMatrix& policy,
                                          double gamma) {
  const Model* model = pair.high().model();
  if (model == nullptr)
    throw Error(Errc::usage, "exact moments need a high fidelity whose distribution is known");
  const StateMap& map = pair.map();
  const RewardFunction low_reward = [&](State s, Action a, const Outcome& o) {
    return pair.low().reward(map.low_of(s), a, map.low_of(o.next));
  };
  const PathReturn high{own_reward, evaluate_policy(*model, policy, gamma)};
  const PathReturn low{low_reward, evaluate_policy(*model, policy, gamma, low_reward)};
  const ChainSolver solver(chain(*model, policy), gamma * gamma);
  const auto cov = [&](const PathReturn& x, const PathReturn& y) {
    return covariance(*model, policy, gamma, solver, x, y);
  };
  return {.high = {high.values.q, cov(high, high)},
          .low_on_path = {low.values.q, cov(low, low)},
          .covariance = cov(high, low)};
}

}  // namespace hilo
