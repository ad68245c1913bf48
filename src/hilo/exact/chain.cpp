#include "hilo/exact/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseLU>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

constexpr Eigen::Index kDenseStates = 300;  // below, elimination is fastest
constexpr double kTolerance = 1e-14;        // of the relative residual
constexpr double kNotSolved = std::numeric_limits<double>::infinity();

}  // namespace

SparseMatrix chain(const Model& model, const PolicyMatrix& policy) {
  const auto n = static_cast<Eigen::Index>(model.num_states());
  SparseMatrix p(n, n);
  std::vector<double> row(model.num_states(), 0);
  std::vector<State> touched;  // the non-zeros of the row: a sparse chain costs O(non-zeros)
  std::vector<Outcome> outcomes;
  for (State s = 0; s < model.num_states(); ++s) {
    p.startVec(s);
    if (model.is_terminal(s)) continue;
    for (Action a = 0; a < model.num_actions(); ++a) {
      if (policy(s, a) == 0) continue;
      model.outcomes(s, a, outcomes);
      if (policy(s, a) == 1) {  // the only one, and already in order
        for (const Outcome& o : outcomes)
          if (!model.is_terminal(o.next)) p.insertBack(s, o.next) = o.probability;
        break;
      }
      for (const Outcome& o : outcomes) {
        if (row[o.next] == 0) touched.push_back(o.next);
        row[o.next] += policy(s, a) * o.probability;
      }
    }
    std::ranges::sort(touched);
    for (const State next : touched) {
      if (!model.is_terminal(next)) p.insertBack(s, next) = row[next];
      row[next] = 0;
    }
    touched.clear();
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

Eigen::VectorXd ChainSolver::solve_sparse(const Eigen::VectorXd& rhs) const {
  Eigen::BiCGSTAB<SparseMatrix> iterative(system_);
  iterative.setTolerance(kTolerance);
  Eigen::VectorXd x = iterative.solve(rhs);
  if (residual(x, rhs) <= 100 * kTolerance) return x;
  // Chains that mix slowly can defeat the iteration, but not elimination.
  const Eigen::SparseMatrix<double> columns = system_;
  const Eigen::SparseLU<Eigen::SparseMatrix<double>> direct(columns);
  if (direct.info() != Eigen::Success) return Eigen::VectorXd::Constant(rhs.size(), kNotSolved);
  return direct.solve(rhs);
}

double ChainSolver::residual(const Eigen::VectorXd& x, const Eigen::VectorXd& rhs) const {
  return (rhs - system_ * x).norm() / std::max(rhs.norm(), 1e-300);
}

std::vector<double> ChainSolver::solve(const std::vector<double>& b) const {
  const Eigen::VectorXd rhs =
      Eigen::Map<const Eigen::VectorXd>(b.data(), static_cast<Eigen::Index>(b.size()));
  if (rhs.isZero(0)) return std::vector<double>(b.size(), 0);
  const Eigen::VectorXd x =
      system_.rows() <= kDenseStates ? Eigen::VectorXd(dense_.solve(rhs)) : solve_sparse(rhs);
  // A chain that never ends, with a factor of 1, makes the system singular.
  if (!x.allFinite() || !(residual(x, rhs) < 1e-8))
    throw Error(Errc::data, "the policy never ends: its values are not finite");
  return {x.begin(), x.end()};
}

}  // namespace hilo
