#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hilo {

// A policy gradient with a cheap simulator's gradient as control variate. An expensive episode and
// its cheap counterpart give the vectors h_i and l_i; m n more cheap paths give l alone:
//
//   g = mean_i h_i + c (mean of the free l - mean_i l_i)
//   E g = E h for every c that is chosen without them
//   tr Cov(g) / tr Cov(mean h) = 1 - 2 c C/H + c^2 (L/H) (1 + 1/m),   C = tr Cov(h, l),
//                                                                     H = tr Cov h, L = tr Cov l
//   least at c = m/(1 + m) C/L, where it is 1 - rho^2 m/(1 + m),      rho = C / sqrt(H L)
//
// One number c for the whole vector: a coefficient for each coordinate would need many more
// episodes to be known.

// One batch of pairs. Vectors are columns, one after the other.
struct GradientPairs {
  std::size_t dimension = 0;
  std::vector<double> high, low;

  std::size_t size() const { return dimension > 0 ? high.size() / dimension : 0; }
  std::vector<double> mean_high() const;
  std::vector<double> mean_low() const;
};

// C, H and L from batches so far. Older ones count for less, because policies change; deviations
// are taken from the mean of each batch, because means change too.
class GradientMoments {
 public:
  struct State {
    double cross = 0, high = 0, low = 0;  // sums of h.l, h.h and l.l of deviations
    double freedom = 0;                   // pairs, less one for each batch
    // Sums of (h.l)^2, (h.l)(l.l) and (l.l)^2, with squared weights: for the spread of C/L.
    double cross_squares = 0, cross_low = 0, low_squares = 0;
  };

  explicit GradientMoments(double kept = 0.95) : kept_(kept) {}

  void add(const GradientPairs& batch);

  // 0 unless both vary.
  double rho() const;
  // The end of the one-sided 95 % confidence interval of rho that is nearer to 0, or 0 if that has
  // the other sign. What is uncertain is the slope C/L: its standard error is taken from the pairs'
  // own residuals, which have any distribution and variances of their own (White 1980), and is
  // larger where a few large gradients decide.
  double safe_rho() const;
  // The coefficient for safe_rho() and m free paths for each pair: 0 where it is not known that it
  // pays.
  double coefficient(double m) const;
  // tr Cov relative to the plain mean with coefficient c and m free paths for each pair.
  double variance_ratio(double c, double m) const;

  const State& state() const { return state_; }
  void restore(const State& state) { state_ = state; }

 private:
  double kept_;
  State state_;
};

// The estimate g above.
std::vector<double> controlled_gradient(const GradientPairs& batch, double coefficient,
                                        std::span<const double> free_mean);

}  // namespace hilo
