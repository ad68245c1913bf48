#pragma once

#include <cstddef>
#include <span>

namespace hilo {

// The paper's Lemma 1 and Theorems 1 and 2, with the errors of the text corrected (docs/math.md).

// A bounded random variable whose mean is estimated by a sample mean.
struct Bounded {
  double variance;  // sigma^2
  double b;         // |X - E[X]| <= b, so that Bernstein's condition holds with b
};

// b of a discounted return. An episode may end at any time and gives no rewards from then on, so a
// return lies between min(r_min, 0) / (1 - gamma) and max(r_max, 0) / (1 - gamma). So does its
// mean, and b is the difference of the two limits. (The text bounds |G|, not |G - E[G]|, by
// max{r_min, r_max} / (1 - gamma), which bounds neither if rewards are negative.)
double return_bound(double reward_min, double reward_max, double gamma);

// G_hi + alpha (Q_lo - G_lo): variance (1 - rho^2) sigma^2, and b = b_hi + |alpha| b_lo.
Bounded control_variate_of(const Bounded& high, double rho, double alpha, double b_low);

// Lemma 1: P(|mean of n - E[X]| >= xi) is at most
//   2 exp(-n xi^2 / (4 sigma^2))                   for xi <= sigma^2 / b, the range of the paper,
//   2 exp(-n xi / (2 b) + n sigma^2 / (4 b^2))     beyond, where its lambda* would leave (0, n/2b].
double tail_bound(const Bounded& x, double n, double xi);
double range_of_lemma_1(const Bounded& x);  // the largest xi to which the first form applies

// Theorem 1: the fewest samples n with P(|mean - E[X]| <= xi) >= 1 - delta by Lemma 1,
// which is 4 sigma^2 / xi^2 log(2 / delta) for xi in the range of the paper.
double samples_needed(const Bounded& x, double xi, double delta);
// The same from the variance alone, which holds if b is at most sigma^2 / xi.
double samples_needed_within_lemma_1(double variance, double xi, double delta);

// An action that is compared with the best one.
struct Rival {
  double gap;       // Delta_i = Q(s, a_1) - Q(s, a_i) > 0
  double variance;  // of the estimate of Q(s, a_i): (1 - rho_i^2) sigma_i^2 / n
};

// Theorem 2: the best action a_1 is greedy under the estimates with at least the probability
//   prod over i of Delta_i^2 / (Delta_i^2 + Var[Q(a_1)] + Var[Q(a_i)]),
// if the estimates of different actions are independent because their samples come from different
// episodes. (The text requires P(s | s', a) >= beta(s) instead, which no episodic problem meets,
// and its second part repeats the variance of a_i where that of a_1 is meant.)
double greedy_is_best_bound(double best_variance, std::span<const Rival> rivals);

}  // namespace hilo
