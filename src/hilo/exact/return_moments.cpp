#include "hilo/exact/return_moments.hpp"

#include "hilo/core/error.hpp"
#include "hilo/exact/chain.hpp"

namespace hilo {
namespace {

// E[G_x G_y] for two returns along one path, from their values:
//   m(s,a) = E[ r_x r_y + gamma (r_x v_y(s') + r_y v_x(s')) + gamma^2 m(s') ]
std::vector<double> mixed_moment(const Model& model, const PolicyMatrix& policy, double gamma,
                                 const ChainSolver& solver, const RewardFunction& reward_x,
                                 const Values& x, const RewardFunction& reward_y, const Values& y) {
  const std::size_t num_actions = model.num_actions();
  std::vector<double> m(model.num_states() * num_actions, 0);
  std::vector<double> known(model.num_states(), 0);
  std::vector<Outcome> outcomes;
  for (State s = 0; s < model.num_states(); ++s)
    for (Action a = 0; a < num_actions && !model.is_terminal(s); ++a) {
      model.outcomes(s, a, outcomes);
      double& sum = m[s * num_actions + a];
      for (const Outcome& o : outcomes) {
        const double rx = reward_x(s, a, o);
        const double ry = reward_y(s, a, o);
        sum += o.probability * (rx * ry + gamma * (rx * y.v[o.next] + ry * x.v[o.next]));
      }
      known[s] += policy(s, a) * sum;
    }
  const std::vector<double> m_of_state = solver.solve(known);
  for (State s = 0; s < model.num_states(); ++s)
    for (Action a = 0; a < num_actions && !model.is_terminal(s); ++a) {
      model.outcomes(s, a, outcomes);
      double future = 0;
      for (const Outcome& o : outcomes) future += o.probability * m_of_state[o.next];
      m[s * num_actions + a] += gamma * gamma * future;
    }
  return m;
}

std::vector<double> centred(std::vector<double> mixed, const Values& x, const Values& y) {
  for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] -= x.q[i] * y.q[i];
  return mixed;
}

double own_reward(State /*s*/, Action /*a*/, const Outcome& o) { return o.reward; }

}  // namespace

ReturnMoments return_moments(const Model& model, const PolicyMatrix& policy, double gamma) {
  const Values values = evaluate_policy(model, policy, gamma);
  const ChainSolver solver(chain(model, policy), gamma * gamma);
  auto square = mixed_moment(model, policy, gamma, solver, own_reward, values, own_reward, values);
  return {values.q, centred(std::move(square), values, values)};
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
  const Values high = evaluate_policy(*model, policy, gamma);
  const Values low = evaluate_policy(*model, policy, gamma, low_reward);
  const ChainSolver solver(chain(*model, policy), gamma * gamma);
  const auto covariance = [&](const RewardFunction& rx, const Values& x, const RewardFunction& ry,
                              const Values& y) {
    return centred(mixed_moment(*model, policy, gamma, solver, rx, x, ry, y), x, y);
  };
  return {.high = {high.q, covariance(own_reward, high, own_reward, high)},
          .low_on_path = {low.q, covariance(low_reward, low, low_reward, low)},
          .covariance = covariance(own_reward, high, low_reward, low)};
}

}  // namespace hilo
