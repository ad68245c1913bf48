#include "hilo/exact/chain.hpp"

#include <fmt/format.h>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseLU>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

constexpr Eigen::Index kDenseStates = 300;  // below, elimination is fastest
constexpr double kTolerance = 1e-14;        // of the relative residual

}  // namespace

SparseMatrix chain(const Model& model, const PolicyMatrix& policy) {
  const auto n = static_cast<Eigen::Index>(model.num_states());
  SparseMatrix p(n, n);
  std::vector<double> row(model.num_states(), 0);
  std::vector<Outcome> outcomes;
  for (State s = 0; s < model.num_states(); ++s) {
    p.startVec(s);
    if (model.is_terminal(s)) continue;
    for (Action a = 0; a < model.num_actions(); ++a) {
      if (policy(s, a) == 0) continue;
      model.outcomes(s, a, outcomes);
      for (const Outcome& o : outcomes) row[o.next] += policy(s, a) * o.probability;
    }
    for (State next = 0; next < model.num_states(); ++next) {
      if (row[next] != 0 && !model.is_terminal(next)) p.insertBack(s, next) = row[next];
      row[next] = 0;
    }
  }
  p.finalize();
  return p;
}

void check_policy(const Model& model, const PolicyMatrix& policy, double gamma) {
  require_within("gamma", gamma, 0, 1);
  if (policy.num_states != model.num_states() || policy.num_actions != model.num_actions())
    throw Error(Errc::usage,
                fmt::format("a policy of {} states and {} actions does not fit a problem of {} and "
                            "{}",
                            policy.num_states, policy.num_actions, model.num_states(),
                            model.num_actions()));
}

ChainSolver::ChainSolver(const SparseMatrix& chain, double factor) {
  SparseMatrix identity(chain.rows(), chain.cols());
  identity.setIdentity();
  system_ = identity - factor * chain;
  if (chain.rows() <= kDenseStates) dense_.compute(Eigen::MatrixXd(system_));
}

std::vector<double> ChainSolver::solve(const std::vector<double>& b) const {
  const Eigen::Map<const Eigen::VectorXd> rhs(b.data(), static_cast<Eigen::Index>(b.size()));
  Eigen::VectorXd x;
  if (system_.rows() <= kDenseStates) {
    x = dense_.solve(rhs);
  } else {
    Eigen::BiCGSTAB<SparseMatrix> iterative(system_);
    iterative.setTolerance(kTolerance);
    x = iterative.solve(rhs);
    // Chains that mix slowly can defeat the iteration; elimination cannot be defeated.
    if ((rhs - system_ * x).norm() > 100 * kTolerance * rhs.norm()) {
      const Eigen::SparseMatrix<double> columns = system_;
      const Eigen::SparseLU<Eigen::SparseMatrix<double>> direct(columns);
      if (direct.info() != Eigen::Success)
        throw Error(Errc::data, "the policy never ends: its values are not finite");
      x = direct.solve(rhs);
    }
  }
  if (!x.allFinite()) throw Error(Errc::data, "the policy never ends: its values are not finite");
  return {x.begin(), x.end()};
}

}  // namespace hilo
