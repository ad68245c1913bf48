#include "hilo/exact/mean_reward.hpp"

#include "hilo/exact/chain.hpp"

namespace hilo {
namespace {

// One step of the chain: where it goes, and what it pays on the way, split by whether it ends.
struct PolicyStep {
  SparseMatrix go;                  // P_pi(s, s') among non-terminal states
  SparseMatrix pay;                 // E[r; s'] likewise
  Eigen::VectorXd ends, ends_paid;  // P(end | s) and E[r; end | s]
};

PolicyStep policy_step(const Model& model, const PolicyMatrix& policy) {
  const auto n = static_cast<Eigen::Index>(model.num_states());
  PolicyStep step{chain(model, policy), SparseMatrix(n, n), Eigen::VectorXd::Zero(n),
                  Eigen::VectorXd::Zero(n)};
  step.pay = step.go;  // the same pattern
  std::vector<double> paid(model.num_states(), 0);
  std::vector<Outcome> outcomes;
  for (State s = 0; s < model.num_states(); ++s) {
    if (model.is_terminal(s)) continue;
    for (Action a = 0; a < model.num_actions(); ++a) {
      if (policy(s, a) == 0) continue;
      model.outcomes(s, a, outcomes);
      for (const Outcome& o : outcomes) {
        const double p = policy(s, a) * o.probability;
        if (model.is_terminal(o.next)) {
          step.ends[s] += p;
          step.ends_paid[s] += p * o.reward;
        } else {
          paid[o.next] += p * o.reward;
        }
      }
    }
    for (SparseMatrix::InnerIterator entry(step.pay, s); entry; ++entry) {
      double& value = paid[static_cast<std::size_t>(entry.col())];
      entry.valueRef() = value;
      value = 0;
    }
  }
  return step;
}

}  // namespace

double expected_mean_reward(const Model& model, const PolicyMatrix& policy, std::uint32_t max_steps,
                            double tolerance) {
  check_policy(model, policy, 1);
  const PolicyStep step = policy_step(model, policy);
  // Row vectors: running(s) = P(s_t = s, still running), collected(s) = E[sum of rewards; s_t = s].
  Eigen::RowVectorXd running = Eigen::RowVectorXd::Zero(step.go.rows());
  Eigen::RowVectorXd collected = running;
  for (const auto& [state, probability] : model.start_distribution()) running[state] = probability;

  double sum = 0;
  for (std::uint32_t t = 0; t < max_steps && running.sum() > tolerance; ++t) {
    const double length = t + 1.0;
    sum +=
        (collected.dot(step.ends.transpose()) + running.dot(step.ends_paid.transpose())) / length;
    const Eigen::RowVectorXd next_collected = collected * step.go + running * step.pay;
    running = running * step.go;
    collected = next_collected;
    if (t + 1 == max_steps || running.sum() <= tolerance) sum += collected.sum() / length;
  }
  return sum;
}

}  // namespace hilo
