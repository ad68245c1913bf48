#pragma once

#include <Eigen/LU>
#include <Eigen/Sparse>
#include <vector>

#include "hilo/exact/evaluate.hpp"

// For the source files of this folder only. It is not installed, so that users need no Eigen.
namespace hilo {

using SparseMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

// The Markov chain of a policy among the non-terminal states: P_pi(s, s'). Terminal rows and
// columns are zero.
SparseMatrix chain(const Model& model, const PolicyMatrix& policy);

// Builds the chain row by row, for callers that go through the outcomes anyway. For each row call
// begin_row(), add() for every action with its probability under the policy, and end_row(); after
// all rows call finalize() of the matrix.
class ChainBuilder {
 public:
  ChainBuilder(const Model& model, SparseMatrix& chain);
  void begin_row(State s);
  void add(double share, const std::vector<Outcome>& outcomes);
  void end_row();

 private:
  SparseMatrix& chain_;
  State state_ = 0;
  bool is_settled_ = false;  // one action has probability 1, the others only rounding errors
  std::vector<std::uint8_t> is_terminal_;
  std::vector<double> row_;
  std::vector<State> touched_;  // the non-zeros of the row: a sparse chain costs O(non-zeros)
};

// evaluate_from_start for a model with after-states.
StartValues evaluate_by_afterstates(const Model& model, const PolicyMatrix& policy, double gamma,
                                    std::uint32_t max_steps);

// The rewards of one step of a policy, split by whether the episode ends with it.
struct StepRewards {
  explicit StepRewards(Eigen::Index num_states);

  // Adds the outcomes of an action of s that has the probability `share` under the policy. All
  // actions of a state must follow one another.
  void add(const Model& model, State s, double share, const std::vector<Outcome>& outcomes);
  // Call after all outcomes have been added.
  void finish(const Model& model, const PolicyMatrix& policy, const SparseMatrix& go);

  Eigen::VectorXd ends, ends_paid;  // P(end | s) and E[r; end | s]
  // If in every state the reward does not depend on the action and the next state, then
  // E[r; s' | s] = paid(s) P(s' | s) and `pay` stays empty. Otherwise `pay` holds E[r; s' | s]
  // among non-terminal states.
  Eigen::VectorXd paid;
  SparseMatrix pay;

 private:
  bool same_everywhere_ = true;
  Eigen::Index current_ = -1;  // state
};

// As in mean_reward.hpp, for a chain and rewards that are already computed.
double expected_mean_reward(const Model& model, const StepRewards& step, const SparseMatrix& go,
                            std::uint32_t max_steps, double tolerance);

class ChainSolver;

// Values of a policy from a solver for its chain and gamma, which can be shared by several reward
// functions.
Values evaluate_policy(const Model& model, const PolicyMatrix& policy, double gamma,
                       const RewardFunction& reward, const ChainSolver& solver);

// Throws unless gamma is in [0, 1], the model passes check_model() and the sizes match.
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
