#include "hilo/estimator/pooled_evidence.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/estimator/offset_posterior.hpp"

namespace hilo {
namespace {

constexpr double kLargestWeight = 1e6;
constexpr std::uint64_t kFewestUpdates = 1024;  // between two recomputations of all sums

double steady_variance(double variance, double freedom, double pooled) {
  constexpr double kPrior = PooledEvidence::kPriorReturns;
  return (freedom * variance + kPrior * pooled) / (freedom + kPrior);
}

}  // namespace

PooledEvidence::PooledEvidence(std::size_t num_pairs, double forgetting)
    : entries_(num_pairs), forgetting_(forgetting) {
  require_within("forgetting", forgetting, 0.9, 1);
}

void PooledEvidence::add(Sums& sums, const Entry& e, double sign) {
  const double weight = sign * e.weight;
  const double w = weight * e.precision;
  const double ww = w * e.weight * e.precision;
  sums.weight += weight;
  sums.w += w;
  sums.w_d += w * e.difference;
  sums.w_dd += w * e.difference * e.difference;
  sums.w_v += w * e.noise;
  sums.ww += ww;
  sums.ww_v += ww * e.noise;
  const double freedom = weight * e.freedom;
  sums.freedom += freedom;
  sums.var_high += freedom * e.var_high;
  sums.var_low += freedom * e.var_low;
  sums.cov += freedom * e.cov;
  const double free_freedom = weight * e.free_freedom;
  sums.free_freedom += free_freedom;
  sums.var_free += free_freedom * e.var_free;
}

void PooledEvidence::update(std::size_t pair, const Evidence& evidence) {
  Entry& entry = entries_[pair];
  if (entry.weight > 0)
    add(sums_, entry, -1);
  else
    ++num_seen_;

  const bool seen_before = entry.weight > 0;
  const double move_low = evidence.paired.mean_y() - entry.mean_low;
  entry.mean_low = evidence.paired.mean_y();
  entry.weight = weight_;
  entry.freedom = std::max(0.0, evidence.paired.effective_count() - 1);
  entry.var_high = evidence.paired.variance_x();
  entry.var_low = evidence.paired.variance_y();
  entry.cov = evidence.paired.covariance();
  entry.free_freedom = std::max(0.0, evidence.free.effective_count() - 1);
  entry.var_free = evidence.free.variance();
  const SteadyMoments steady_now = steady(evidence);
  const bool usable = evidence.free.count() > 0 && steady_now.var_low > 0 && steady_now.noise() > 0;
  const double unit = unit_square(steady_now);
  entry.difference = usable ? steady_now.difference / std::sqrt(unit) : 0;
  entry.noise = usable ? steady_now.noise() / unit : 0;
  entry.precision = usable ? 1 / (entry.noise + bias_.variance) : 0;
  add(sums_, entry, 1);
  if (seen_before && usable) {
    const double move = entry.precision * move_low / std::sqrt(unit);
    move_ += move;
    squares_ += move * move;
  }

  weight_ /= forgetting_;
  if (++updates_ >= std::max<std::uint64_t>(entries_.size(), kFewestUpdates) ||
      weight_ > kLargestWeight)
    resynchronise();
  fit_bias();
}

void PooledEvidence::end_episode() {
  clusters_.together += weight_ * move_ * move_;
  clusters_.apart += weight_ * squares_;
  move_ = squares_ = 0;
}

// Recomputes all sums, so that the rounding errors of adding and subtracting do not build up, and
// sets the precision of every pair's difference from the current estimate of the bias variance.
void PooledEvidence::resynchronise() {
  sums_ = {};
  for (Entry& entry : entries_) {
    if (entry.weight == 0) continue;
    entry.weight = std::max(entry.weight / weight_, std::numeric_limits<double>::min());
    if (entry.precision > 0) entry.precision = 1 / (entry.noise + bias_.variance);
    add(sums_, entry, 1);
  }
  clusters_.together /= weight_;
  clusters_.apart /= weight_;
  weight_ = 1;
  updates_ = 0;
}

void PooledEvidence::fit_bias() {
  const Sums& s = sums_;
  bias_ = {};
  if (num_seen_ < kFewestPairs || !(s.w > 0)) return;
  bias_.square = std::max(0.0, (s.w_dd - s.w_v) / s.w);
  const double mean = s.w_d / s.w;
  // With F = inflation(), Var[mean] = F sum w^2 v / (sum w)^2 if there is no spread, and
  // E[sum w (d - mean)^2] = sum w v - F sum w^2 v / sum w + tau^2 (sum w - sum w^2 / sum w)
  const double noise = inflation() * s.ww_v / s.w;
  const double q = s.w_dd - s.w_d * mean;
  const double freedom = s.w - s.ww / s.w;
  if (freedom > 0) bias_.variance = std::max(0.0, (q - std::max(0.0, s.w_v - noise)) / freedom);
  const OffsetPosterior offset(mean, (noise + s.ww / s.w * bias_.variance) / s.w, bias_.variance);
  bias_.offset = offset.mean();
  bias_.offset_variance = offset.variance();
}

double PooledEvidence::alpha() const { return sums_.var_low > 0 ? sums_.cov / sums_.var_low : 0; }

double PooledEvidence::correlation() const {
  if (!(sums_.var_low > 0 && sums_.var_high > 0)) return 0;
  return std::clamp(sums_.cov / std::sqrt(sums_.var_low * sums_.var_high), -1.0, 1.0);
}

SteadyMoments PooledEvidence::steady(const Evidence& evidence) const {
  const auto pooled = [](double sum, double freedom) { return freedom > 0 ? sum / freedom : 0; };
  const CoMoments& paired = evidence.paired;
  SteadyMoments out{.n = paired.effective_count(),
                    .m = evidence.free.effective_count(),
                    .mean_high = paired.mean_x(),
                    .difference = evidence.free.mean() - paired.mean_y()};
  const double pooled_free = pooled(sums_.var_free, sums_.free_freedom);
  out.var_free = steady_variance(evidence.free.variance(), std::max(0.0, out.m - 1), pooled_free);
  const double relative = pooled_free > 0 ? out.var_free / pooled_free : 1;
  out.var_high = steady_variance(paired.variance_x(), std::max(0.0, out.n - 1),
                                 relative * pooled(sums_.var_high, sums_.freedom));
  out.var_low = steady_variance(paired.variance_y(), std::max(0.0, out.n - 1),
                                relative * pooled(sums_.var_low, sums_.freedom));
  return out;
}

void PooledEvidence::save(ArchiveWriter& out) const {
  out.value(forgetting_);
  out.array<Entry>(entries_);
  out.value(sums_);
  out.value(bias_);
  out.value(clusters_);
  out.value(weight_);
  out.value(num_seen_);
  out.value(updates_);
}

void PooledEvidence::load(ArchiveReader& in) {
  in.expect("forgetting", forgetting_);
  in.array<Entry>("number of pairs", entries_);
  sums_ = in.value<Sums>();
  bias_ = in.value<Bias>();
  clusters_ = in.value<Clusters>();
  weight_ = in.value<double>();
  num_seen_ = in.value<std::uint64_t>();
  updates_ = in.value<std::uint64_t>();
}

}  // namespace hilo
