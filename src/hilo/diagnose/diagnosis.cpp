#include "hilo/diagnose/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hilo/core/error.hpp"
#include "hilo/estimator/costs.hpp"
#include "hilo/estimator/pooled_evidence.hpp"

namespace hilo {
namespace {

constexpr std::uint32_t kGroups = 20;  // of episodes, left out one by one
constexpr double kStudent95 = 2.093;   // two-sided 95 % point of t with kGroups - 1 degrees
constexpr double kNormal95 = 1.959964;
constexpr std::uint32_t kNoGroup = kGroups;
constexpr double kFewestFreedom = 20;        // returns beyond the first of their pairs
constexpr double kMatters = 0.05;            // a change of the error worth knowing
constexpr double kNegligible = 1e-3;         // less than this is nothing to gain
constexpr std::uint64_t kEnoughReturns = 8;  // for a correlation of a pair of its own
constexpr std::size_t kShownPairs = 5;
constexpr double kMostRollouts = 1000;  // the largest m considered

// A pair as a set of episodes shows it.
struct PairFit {
  double weight;                // returns beyond the first
  double var_high, covariance;  // unbiased
  double var_low, var_free;     // drawn to those of all pairs
  double difference;            // d = mean of free - mean of coupled returns
  double noise;                 // v, its sampling variance
};

// Everything that is estimated from a set of episodes.
struct Fit {
  double freedom = 0;
  double var_high = 0, var_low = 0, covariance = 0, var_free = 0;  // pooled within pairs
  double raw_spread = 0;                           // tau^2 before it is kept from being negative
  double offset = 0, bias_square = 0, spread = 0;  // of biases in units of s_l: mean, mean square,
                                                   // and variance tau^2
  std::vector<PairFit> pairs;
};

// By what the bias that a gain k lets through is judged.
enum class Judge : std::uint8_t {
  own_bias,  // each pair's own, so that a wrong model of the biases shows; needs many episodes
  model,     // the fitted spread, which a short pilot can tell
};

// The error of the empirical-Bayes estimate with n coupled and m free returns, over that of plain
// Monte Carlo.
//
// The gains are those of `gains`, the fit of all episodes, so that what is left to vary when some
// are left out is smooth.
double error_ratio(const Fit& fit, const Fit& gains, double n, double m, Judge judge) {
  const double alpha = gains.var_low > 0 ? gains.covariance / gains.var_low : 0;
  double change = 0, plain = 0;
  for (const PairFit& p : fit.pairs) {
    plain += p.weight * p.var_high / n;
    const double v = p.var_low / n + p.var_free / m;
    if (!(v > 0)) continue;
    const double k = alpha * p.var_low / n / (v + gains.spread * p.var_low);
    const double miss = p.difference - fit.offset * std::sqrt(p.var_low);
    const double bias_square =
        judge == Judge::model ? fit.raw_spread * p.var_low : miss * miss - p.noise;
    change += p.weight * (-2 * k * p.covariance / n + k * k * (v + bias_square));
  }
  return plain > 0 ? 1 + change / plain : 1;
}

// The same as the model itself expects it, never below what the correlation allows: a smooth curve
// for weighing costs.
double expected_error(const Fit& fit, double n, double m) {
  if (!(fit.var_low > 0 && fit.var_high > 0)) return 1;
  const double alpha = fit.covariance / fit.var_low;
  double gain = 0, weight = 0;
  for (const PairFit& p : fit.pairs) {
    const double c = alpha * p.var_low / n;
    const double v = p.var_low / n + p.var_free / m;
    gain += p.weight * c * c / (v + fit.spread * p.var_low);
    weight += p.weight;
  }
  const double least = 1 - alpha * fit.covariance / fit.var_high;
  return std::max(1 - gain / weight / (fit.var_high / n), std::max(least, 1e-6));
}

class Analysis {
 public:
  Analysis(const FidelityPair& pair, const Pilot& pilot) : pair_(pair), pilot_(pilot) {
    // The pairs seen, numbered in order of first appearance.
    index_of_.assign(pair.high().num_states() * pilot.num_actions, kUnseen);
    for (const CoupledReturn& r : pilot.returns)
      if (index_of_[r.pair] == kUnseen) {
        index_of_[r.pair] = static_cast<std::uint32_t>(seen_.size());
        seen_.push_back(r.pair);
      }
  }

  const std::vector<std::uint32_t>& seen() const { return seen_; }

  // Free returns that a pair has for each of its coupled ones. Where several high-fidelity states
  // share a low-fidelity one they share its free returns, so this is more than were paid for.
  double free_per_coupled() const {
    double free = 0;
    for (std::size_t k = 0; k < seen_.size(); ++k) free += static_cast<double>(free_of(k).count());
    return free / static_cast<double>(pilot_.returns.size());
  }
  const std::vector<CoMoments>& moments() const { return moments_; }  // of the last fit

  Fit fit(std::uint32_t left_out) {
    moments_.assign(seen_.size(), {});
    for (const CoupledReturn& r : pilot_.returns)
      if (r.episode % kGroups != left_out) moments_[index_of_[r.pair]].add(r.high, r.low);
    Fit out;
    pool_variances(out);
    if (!(out.var_low > 0)) return out;
    describe_pairs(out);
    fit_bias(out);
    return out;
  }

 private:
  static constexpr std::uint32_t kUnseen = 0xffffffffU;

  const Moments& free_of(std::size_t k) const {
    const auto s = static_cast<State>(seen_[k] / pilot_.num_actions);
    return pilot_.free[pair_.map().low_of(s) * pilot_.num_actions + seen_[k] % pilot_.num_actions];
  }
  bool usable(std::size_t k) const { return moments_[k].count() > 1 && free_of(k).count() > 1; }

  void pool_variances(Fit& out) const {
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
  void describe_pairs(Fit& out) const {
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
                           .difference = free_of(k).mean() - moments_[k].mean_y(),
                           .noise = var_low / n + var_free / m});
    }
  }

  // Moments of b / s_l over the pairs (DerSimonian and Kacker 2007), first with weights of the
  // noise alone, then with the spread that these gave.
  static void fit_bias(Fit& out) {
    for (int round = 0; round < 2; ++round) {
      double w = 0, wd = 0, wdd = 0, wv = 0, ww = 0, wwv = 0;
      for (const PairFit& p : out.pairs) {
        const double v = p.noise / p.var_low;
        const double weight = 1 / (v + out.spread);
        const double d = p.difference / std::sqrt(p.var_low);
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

  const FidelityPair& pair_;
  const Pilot& pilot_;
  std::vector<std::uint32_t> index_of_, seen_;
  std::vector<CoMoments> moments_;
};

// The jackknife over groups of episodes (Efron 1982): pairs that share an episode share its luck,
// so episodes are what is left out.
template <class Get>
WithInterval jackknife(const Fit& all, const std::vector<Fit>& without, Get&& get) {
  Moments pseudo;
  for (const Fit& fit : without) pseudo.add(kGroups * get(all) - (kGroups - 1) * get(fit));
  const double half = kStudent95 * std::sqrt(pseudo.variance() / kGroups);
  return {pseudo.mean(), pseudo.mean() - half, pseudo.mean() + half};
}

void describe_correlations(const Analysis& analysis, const Pilot& pilot, Diagnosis& out) {
  std::vector<Diagnosis::PairCorrelation> found;
  for (std::size_t k = 0; k < analysis.seen().size(); ++k) {
    const CoMoments& m = analysis.moments()[k];
    if (m.count() < kEnoughReturns || !(m.variance_x() > 0 && m.variance_y() > 0)) continue;
    found.push_back({static_cast<State>(analysis.seen()[k] / pilot.num_actions),
                     static_cast<Action>(analysis.seen()[k] % pilot.num_actions), m.count(),
                     m.covariance() / std::sqrt(m.variance_x() * m.variance_y())});
  }
  out.correlated_pairs = found.size();
  if (found.empty()) return;
  std::ranges::stable_sort(found, {}, &Diagnosis::PairCorrelation::correlation);
  for (std::size_t i = 0; i < 5; ++i)
    out.correlation_quantiles[i] = found[i * (found.size() - 1) / 4].correlation;
  found.resize(std::min(found.size(), kShownPairs));
  out.least_correlated = std::move(found);
}

void test_pairs(const Fit& all, Diagnosis& out) {
  for (const PairFit& p : all.pairs) {
    ++out.pairs_tested;
    out.pairs_different += std::abs(p.difference) > kNormal95 * std::sqrt(p.noise) ? 1 : 0;
  }
}

// Costs of one return in either fidelity, in the same unit.
void weigh_costs(const Pilot& pilot, const DiagnosisPlan& plan, const Fit& all, Diagnosis& out) {
  const bool given = plan.cost_high > 0 && plan.cost_low > 0;
  out.cost_measured = !given;
  const double high =
      given ? plan.cost_high * static_cast<double>(pilot.high_steps) : pilot.high_seconds;
  const double low =
      given ? plan.cost_low * static_cast<double>(pilot.low_steps) : pilot.low_seconds;
  if (!(high > 0 && low > 0) || pilot.free_returns == 0 || all.pairs.empty()) return;
  out.cost_ratio = high / static_cast<double>(pilot.returns.size()) /
                   (low / static_cast<double>(pilot.free_returns));
  // The pilot's m gave so many free returns for each coupled one, paid and shared; others give in
  // proportion.
  const double paid = static_cast<double>(pilot.free_returns) /
                      static_cast<double>(pilot.returns.size()) / pilot.low_rollouts;
  const double shared = out.free_per_coupled / pilot.low_rollouts;
  ErrorCurve curve;
  for (double m = 1; m <= kMostRollouts; m = std::max(m + 1, std::floor(m * 1.1))) {
    curve.free.push_back(m * paid);
    curve.error.push_back(
        expected_error(all, out.planned_returns, out.planned_returns * m * shared));
  }
  const BestMix best = best_mix(curve, out.cost_ratio);
  out.best_low_rollouts = std::round(best.free / paid);
  out.error_at_equal_cost = best.error_at_equal_cost;
  out.break_even_cost_ratio = break_even_cost_ratio(curve);
}

void judge(const Fit& all, Diagnosis& out) {
  const auto percent = [](double x) { return fmt::format("{:.1f} %", 100 * std::abs(x)); };
  if (all.freedom < kFewestFreedom) {
    out.advice = Advice::cannot_tell;
    out.more_episodes = 3.0 * out.episodes;
    out.reason = "the pilot saw hardly any pair of state and action twice";
  } else if (!(all.var_low > 0)) {
    out.advice = Advice::drop;
    out.reason = "low-fidelity returns of a pair never vary, so they explain nothing";
  } else if (!(all.var_high > 0)) {
    out.advice = Advice::drop;
    out.reason = "high-fidelity returns of a pair never vary: there is nothing to correct";
  } else if (out.change.high < 0) {
    out.advice = Advice::use;
    out.reason = fmt::format(
        "values will have a mean squared error {} smaller than without it (95 % sure of at least "
        "{})",
        percent(out.change.value), percent(out.change.high));
  } else if (out.change.low > -kNegligible) {
    out.advice = Advice::drop;
    out.reason = fmt::format("there is nothing to gain: {} of the mean squared error at best",
                             percent(std::min(0.0, out.change.low)));
  } else {
    out.advice = Advice::cannot_tell;
    const double half = (out.change.high - out.change.low) / 2;
    // Half widths fall with the root of the episodes, until they show what matters.
    const double ratio = half / std::max(std::abs(out.change.value), kMatters);
    out.more_episodes = std::ceil(out.episodes * std::max(1.0, ratio * ratio - 1));
    out.reason = fmt::format(
        "the mean squared error will change by something between {:+.1f} % and {:+.1f} %",
        100 * out.change.low, 100 * out.change.high);
  }
}

}  // namespace

std::string_view name_of(Advice advice) {
  switch (advice) {
    case Advice::use:
      return "use it";
    case Advice::drop:
      return "drop it";
    case Advice::cannot_tell:
      break;
  }
  return "cannot tell yet";
}

Diagnosis diagnose(const FidelityPair& pair, const Pilot& pilot, const DiagnosisPlan& plan) {
  Diagnosis out;
  out.episodes = pilot.episodes;
  out.train_episodes = plan.train_episodes;
  out.returns = pilot.returns.size();
  if (pilot.episodes < kGroups || pilot.returns.empty()) {
    out.more_episodes = kGroups;
    out.reason = fmt::format("a pilot needs at least {} episodes", kGroups);
    return out;
  }
  Analysis analysis(pair, pilot);
  out.pairs_seen = analysis.seen().size();
  const double per_pair = static_cast<double>(out.returns) / static_cast<double>(out.pairs_seen);
  out.planned_returns = plan.returns > 0
                            ? plan.returns
                            : std::max(1.0, per_pair * static_cast<double>(plan.train_episodes) /
                                                static_cast<double>(pilot.episodes));
  out.free_per_coupled = std::max(1.0, analysis.free_per_coupled());
  const double n = out.planned_returns;
  const double m = n * out.free_per_coupled;

  std::vector<Fit> without;
  for (std::uint32_t g = 0; g < kGroups; ++g) without.push_back(analysis.fit(g));
  const Fit all = analysis.fit(kNoGroup);
  for (const CoMoments& moments : analysis.moments()) out.pairs_used += moments.count() > 1 ? 1 : 0;

  out.return_sd = std::sqrt(all.var_high);
  if (all.var_low > 0) {
    out.alpha = all.covariance / all.var_low;
    if (all.var_high > 0)
      out.correlation =
          std::clamp(all.covariance / std::sqrt(all.var_low * all.var_high), -1.0, 1.0);
  }
  // The pairs themselves decide where they can, the model of their biases elsewhere.
  const auto change = [&](Judge judge) {
    return jackknife(all, without,
                     [&](const Fit& f) { return error_ratio(f, all, n, m, judge) - 1; });
  };
  out.change = change(Judge::own_bias);
  if (out.change.high >= 0 && out.change.low <= 0) out.change = change(Judge::model);
  for (double* x : {&out.change.value, &out.change.low, &out.change.high})
    *x = std::max(*x, -1.0);  // no error falls below zero
  out.bias_offset = jackknife(all, without, [](const Fit& f) { return f.offset; });
  out.bias_square = jackknife(all, without, [](const Fit& f) { return f.bias_square; });
  out.bias_spread = std::sqrt(all.spread);
  out.dynamics_differ =
      out.bias_square.low > 0 || out.bias_offset.low > 0 || out.bias_offset.high < 0;
  describe_correlations(analysis, pilot, out);
  test_pairs(all, out);
  weigh_costs(pilot, plan, all, out);
  judge(all, out);
  return out;
}

}  // namespace hilo
