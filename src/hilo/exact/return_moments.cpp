#include "hilo/exact/return_moments.hpp"

#include "hilo/core/error.hpp"
#include "hilo/exact/detail/chain.hpp"

namespace hilo {
namespace {

// One of the two returns along a path: its rewards and its values.
struct PathReturn {
  RewardFunction reward;
  Values values;
};

// Variances and covariance of two returns x and y along one path, [s * num_actions + a].
struct Covariances {
  std::vector<double> xx, yy, xy;
};

// By the law of total covariance:
//   cov(s,a) = E[ d_x d_y ] + gamma^2 E[ cov(s') ],   d = r + gamma v(s') - q(s,a)
//   cov(s)   = E_pi[ cov(s,a) + (q_x - v_x) (q_y - v_y) ]
// All terms are centred, so that returns that do not vary get a covariance of zero up to rounding.
// All three are computed together, as going through the outcomes of the model takes most time.
Covariances covariances(const Model& model, const PolicyMatrix& policy, double gamma,
                        const ChainSolver& solver, const PathReturn& x, const PathReturn& y) {
  const std::size_t num_actions = model.num_actions();
  const std::size_t num_pairs = model.num_states() * num_actions;
  Covariances cov{.xx = std::vector<double>(num_pairs, 0),
                  .yy = std::vector<double>(num_pairs, 0),
                  .xy = std::vector<double>(num_pairs, 0)};
  Covariances known{.xx = std::vector<double>(model.num_states(), 0),
                    .yy = std::vector<double>(model.num_states(), 0),
                    .xy = std::vector<double>(model.num_states(), 0)};
  std::vector<Outcome> outcomes;
  for (State s = 0; s < model.num_states(); ++s)
    for (Action a = 0; a < num_actions && !model.is_terminal(s); ++a) {
      model.outcomes(s, a, outcomes);
      const std::size_t i = s * num_actions + a;
      double xx = 0;
      double yy = 0;
      double xy = 0;
      for (const Outcome& o : outcomes) {
        const double dx = x.reward(s, a, o) + gamma * x.values.v[o.next] - x.values.q[i];
        const double dy = y.reward(s, a, o) + gamma * y.values.v[o.next] - y.values.q[i];
        xx += o.probability * dx * dx;
        yy += o.probability * dy * dy;
        xy += o.probability * dx * dy;
      }
      cov.xx[i] = xx;
      cov.yy[i] = yy;
      cov.xy[i] = xy;
      const double of_x = x.values.q[i] - x.values.v[s];
      const double of_y = y.values.q[i] - y.values.v[s];
      known.xx[s] += policy(s, a) * (xx + of_x * of_x);
      known.yy[s] += policy(s, a) * (yy + of_y * of_y);
      known.xy[s] += policy(s, a) * (xy + of_x * of_y);
    }
  const Covariances of_state{
      .xx = solver.solve(known.xx), .yy = solver.solve(known.yy), .xy = solver.solve(known.xy)};
  for (State s = 0; s < model.num_states(); ++s)
    for (Action a = 0; a < num_actions && !model.is_terminal(s); ++a) {
      model.outcomes(s, a, outcomes);
      double xx = 0;
      double yy = 0;
      double xy = 0;
      for (const Outcome& o : outcomes) {
        xx += o.probability * of_state.xx[o.next];
        yy += o.probability * of_state.yy[o.next];
        xy += o.probability * of_state.xy[o.next];
      }
      cov.xx[s * num_actions + a] += gamma * gamma * xx;
      cov.yy[s * num_actions + a] += gamma * gamma * yy;
      cov.xy[s * num_actions + a] += gamma * gamma * xy;
    }
  return cov;
}

double own_reward(State /*s*/, Action /*a*/, const Outcome& o) { return o.reward; }

}  // namespace

ReturnMoments return_moments(const Model& model, const PolicyMatrix& policy, double gamma) {
  const PathReturn g{own_reward, evaluate_policy(model, policy, gamma)};
  const ChainSolver solver(chain(model, policy), gamma * gamma);
  return {g.values.q, covariances(model, policy, gamma, solver, g, g).xx};
}

PairedReturnMoments paired_return_moments(const Fidelities& pair, const PolicyMatrix& policy,
                                          double gamma) {
  const Model* model = pair.high().model();
  if (model == nullptr)
    throw Error(Errc::usage, "exact moments need a high fidelity whose distribution is known");
  check_policy(*model, policy, gamma);
  const StateMap& map = pair.map();
  const RewardFunction low_reward = [&](State s, Action a, const Outcome& o) {
    return pair.low().reward(map.low_of(s), a, map.low_of(o.next));
  };
  const SparseMatrix go = chain(*model, policy);
  const ChainSolver values_solver(go, gamma);
  const PathReturn high{own_reward,
                        evaluate_policy(*model, policy, gamma, own_reward, values_solver)};
  const PathReturn low{low_reward,
                       evaluate_policy(*model, policy, gamma, low_reward, values_solver)};
  Covariances cov = covariances(*model, policy, gamma, ChainSolver(go, gamma * gamma), high, low);
  return {.high = {high.values.q, std::move(cov.xx)},
          .low_on_path = {low.values.q, std::move(cov.yy)},
          .covariance = std::move(cov.xy)};
}

}  // namespace hilo
