#pragma once

#include <Eigen/LU>
#include <Eigen/Sparse>
#include <vector>

#include "hilo/env/environment.hpp"
#include "hilo/exact/policy_matrix.hpp"

// For the sources of this folder only: not installed, so that users need no Eigen.
namespace hilo {

using SparseMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

// The Markov chain of a policy among the non-terminal states: P_pi(s, s'). Terminal rows and
// columns are zero.
SparseMatrix chain(const Model& model, const PolicyMatrix& policy);

// evaluate_from_start for a model with after-states.
struct StartValues;
StartValues evaluate_by_afterstates(const Model& model, const PolicyMatrix& policy, double gamma,
                                    std::uint32_t max_steps);

// As in mean_reward.hpp, for a chain that is already there.
double expected_mean_reward(const Model& model, const PolicyMatrix& policy, const SparseMatrix& go,
                            std::uint32_t max_steps, double tolerance);

// Throws Errc::usage unless the sizes fit and gamma is in [0, 1].
void check_policy(const Model& model, const PolicyMatrix& policy, double gamma);

// Solves x = b + factor * P x for one chain and many right-hand sides b.
class ChainSolver {
 public:
  ChainSolver(const SparseMatrix& chain, double factor);
  std::vector<double> solve(const std::vector<double>& b) const;

 private:
  Eigen::VectorXd solve_sparse(const Eigen::VectorXd& rhs) const;
  double residual(const Eigen::VectorXd& x, const Eigen::VectorXd& rhs) const;

  SparseMatrix system_;                         // I - factor * P
  Eigen::PartialPivLU<Eigen::MatrixXd> dense_;  // for small systems
};

}  // namespace hilo
