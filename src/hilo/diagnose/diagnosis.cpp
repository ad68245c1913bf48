#include "hilo/diagnose/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hilo/core/error.hpp"
#include "hilo/diagnose/pilot_fit.hpp"
#include "hilo/estimator/costs.hpp"
#include "hilo/estimator/pooled_evidence.hpp"

namespace hilo {
namespace {

constexpr double kStudent95 = 2.093;  // two-sided 95 % point of t with kPilotGroups - 1 degrees
constexpr double kNormal95 = 1.959964;
constexpr double kFewestFreedom = 20;        // returns beyond the first of their pairs
constexpr double kClearHalfWidth = 0.1;      // up to this the pairs' own biases are used
constexpr double kMatters = 0.05;            // the smallest change of the error that matters
constexpr double kNegligible = 1e-3;         // a smaller gain counts as none
constexpr std::uint64_t kEnoughReturns = 8;  // to estimate the correlation of a single pair
constexpr std::size_t kShownPairs = 5;
constexpr double kLeastError = 1e-6;
constexpr std::uint32_t kMostRollouts = 1000;  // the largest m considered

// The jackknife over groups of episodes (Efron 1982). Pairs of one episode share its random
// outcomes, so whole episodes are left out.
template <class Get>
WithInterval jackknife(const PilotFit& all, const std::vector<PilotFit>& without, Get&& get) {
  Moments pseudo;
  for (const PilotFit& fit : without)
    pseudo.add(kPilotGroups * get(all) - (kPilotGroups - 1) * get(fit));
  const double half = kStudent95 * std::sqrt(pseudo.variance() / kPilotGroups);
  return {pseudo.mean(), pseudo.mean() - half, pseudo.mean() + half};
}

// The change of the error that the model of the biases predicts. The spread of the biases matters
// most and is known least, so its own interval is carried over to the change. A jackknife of the
// change alone would miss it, because the error depends too unevenly on the episodes left out.
WithInterval change_by_model(const PilotFit& all, const std::vector<PilotFit>& without,
                             const PlannedReturns& planned, double alpha) {
  const auto change = [&](const PilotFit& fit, double spread) {
    return error_ratio(fit, {alpha, std::max(0.0, spread)}, planned, Judge::model) - 1;
  };
  const WithInterval spread =
      jackknife(all, without, [](const PilotFit& f) { return f.raw_spread; });
  const WithInterval rest =
      jackknife(all, without, [&](const PilotFit& f) { return change(f, all.spread); });
  const double half = (rest.high - rest.low) / 2;
  const double ends[] = {change(all, spread.low), change(all, all.spread),
                         change(all, spread.high)};
  return {ends[1], *std::ranges::min_element(ends) - half, *std::ranges::max_element(ends) + half};
}

// The prediction from each pair's own bias needs no model of the biases, but is far too noisy after
// a short pilot. If it is precise, it is combined with that of the model; otherwise the model alone
// predicts.
WithInterval predict_change(const PilotFit& all, const std::vector<PilotFit>& without,
                            const PlannedReturns& planned) {
  if (!(all.var_low > 0)) return {};
  const Gains gains = {all.covariance / all.var_low, all.spread};
  const WithInterval own = jackknife(all, without, [&](const PilotFit& f) {
    return error_ratio(f, gains, planned, Judge::own_bias) - 1;
  });
  WithInterval out = change_by_model(all, without, planned, gains.alpha);
  if (own.high - own.low <= 2 * kClearHalfWidth)
    out = {(own.value + out.value) / 2, std::min(own.low, out.low), std::max(own.high, out.high)};
  for (double* x : {&out.value, &out.low, &out.high})
    *x = std::max(*x, -1.0);  // no error falls below zero
  return out;
}

void describe_correlations(const PilotFits& fits, const Pilot& pilot, Diagnosis& out) {
  std::vector<Diagnosis::PairCorrelation> found;
  for (std::size_t k = 0; k < fits.seen().size(); ++k) {
    const CoMoments& m = fits.moments()[k];
    if (m.count() < kEnoughReturns || !(m.variance_x() > 0 && m.variance_y() > 0)) continue;
    found.push_back({static_cast<State>(fits.seen()[k] / pilot.num_actions),
                     static_cast<Action>(fits.seen()[k] % pilot.num_actions), m.count(),
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

void test_pairs(const PilotFit& all, Diagnosis& out) {
  for (const PairFit& p : all.pairs) {
    ++out.pairs_tested;
    out.pairs_different += std::abs(p.difference) > kNormal95 * std::sqrt(p.noise) ? 1 : 0;
  }
}

// Compares the costs of one return in the two fidelities.
void weigh_costs(const Pilot& pilot, const DiagnosisPlan& plan, const PilotFit& all,
                 Diagnosis& out) {
  const bool given = plan.cost_high > 0 && plan.cost_low > 0;
  out.cost_measured = !given;
  const double high =
      given ? plan.cost_high * static_cast<double>(pilot.high_steps) : pilot.high_seconds;
  const double low =
      given ? plan.cost_low * static_cast<double>(pilot.low_steps) : pilot.low_seconds;
  if (!(high > 0 && low > 0) || pilot.free_returns == 0 || all.pairs.empty()) return;
  out.cost_ratio = high / static_cast<double>(pilot.returns.size()) /
                   (low / static_cast<double>(pilot.free_returns));
  // The free returns sampled for each coupled one, per roll-out of the pilot's m. Other m give
  // proportional numbers.
  const double paid = static_cast<double>(pilot.free_returns) /
                      static_cast<double>(pilot.returns.size()) / pilot.low_rollouts;
  ErrorCurve curve;
  for (std::uint32_t m = 1; m <= kMostRollouts; m = std::max(m + 1, m + m / 10)) {
    curve.free.push_back(m * paid);
    const PlannedReturns planned = {.each = out.planned_returns,
                                    .fading = plan.fading,
                                    .free_factor = static_cast<double>(m) / pilot.low_rollouts};
    curve.error.push_back(
        std::max(kLeastError, error_ratio(all, {out.alpha, all.spread}, planned, Judge::model)));
  }
  const BestMix best = best_mix(curve, out.cost_ratio);
  out.best_low_rollouts = std::round(best.free / paid);
  out.error_at_equal_cost = best.error_at_equal_cost;
  out.break_even_cost_ratio = break_even_cost_ratio(curve);
}

void judge(const PilotFit& all, Diagnosis& out) {
  const auto percent = [](double x) { return fmt::format("{:.1f} %", 100 * std::abs(x)); };
  if (out.pairs_seen < PooledEvidence::kFewestPairs) {
    out.advice = Advice::drop;
    out.change = {};
    out.reason = fmt::format(
        "with {} of state and action MFMCRL+ has nothing to learn from and is plain Monte Carlo: "
        "nothing will change",
        out.pairs_seen == 1 ? "one pair" : "two pairs");
  } else if (all.freedom < kFewestFreedom) {
    out.advice = Advice::cannot_tell;
    out.more_episodes = 3.0 * out.episodes;
    out.reason = "the pilot saw hardly any pair of state and action twice";
  } else if (!(all.var_low > 0)) {
    out.advice = Advice::drop;
    out.reason = "low-fidelity returns of a pair never vary, so they explain nothing";
  } else if (!(all.var_high > 0)) {
    out.advice = Advice::drop;
    out.reason = "high-fidelity returns of a pair never vary: there is nothing to correct";
  } else if (out.change.low > -kNegligible) {
    out.advice = Advice::drop;
    out.reason = fmt::format("there is nothing to gain: {} of the mean squared error at best",
                             percent(std::min(0.0, out.change.low)));
  } else if (out.change.high < 0) {
    out.advice = Advice::use;
    out.reason = fmt::format(
        "values will have a mean squared error {} smaller than those of plain Monte Carlo with the "
        "same weights of old returns (95 % sure of at least {})",
        percent(out.change.value), percent(out.change.high));
  } else {
    out.advice = Advice::cannot_tell;
    const double half = (out.change.high - out.change.low) / 2;
    // Half widths fall with the square root of the number of episodes. They must become as small as
    // the predicted change, or as kMatters if that is larger.
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

Diagnosis diagnose(const Fidelities& pair, const Pilot& pilot, const DiagnosisPlan& plan) {
  Diagnosis out;
  out.episodes = pilot.episodes;
  out.train_episodes = plan.train_episodes;
  out.returns = pilot.returns.size();
  if (pilot.episodes < kPilotGroups || pilot.returns.empty()) {
    out.more_episodes = kPilotGroups - std::min(kPilotGroups - 1, pilot.episodes);
    out.reason = fmt::format("a pilot needs at least {} episodes", kPilotGroups);
    return out;
  }
  PilotFits fits(pair, pilot);
  out.pairs_seen = fits.seen().size();
  out.planned_returns =
      plan.returns > 0
          ? plan.returns
          : std::max(1.0, fits.returns_beside() * static_cast<double>(plan.train_episodes) /
                              static_cast<double>(pilot.episodes));
  out.free_per_coupled = std::max(1.0, fits.free_per_coupled());

  std::vector<PilotFit> without;
  for (std::uint32_t g = 0; g < kPilotGroups; ++g) without.push_back(fits.fit(g));
  const PilotFit all = fits.fit(kNoGroup);
  for (const CoMoments& moments : fits.moments()) out.pairs_used += moments.count() > 1 ? 1 : 0;

  out.return_sd = std::sqrt(all.var_high);
  if (all.var_low > 0) {
    out.alpha = all.covariance / all.var_low;
    if (all.var_high > 0)
      out.correlation =
          std::clamp(all.covariance / std::sqrt(all.var_low * all.var_high), -1.0, 1.0);
  }
  out.change = predict_change(all, without, {.each = out.planned_returns, .fading = plan.fading});
  out.bias_offset = jackknife(all, without, [](const PilotFit& f) { return f.offset; });
  out.bias_square = jackknife(all, without, [](const PilotFit& f) { return f.bias_square; });
  out.bias_spread = std::sqrt(all.spread);
  out.dynamics_differ =
      out.bias_square.low > 0 || out.bias_offset.low > 0 || out.bias_offset.high < 0;
  describe_correlations(fits, pilot, out);
  test_pairs(all, out);
  if (out.pairs_seen >= PooledEvidence::kFewestPairs) weigh_costs(pilot, plan, all, out);
  judge(all, out);
  return out;
}

}  // namespace hilo
