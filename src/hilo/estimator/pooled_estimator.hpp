#pragma once

#include <algorithm>
#include <cmath>

#include "hilo/estimator/pooled_evidence.hpp"

namespace hilo {

// The common part of the estimators that learn from all pairs together:
//
//   Q = mean_hi + k (d - mu),   d = mean of the free returns - mean of the coupled ones,
//
// where each estimator has its own gain k and offset mu. With c = alpha s_l^2 / n the covariance of
// the two sample means and v the sampling variance of d, the expected squared error is
//
//   s_h^2 / n - 2 k c + k^2 (v + E[(b - mu)^2]).
class PooledEstimator : public Estimator {
 public:
  void update(std::size_t pair, const Evidence& evidence) override { pool_.update(pair, evidence); }
  void end_episode() override { pool_.end_episode(); }

  CorrectedEstimate estimate(const Evidence& evidence) const override {
    const SteadyMoments x = pool_.steady(evidence);
    CorrectedEstimate out{.value = x.mean_high};
    const double plain = x.n > 0 ? x.var_high / x.n : 0;
    if (plain > 0) out.standard_error = std::sqrt(plain);
    const double alpha = pool_.ready() && correctable(evidence) ? alpha_of(evidence) : 0;
    if (alpha == 0 || !(plain > 0) || !(x.noise() > 0)) return out;

    const Gain gain = gain_of(x, alpha);
    const double c = alpha * x.var_low / x.n;
    const double error = plain - 2 * gain.k * c + gain.k * gain.k * (x.noise() + gain.bias_square);
    // No pair can gain more than the correlation allows, whatever the noise in its own moments.
    const double rho = pool_.correlation();
    const double expected = std::max(error, (1 - rho * rho) * plain);
    out.value += gain.k * (x.difference - gain.offset);
    out.standard_error = std::sqrt(expected);
    out.variance_ratio = expected / plain;
    out.correlation = rho;
    out.corrected = gain.k != 0;
    return out;
  }

  PooledFindings findings() const override {
    return {.alpha = pool_.alpha(),
            .bias_offset = pool_.bias_offset(),
            .bias_spread = std::sqrt(pool_.bias_variance())};
  }

  const PooledEvidence& pool() const { return pool_; }
  void save(ArchiveWriter& out) const override { pool_.save(out); }
  void load(ArchiveReader& in) override { pool_.load(in); }

 protected:
  struct Gain {
    double k;            // the factor of d - mu
    double offset = 0;   // mu
    double bias_square;  // E[(b - mu)^2], as far as the estimator knows
  };

  PooledEstimator(const EstimatorOptions& options, std::size_t num_pairs)
      : alpha_(options.alpha), pool_(num_pairs, options.forgetting) {}

  virtual Gain gain_of(const SteadyMoments& x, double alpha) const = 0;

 private:
  // Whether a pair may be corrected. High-fidelity returns that are all equal have no error to
  // correct: a correction would only break ties between actions for which the high fidelity has
  // shown no difference, for example where rewards are rare. A single return cannot show whether
  // returns are equal, and in large problems most of the benefit is in pairs with a single return,
  // so these are corrected.
  static bool correctable(const Evidence& evidence) {
    const std::uint64_t n = evidence.paired.count();
    return (n == 1 || (n > 1 && evidence.paired.variance_x() > 0)) && evidence.free.count() > 0;
  }

  double alpha_of(const Evidence& evidence) const {
    if (alpha_ == Alpha::pooled) return pool_.alpha();
    const double var_low = evidence.paired.variance_y();
    if (!(var_low > 0)) return alpha_ == Alpha::own ? 0 : pool_.alpha();
    const double own = evidence.paired.covariance() / var_low;
    if (alpha_ == Alpha::own) return own;
    const double n = evidence.paired.effective_count() - 1;
    constexpr double kPrior = PooledEvidence::kPriorReturns;
    return (n * own + kPrior * pool_.alpha()) / (n + kPrior);
  }

  Alpha alpha_;
  PooledEvidence pool_;
};

}  // namespace hilo
