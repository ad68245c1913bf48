#include "hilo/model/reward_regression.hpp"

#include <algorithm>

namespace hilo {
namespace {

// The prior counts as much as two pairs on the line r_hi = r_lo, with residuals as large as the
// spread of the low fidelity's own rewards.
constexpr double kPriorPairs = 2;

}  // namespace

void RewardRegression::count_pair(const RewardMeans& pair, double sign) {
  between_.num += sign;
  between_.x += sign * pair.x;
  between_.y += sign * pair.y;
  between_.xx += sign * pair.x * pair.x;
  between_.xy += sign * pair.x * pair.y;
  between_.yy += sign * pair.y * pair.y;
  between_.inverse_counts += sign / static_cast<double>(pair.count);
}

void RewardRegression::observe(double x, double y, RewardMeans& pair) {
  if (pair.count > 0) {
    count_pair(pair, -1);
    ++within_.freedom;
  }
  ++pair.count;
  const double dx = x - pair.x, dy = y - pair.y;
  pair.x += dx / static_cast<double>(pair.count);
  pair.y += dy / static_cast<double>(pair.count);
  within_.xx += dx * (x - pair.x);
  within_.xy += dx * (y - pair.y);
  within_.yy += dy * (y - pair.y);
  count_pair(pair, 1);
}

RewardFit RewardRegression::fit() const {
  return fit(with_low_, low_variance_ > 0 ? low_variance_ : 1);
}

RewardFit RewardRegression::fit_alone() const { return fit(false, 1); }

RewardFit RewardRegression::fit(bool with_low, double prior_variance) const {
  RewardFit fit;
  if (between_.num == 0) {
    fit.slope = with_low ? 1 : 0;
    fit.pair_variance = prior_variance;
    return fit;
  }
  const double mean_x = between_.x / between_.num, mean_y = between_.y / between_.num;
  const double s_xx = std::max(0.0, between_.xx - between_.num * mean_x * mean_x);
  const double s_xy = between_.xy - between_.num * mean_x * mean_y;
  const double s_yy = std::max(0.0, between_.yy - between_.num * mean_y * mean_y);
  const double prior = kPriorPairs * prior_variance;
  fit.slope = with_low ? (s_xy + prior) / (s_xx + prior) : 0;
  fit.offset = mean_y - fit.slope * mean_x;
  fit.mean_x = mean_x;

  const auto residual = [&](double yy, double xy, double xx) {
    return std::max(0.0, yy - 2 * fit.slope * xy + fit.slope * fit.slope * xx);
  };
  if (within_.freedom > 0)
    fit.noise_variance = residual(within_.yy, within_.xy, within_.xx) / within_.freedom;
  // The residuals of means have the variance pair_variance + noise_variance / n. The part of the
  // prior pairs is never attributed to noise: a pair_variance of 0 would rule out for good that any
  // pair has rewards of its own.
  const double pairs = between_.num + kPriorPairs;
  const double from_noise = fit.noise_variance * between_.inverse_counts / between_.num;
  fit.pair_variance =
      std::max(prior / pairs, (residual(s_yy, s_xy, s_xx) + prior) / pairs - from_noise);
  return fit;
}

void RewardRegression::save(ArchiveWriter& out) const {
  out.value(low_variance_);
  out.value(between_);
  out.value(within_);
}

void RewardRegression::load(ArchiveReader& in) {
  low_variance_ = in.value<double>();
  between_ = in.value<Between>();
  within_ = in.value<Within>();
}

}  // namespace hilo
