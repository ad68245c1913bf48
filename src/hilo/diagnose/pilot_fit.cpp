#include "hilo/diagnose/pilot_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "hilo/core/portable_math.hpp"
#include "hilo/estimator/offset_posterior.hpp"
#include "hilo/estimator/pooled_evidence.hpp"

namespace hilo {
namespace {

constexpr std::uint32_t kUnseen = 0xffffffffU;

}  // namespace

PilotFits::PilotFits(const Fidelities& pair, const Pilot& pilot) : pair_(pair), pilot_(pilot) {
  // The pairs seen, numbered in order of first appearance.
  index_of_.assign(pair.high().num_states() * pilot.num_actions, kUnseen);
  for (const CoupledReturn& r : pilot.returns)
    if (index_of_[r.pair] == kUnseen) {
      index_of_[r.pair] = static_cast<std::uint32_t>(seen_.size());
      seen_.push_back(r.pair);
      counts_.push_back(0);
    }
  for (const CoupledReturn& r : pilot.returns) counts_[index_of_[r.pair]] += 1;
}

const Moments& PilotFits::free_of(std::size_t k) const {
  const auto s = static_cast<State>(seen_[k] / pilot_.num_actions);
  return pilot_.free[pair_.map().low_of(s) * pilot_.num_actions + seen_[k] % pilot_.num_actions];
}

double PilotFits::returns_beside() const {
  double sum = 0;
  for (const double n : counts_) sum += n * (n - 1);
  return sum / static_cast<double>(pilot_.returns.size());
}

double PilotFits::free_per_coupled() const {
  double free = 0;
  for (std::size_t k = 0; k < seen_.size(); ++k) free += static_cast<double>(free_of(k).count());
  return free / static_cast<double>(pilot_.returns.size());
}

PilotFit PilotFits::fit(std::uint32_t left_out) {
  moments_.assign(seen_.size(), {});
  for (const CoupledReturn& r : pilot_.returns)
    if (r.episode % kPilotGroups != left_out) moments_[index_of_[r.pair]].add(r.high, r.low);
  PilotFit out;
  pool_variances(out);
  if (!(out.var_low > 0)) return out;
  describe_pairs(out);
  for (int round = 0; round < 2; ++round) {
    cluster_offset(out, left_out);
    fit_bias(out);
  }
  return out;
}

void PilotFits::pool_variances(PilotFit& out) const {
  double free_freedom = 0;
  for (std::size_t k = 0; k < seen_.size(); ++k) {
    if (!usable(k)) continue;
    const double freedom = static_cast<double>(moments_[k].count()) - 1;
    out.freedom += freedom;
    out.var_high += freedom * moments_[k].variance_x();
    out.var_low += freedom * moments_[k].variance_y();
    out.covariance += freedom * moments_[k].covariance();
    const double of_free = static_cast<double>(free_of(k).count()) - 1;
    free_freedom += of_free;
    out.var_free += of_free * free_of(k).variance();
  }
  if (!(out.freedom > 0)) return;
  for (double* sum : {&out.var_high, &out.var_low, &out.covariance}) *sum /= out.freedom;
  out.var_free /= free_freedom;
}

// Computes the moments of pairs as the estimator does: estimator/pooled_evidence.hpp.
void PilotFits::describe_pairs(PilotFit& out) {
  constexpr double kPrior = PooledEvidence::kPriorReturns;
  fit_of_.assign(seen_.size(), kUnseen);
  for (std::size_t k = 0; k < seen_.size(); ++k) {
    if (!usable(k)) continue;
    const auto n = static_cast<double>(moments_[k].count());
    const auto m = static_cast<double>(free_of(k).count());
    const double var_free =
        ((m - 1) * free_of(k).variance() + kPrior * out.var_free) / (m - 1 + kPrior);
    const double relative = out.var_free > 0 ? var_free / out.var_free : 1;
    const double var_low =
        ((n - 1) * moments_[k].variance_y() + kPrior * relative * out.var_low) / (n - 1 + kPrior);
    if (!(var_low > 0)) continue;
    fit_of_[k] = static_cast<std::uint32_t>(out.pairs.size());
    out.pairs.push_back({.weight = n - 1,
                         .free_per_coupled = m / counts_[k],
                         .var_high = moments_[k].variance_x(),
                         .covariance = moments_[k].covariance(),
                         .own_var_low = moments_[k].variance_y(),
                         .var_low = var_low,
                         .var_free = var_free,
                         .unit = std::sqrt(bias_unit_square(var_low, out.var_low)),
                         .difference = free_of(k).mean() - moments_[k].mean_y(),
                         .noise = var_low / n + var_free / m});
  }
}

// Moments of b / u over the pairs (DerSimonian and Kacker 2007), with weights from the current
// spread and with the inflation by clusters.
void PilotFits::fit_bias(PilotFit& out) {
  double w = 0, wd = 0, wdd = 0, wv = 0, ww = 0, wwv = 0;
  for (const PairFit& p : out.pairs) {
    const double v = p.noise / (p.unit * p.unit);
    const double weight = 1 / (v + out.spread);
    const double d = p.difference / p.unit;
    w += weight;
    wd += weight * d;
    wdd += weight * d * d;
    wv += weight * v;
    ww += weight * weight;
    wwv += weight * weight * v;
  }
  const double freedom = w - ww / w;
  if (!(freedom > 1e-9 * w)) return;  // a single pair, up to rounding
  out.offset = wd / w;
  out.bias_square = (wdd - wv) / w;
  const double noise = out.inflation * wwv / w;
  out.raw_spread = (wdd - wd * out.offset - std::max(0.0, wv - noise)) / freedom;
  out.spread = std::max(0.0, out.raw_spread);
  out.offset_variance = (noise + ww / w * out.spread) / w;
}

// The inflation of the variance of the mean of d / u if episodes are independent, but not the pairs
// of one episode: the sum of the squared contributions of episodes, divided by what it would be if
// pairs were independent.
void PilotFits::cluster_offset(PilotFit& out, std::uint32_t left_out) const {
  double together = 0, apart = 0, move = 0;
  std::uint32_t episode = 0;
  for (const CoupledReturn& r : pilot_.returns) {
    if (r.episode % kPilotGroups == left_out) continue;
    const std::size_t k = index_of_[r.pair];
    if (fit_of_[k] == kUnseen) continue;
    if (r.episode != episode) {
      together += move * move;
      move = 0;
      episode = r.episode;
    }
    const PairFit& p = out.pairs[fit_of_[k]];
    const double weight = 1 / (p.noise / (p.unit * p.unit) + out.spread);
    const auto n = static_cast<double>(moments_[k].count());
    // n (n - 1), because a return is closer to the sample mean that it is part of than to the true
    // mean.
    const double own = weight / p.unit * (r.low - moments_[k].mean_y()) / std::sqrt(n * (n - 1));
    move += own;
    apart += own * own;
  }
  together += move * move;
  out.inflation = apart > 0 ? std::max(1.0, together / apart) : 1;
}

namespace {

// The standard normal distribution as points with weights.
constexpr int kPoints = 33;
constexpr double kWidest = 4;  // standard deviations

struct NormalPoint {
  double z, weight;
};

std::array<NormalPoint, kPoints> normal_points() {
  std::array<NormalPoint, kPoints> points{};
  double weights = 0;
  for (int i = 0; i < kPoints; ++i) {
    const double z = kWidest * (2.0 * i / (kPoints - 1) - 1);
    points[static_cast<std::size_t>(i)] = {z, portable_exp(-z * z / 2)};
    weights += points[static_cast<std::size_t>(i)].weight;
  }
  for (NormalPoint& point : points) point.weight /= weights;
  return points;
}

struct OffsetError {
  double square = 0;   // E[(m - mu)^2], with m the estimate of mu in the training
  double product = 0;  // E[(m - mu) (x - mu)], with x the weighted mean in the training
};

// Averages over the posterior of mu after the pilot, and over the random outcome of the training,
// whose weighted mean of d / u has the variance v.
OffsetError offset_error(const PilotFit& fit, double v, double spread) {
  OffsetError out;
  const OffsetPosterior now(fit.offset, fit.offset_variance, spread);
  static const std::array<NormalPoint, kPoints> kNormal = normal_points();
  const auto average = [](double mean, double variance, const auto& f) {
    const double deviation = std::sqrt(variance);
    for (const NormalPoint& point : kNormal) f(mean + deviation * point.z, point.weight);
  };
  for (const OffsetPosterior::Part& part : now.parts()) {
    if (part.weight < 1e-6) continue;
    average(part.mean, part.variance, [&](double mu, double of_mu) {
      average(mu, v, [&](double x, double of_x) {
        const double miss = OffsetPosterior(x, v, spread).mean() - mu;
        out.square += part.weight * of_mu * of_x * miss * miss;
        out.product += part.weight * of_mu * of_x * miss * (x - mu);
      });
    });
  }
  return out;
}

// The variance that the weighted mean of d / u will have in the training.
double planned_offset_variance(const PilotFit& fit, double spread, const PlannedReturns& planned) {
  double w = 0, wwv = 0, ww = 0;
  for (const PairFit& p : fit.pairs) {
    const double v =
        (p.var_low / planned.coupled() + p.var_free / planned.free(p)) / p.unit / p.unit;
    if (!(v > 0)) continue;
    const double weight = 1 / (v + spread);
    w += weight;
    ww += weight * weight;
    wwv += weight * weight * v;
  }
  return w > 0 ? (fit.inflation * wwv + ww * spread) / (w * w) : 0;
}

}  // namespace

// Let e be the error of the plain mean, delta that of d, and x - mu that of the weighted mean,
// which is part of both: e = -alpha u (x - mu) + ..., delta = u (x - mu) + ... on average over the
// pairs. Then
//   E[(e + k (delta + b - m u))^2] =
//       s_h^2 / n - 2 k cov / n + k^2 (v + (b - mu u)^2)
//       + u^2 (k^2 E[(m - mu)^2] + 2 k (alpha - k) E[(m - mu) (x - mu)]).
double error_ratio(const PilotFit& fit, const Gains& gains, const PlannedReturns& planned,
                   Judge judge) {
  const OffsetError offset =
      offset_error(fit, planned_offset_variance(fit, gains.spread, planned), gains.spread);
  double change = 0, plain = 0;
  for (const PairFit& p : fit.pairs) {
    const double n = planned.coupled();
    plain += p.weight * p.var_high / n;
    const double unit_square = p.unit * p.unit;
    const double v = p.var_low / n + p.var_free / planned.free(p);
    if (!(v > 0)) continue;
    const double k = gains.alpha * p.var_low / n / (v + gains.spread * unit_square);
    const double miss = p.difference - fit.offset * p.unit;
    const double bias_square = judge == Judge::model
                                   ? gains.spread * unit_square
                                   : miss * miss - p.noise + fit.offset_variance * unit_square;
    const double common =
        unit_square * (k * k * offset.square + 2 * k * (gains.alpha - k) * offset.product);
    const double noise = p.own_var_low / n + p.var_free / planned.free(p);
    change += p.weight * (-2 * k * p.covariance / n + k * k * (noise + bias_square) + common);
  }
  return plain > 0 ? 1 + change / plain : 1;
}

}  // namespace hilo
