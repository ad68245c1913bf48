#include "hilo/exact/detail/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseLU>

#include "hilo/core/detail/fixed_blocking.hpp"
#include "hilo/core/error.hpp"
#include "hilo/env/model_check.hpp"

namespace hilo {
namespace {

constexpr Eigen::Index kDenseStates = 300;  // up to this size dense elimination is fastest
constexpr double kTolerance = 1e-14;        // of the relative residual
constexpr double kNotSolved = std::numeric_limits<double>::infinity();

}  // namespace

SparseMatrix chain(const Model& model, const PolicyMatrix& policy) {
  const auto n = static_cast<Eigen::Index>(model.num_states());
  SparseMatrix p(n, n);
  ChainBuilder builder(model, p);
  std::vector<Outcome> outcomes;
  for (State s = 0; s < model.num_states(); ++s) {
    builder.begin_row(s);
    for (Action a = 0; a < model.num_actions() && !model.is_terminal(s); ++a) {
      if (policy(s, a) == 0) continue;
      model.outcomes(s, a, outcomes);
      builder.add(policy(s, a), outcomes);
    }
    builder.end_row();
  }
  p.finalize();
  return p;
}

ChainBuilder::ChainBuilder(const Model& model, SparseMatrix& chain)
    : chain_(chain), is_terminal_(model.num_states()), row_(model.num_states(), 0) {
  for (State s = 0; s < model.num_states(); ++s) is_terminal_[s] = model.is_terminal(s) ? 1 : 0;
}

void ChainBuilder::begin_row(State s) {
  state_ = s;
  is_settled_ = false;
  chain_.startVec(s);
}

void ChainBuilder::add(double share, const std::vector<Outcome>& outcomes) {
  if (is_settled_) return;
  if (share == 1 && touched_.empty()) {  // the only action, and its outcomes are sorted
    is_settled_ = true;
    for (const Outcome& o : outcomes)
      if (!is_terminal_[o.next]) chain_.insertBackByOuterInner(state_, o.next) = o.probability;
    return;
  }
  for (const Outcome& o : outcomes) {
    if (row_[o.next] == 0) touched_.push_back(o.next);
    row_[o.next] += share * o.probability;
  }
}

void ChainBuilder::end_row() {
  const auto store = [&](State next) {
    if (!is_terminal_[next]) chain_.insertBackByOuterInner(state_, next) = row_[next];
    row_[next] = 0;
  };
  if (touched_.size() > row_.size() / 8) {
    for (State next = 0; next < row_.size(); ++next)
      if (row_[next] != 0) store(next);
  } else {
    if (!std::ranges::is_sorted(touched_)) std::ranges::sort(touched_);
    for (const State next : touched_) store(next);
  }
  touched_.clear();
}

void check_policy(const Model& model, const PolicyMatrix& policy, double gamma) {
  require_within("gamma", gamma, 0, 1);
  check_model(model);
  if (policy.num_states != model.num_states() || policy.num_actions != model.num_actions())
    throw Error(Errc::usage,
                fmt::format("a policy of {} states and {} actions does not fit a problem of {} and "
                            "{}",
                            policy.num_states, policy.num_actions, model.num_states(),
                            model.num_actions()));
}

ChainSolver::ChainSolver(const SparseMatrix& chain, double factor) {
  fix_blocking();
  // The matrix is built entry by entry, as an expression of sparse matrices takes several passes.
  system_.resize(chain.rows(), chain.cols());
  system_.reserve(chain.nonZeros() + chain.rows());
  for (Eigen::Index s = 0; s < chain.rows(); ++s) {
    system_.startVec(s);
    bool diagonal_done = false;
    for (SparseMatrix::InnerIterator entry(chain, s); entry; ++entry) {
      if (entry.col() >= s && !diagonal_done) {
        diagonal_done = true;
        if (entry.col() == s) {
          system_.insertBack(s, s) = 1 - factor * entry.value();
          continue;
        }
        system_.insertBack(s, s) = 1;
      }
      system_.insertBack(s, entry.col()) = -(factor * entry.value());
    }
    if (!diagonal_done) system_.insertBack(s, s) = 1;
  }
  system_.finalize();
  if (chain.rows() <= kDenseStates) dense_.compute(Eigen::MatrixXd(system_));
}

Eigen::VectorXd ChainSolver::solve_sparse(const Eigen::VectorXd& rhs) const {
  Eigen::BiCGSTAB<SparseMatrix> iterative(system_);
  iterative.setTolerance(kTolerance);
  Eigen::VectorXd x = iterative.solve(rhs);
  if (residual(x, rhs) <= 100 * kTolerance) return x;
  // The iteration can fail for chains that mix slowly; elimination does not.
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
  // A chain that never ends makes the system singular if the factor is 1.
  if (!x.allFinite() || !(residual(x, rhs) < 1e-8))
    throw Error(Errc::data, "the policy never ends: its values are not finite");
  return {x.begin(), x.end()};
}

}  // namespace hilo
