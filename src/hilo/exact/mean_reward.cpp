#include "hilo/exact/mean_reward.hpp"

#include <cmath>

#include "hilo/exact/detail/chain.hpp"
#include "hilo/exact/evaluate.hpp"

namespace hilo {
namespace {

// Two row vectors over states: running(s) = P(s_t = s, still running) and
// collected(s) = E[sum of rewards; s_t = s].
using Front = Eigen::Matrix2Xd;
auto running(const Front& front) { return front.row(0); }
auto collected(const Front& front) { return front.row(1); }

// The front after one more step.
Front advance(const SparseMatrix& go, const StepRewards& step, const Front& now) {
  Front next = Front::Zero(2, now.cols());
  for (Eigen::Index s = 0; s < go.rows(); ++s) {
    Eigen::Vector2d here = now.col(s);
    if (here[0] == 0 && here[1] == 0) continue;  // not reached
    if (step.pay.size() == 0) here[1] += here[0] * step.paid[s];
    for (SparseMatrix::InnerIterator entry(go, s); entry; ++entry)
      next.col(entry.col()) += entry.value() * here;
  }
  if (step.pay.size() > 0) next.row(1) += running(now) * step.pay;
  return next;
}

// Expected sum of rewards of the episodes that end with the step.
double ending(const StepRewards& step, const Front& now) {
  return collected(now).dot(step.ends.transpose()) + running(now).dot(step.ends_paid.transpose());
}

double norm(const Front& front) { return front.lpNorm<1>(); }

// Most chains forget their start: after a while every step scales `running` by the same factor l,
// and `collected`, to which `running` contributes, is l^t (c + t d), so that both obey
// x(t + 2) = 2 l x(t + 1) - l^2 x(t). A chain that never settles, such as a ring, is followed to
// its end.
constexpr double kSettled = 1e-14;
bool has_settled(const Front& before, const Front& now, const Front& next, double lambda) {
  const double off = (running(next) - lambda * running(now)).lpNorm<1>();
  return off <= kSettled * running(next).lpNorm<1>() &&
         norm(next - 2 * lambda * now + lambda * lambda * before) <= kSettled * norm(next);
}

// A number of the same form, l^t (c + t d), computed from its values at two successive steps. It is
// kept as its value and the part that grows with t, so that rounding errors do not build up however
// slowly l^t falls.
struct Settled {
  double now, slope;
  Settled(double before, double after, double lambda)
      : now(after), slope(after - lambda * before) {}
  void advance(double lambda) {
    slope *= lambda;
    now = lambda * now + slope;
  }
};

// The recursion from a front after `steps` steps.
double mean_reward_from(const SparseMatrix& go, const StepRewards& step, const Front& start,
                        std::uint32_t steps, std::uint32_t max_steps, double tolerance) {
  Front before = Front::Zero(2, go.rows());
  Front now = start;
  double sum = 0;
  // The length of an episode that ends here is t + extra: t + 1 if the end is part of a step, t if
  // it comes before the step.
  const double extra = steps == 0 ? 1 : 0;
  std::uint32_t t = steps;
  for (; t < max_steps && running(now).sum() > tolerance; ++t) {
    sum += ending(step, now) / (t + extra);
    const Front next = advance(go, step, now);
    const double lambda = running(next).sum() / running(now).sum();
    const bool settled = t > steps && has_settled(before, now, next, lambda);
    before = now;
    now = next;
    if (!settled) continue;

    // From here on the recursion needs only scalars.
    Settled ends(ending(step, before), ending(step, now), lambda);
    Settled left(collected(before).sum(), collected(now).sum(), lambda);
    double still = running(now).sum();
    for (++t; t < max_steps && still > tolerance; ++t) {
      sum += ends.now / (t + extra);
      ends.advance(lambda);
      left.advance(lambda);
      still *= lambda;
    }
    return sum + left.now / t;
  }
  // Episodes that are still running count with their mean so far.
  return t == 0 ? 0 : sum + collected(now).sum() / t;
}

}  // namespace

StepRewards::StepRewards(Eigen::Index num_states)
    : ends(Eigen::VectorXd::Zero(num_states)),
      ends_paid(Eigen::VectorXd::Zero(num_states)),
      paid(Eigen::VectorXd::Zero(num_states)) {}

void StepRewards::add(const Model& model, State s, double share,
                      const std::vector<Outcome>& outcomes) {
  for (const Outcome& o : outcomes) {
    if (model.is_terminal(o.next)) {
      const double p = share * o.probability;
      ends[s] += p;
      ends_paid[s] += p * o.reward;
    }
    if (current_ != s) paid[s] = o.reward;
    current_ = s;
    same_everywhere_ = same_everywhere_ && o.reward == paid[s];
  }
}

void StepRewards::finish(const Model& model, const PolicyMatrix& policy, const SparseMatrix& go) {
  if (same_everywhere_) return;
  pay = go;  // the same pattern
  std::vector<double> row(model.num_states(), 0);
  std::vector<Outcome> outcomes;
  for (State s = 0; s < model.num_states(); ++s) {
    for (Action a = 0; a < model.num_actions() && !model.is_terminal(s); ++a) {
      if (policy(s, a) == 0) continue;
      model.outcomes(s, a, outcomes);
      for (const Outcome& o : outcomes)
        if (!model.is_terminal(o.next)) row[o.next] += policy(s, a) * o.probability * o.reward;
    }
    for (SparseMatrix::InnerIterator entry(pay, s); entry; ++entry) {
      double& value = row[static_cast<std::size_t>(entry.col())];
      entry.valueRef() = value;
      value = 0;
    }
  }
}

double expected_mean_reward(const Model& model, const PolicyMatrix& policy, std::uint32_t max_steps,
                            double tolerance) {
  check_policy(model, policy, 1);
  const SparseMatrix go = chain(model, policy);
  StepRewards step(go.rows());
  std::vector<Outcome> outcomes;
  for (State s = 0; s < model.num_states(); ++s)
    for (Action a = 0; a < model.num_actions() && !model.is_terminal(s); ++a) {
      if (policy(s, a) == 0) continue;
      model.outcomes(s, a, outcomes);
      step.add(model, s, policy(s, a), outcomes);
    }
  step.finish(model, policy, go);
  return expected_mean_reward(model, step, go, max_steps, tolerance);
}

double expected_mean_reward(const Model& model, const StepRewards& step, const SparseMatrix& go,
                            std::uint32_t max_steps, double tolerance) {
  Front start = Front::Zero(2, go.rows());
  for (const auto& [state, probability] : model.start_distribution()) start(0, state) = probability;
  return mean_reward_from(go, step, start, 0, max_steps, tolerance);
}

// Uses the chain over after-states: a step goes from an after-state to a successor state and from
// there, by the policy's action, to the next after-state. Episodes end at the successor, before the
// action, so that the end itself gives no reward.
StartValues evaluate_by_afterstates(const Model& model, const PolicyMatrix& policy, double gamma,
                                    std::uint32_t max_steps) {
  const auto n = static_cast<Eigen::Index>(model.num_afterstates());
  SparseMatrix go(n, n);
  SparseMatrix pay(n, n);
  StepRewards step(n);
  std::vector<double> mean_reward(model.num_afterstates(), 0);
  std::vector<Outcome> successors;
  std::vector<std::pair<double, double>> row(model.num_afterstates());  // P and E[r; .]
  std::vector<std::uint32_t> touched;
  const auto act = [&](State s, double p) {
    for (Action a = 0; a < model.num_actions(); ++a) {
      if (policy(s, a) == 0) continue;
      const std::uint32_t next = model.afterstate(s, a);
      if (row[next].first == 0) touched.push_back(next);
      row[next].first += p * policy(s, a);
      row[next].second += p * policy(s, a) * model.expected_reward_of(s, a);
    }
  };
  const auto take_row = [&](const auto& visit) {
    std::ranges::sort(touched);
    for (const std::uint32_t next : touched) {
      visit(next, row[next]);
      row[next] = {0, 0};
    }
    touched.clear();
  };
  for (Eigen::Index u = 0; u < n; ++u) {
    go.startVec(u);
    pay.startVec(u);
    model.successors(static_cast<std::uint32_t>(u), successors);
    for (const Outcome& o : successors) {
      if (model.is_terminal(o.next))
        step.ends[u] += o.probability;
      else
        act(o.next, o.probability);
    }
    take_row([&](std::uint32_t next, const std::pair<double, double>& entry) {
      go.insertBack(u, next) = entry.first;
      pay.insertBack(u, next) = entry.second;
      mean_reward[static_cast<std::size_t>(u)] += entry.second;
    });
  }
  go.finalize();
  pay.finalize();
  step.pay = std::move(pay);

  // The first step starts at a state.
  for (const auto& [state, probability] : model.start_distribution()) act(state, probability);
  Front start = Front::Zero(2, n);
  StartValues out;
  const std::vector<double> later = ChainSolver(go, gamma).solve(mean_reward);
  take_row([&](std::uint32_t next, const std::pair<double, double>& entry) {
    start(0, next) = entry.first;
    start(1, next) = entry.second;
    out.value += entry.second + gamma * entry.first * later[next];
  });
  if (max_steps > 0) out.mean_reward = mean_reward_from(go, step, start, 1, max_steps, kRunOut);
  return out;
}

}  // namespace hilo
