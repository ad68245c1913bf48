#pragma once

#include <Eigen/LU>
#include <Eigen/Sparse>
#include <vector>

#include "hilo/exact/evaluate.hpp"

// For the sources of this folder only: not installed, so that users need no Eigen.
namespace hilo {

using SparseMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

// The Markov chain of a policy among the non-terminal states: P_pi(s, s'). Terminal rows and
// columns are zero.
SparseMatrix chain(const Model& model, const PolicyMatrix& policy);

// Makes it row by row, for who goes through the outcomes anyway: begin_row(), add() for every
// action with the policy's share of it, end_row(), and finalize() of the matrix after all rows.
class ChainBuilder {
 public:
  ChainBuilder(const Model& model, SparseMatrix& chain);
  void begin_row(State s);
  void add(double share, const std::vector<Outcome>& outcomes);
  void end_row();

 private:
  SparseMatrix& chain_;
  State state_ = 0;
  bool is_settled_ = false;  // one action has it all; others have shares of rounding errors
  std::vector<std::uint8_t> is_terminal_;
  std::vector<double> row_;
  std::vector<State> touched_;  // the non-zeros of the row: a sparse chain costs O(non-zeros)
};

// evaluate_from_start for a model with after-states.
StartValues evaluate_by_afterstates(const Model& model, const PolicyMatrix& policy, double gamma,
                                    std::uint32_t max_steps);

// What one step of a policy pays, split by whether the episode ends with it.
struct StepRewards {
  explicit StepRewards(Eigen::Index num_states);

  // The outcomes of an action of s with the policy's share of it; all actions of a state in a row.
  void add(const Model& model, State s, double share, const std::vector<Outcome>& outcomes);
  // After all of them.
  void finish(const Model& model, const PolicyMatrix& policy, const SparseMatrix& go);

  Eigen::VectorXd ends, ends_paid;  // P(end | s) and E[r; end | s]
  // Where a step pays the same wherever it goes, E[r; s' | s] = paid(s) P(s' | s), and `pay` stays
  // empty; otherwise it has E[r; s' | s] among non-terminal states.
  Eigen::VectorXd paid;
  SparseMatrix pay;

 private:
  bool same_everywhere_ = true;
  Eigen::Index current_ = -1;  // state
};

// As in mean_reward.hpp, for a chain and rewards that are already there.
double expected_mean_reward(const Model& model, const StepRewards& step, const SparseMatrix& go,
                            std::uint32_t max_steps, double tolerance);

class ChainSolver;

// Values of a policy by a solver of its chain and gamma, which can serve several rewards.
Values evaluate_policy(const Model& model, const PolicyMatrix& policy, double gamma,
                       const RewardFunction& reward, const ChainSolver& solver);

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
