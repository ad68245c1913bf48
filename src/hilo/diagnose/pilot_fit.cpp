#include "hilo/diagnose/pilot_fit.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/estimator/pooled_evidence.hpp"

namespace hilo {
namespace {

constexpr std::uint32_t kUnseen = 0xffffffffU;

}  // namespace

PilotFits::PilotFits(const FidelityPair& pair, const Pilot& pilot) : pair_(pair), pilot_(pilot) {
  // The pairs seen, numbered in order of first appearance.
  index_of_.assign(pair.high().num_states() * pilot.num_actions, kUnseen);
  for (const CoupledReturn& r : pilot.returns)
    if (index_of_[r.pair] == kUnseen) {
      index_of_[r.pair] = static_cast<std::uint32_t>(seen_.size());
      seen_.push_back(r.pair);
    }
}

const Moments& PilotFits::free_of(std::size_t k) const {
  const auto s = static_cast<State>(seen_[k] / pilot_.num_actions);
  return pilot_.free[pair_.map().low_of(s) * pilot_.num_actions + seen_[k] % pilot_.num_actions];
}

double PilotFits::returns_beside() const {
  std::vector<double> count(seen_.size());
  for (const CoupledReturn& r : pilot_.returns) count[index_of_[r.pair]] += 1;
  double sum = 0;
  for (const double n : count) sum += n * (n - 1);
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
  fit_bias(out);
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

// As the estimator sees them: estimator/pooled_evidence.hpp.
void PilotFits::describe_pairs(PilotFit& out) const {
  constexpr double kPrior = PooledEvidence::kPriorReturns;
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
    out.pairs.push_back({.weight = n - 1,
                         .var_high = moments_[k].variance_x(),
                         .covariance = moments_[k].covariance(),
                         .var_low = var_low,
                         .var_free = var_free,
                         .unit = std::sqrt(bias_unit_square(var_low, out.var_low)),
                         .difference = free_of(k).mean() - moments_[k].mean_y(),
                         .noise = var_low / n + var_free / m});
  }
}

// Moments of b / u over the pairs (DerSimonian and Kacker 2007), first with weights of the noise
// alone, then with the spread that these gave.
void PilotFits::fit_bias(PilotFit& out) {
  for (int round = 0; round < 2; ++round) {
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
    if (!(freedom > 0)) return;
    out.offset = wd / w;
    out.bias_square = (wdd - wv) / w;
    out.raw_spread = (wdd - wd * out.offset - (wv - wwv / w)) / freedom;
    out.spread = std::max(0.0, out.raw_spread);
  }
}

double error_ratio(const PilotFit& fit, const PilotFit& gains, double n, double m, Judge judge) {
  const double alpha = gains.var_low > 0 ? gains.covariance / gains.var_low : 0;
  double change = 0, plain = 0;
  for (const PairFit& p : fit.pairs) {
    plain += p.weight * p.var_high / n;
    const double v = p.var_low / n + p.var_free / m;
    if (!(v > 0)) continue;
    const double k = alpha * p.var_low / n / (v + gains.spread * p.unit * p.unit);
    const double miss = p.difference - fit.offset * p.unit;
    const double bias_square =
        judge == Judge::model ? fit.raw_spread * p.unit * p.unit : miss * miss - p.noise;
    change += p.weight * (-2 * k * p.covariance / n + k * k * (v + bias_square));
  }
  return plain > 0 ? 1 + change / plain : 1;
}

double expected_error(const PilotFit& fit, double n, double m) {
  if (!(fit.var_low > 0 && fit.var_high > 0)) return 1;
  const double alpha = fit.covariance / fit.var_low;
  double gain = 0, weight = 0;
  for (const PairFit& p : fit.pairs) {
    const double c = alpha * p.var_low / n;
    const double v = p.var_low / n + p.var_free / m;
    gain += p.weight * c * c / (v + fit.spread * p.unit * p.unit);
    weight += p.weight;
  }
  const double least = 1 - alpha * fit.covariance / fit.var_high;
  return std::max(1 - gain / weight / (fit.var_high / n), std::max(least, 1e-6));
}

}  // namespace hilo
