#include "hilo/exact/estimator_bias.hpp"

#include <cmath>
#include <limits>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

// Whether a variance is larger than the rounding error of returns with this mean.
bool has_spread(double variance, double mean) { return variance > 1e-24 * (1 + mean * mean); }

}  // namespace

EstimatorBias exact_bias(const Fidelities& pair, const PolicyMatrix& policy,
                         const PolicyMatrix& low_policy, double gamma) {
  const Model* low_model = pair.low().model();
  if (low_model == nullptr)
    throw Error(Errc::usage, "the exact bias needs a low fidelity whose distribution is known");
  const PairedReturnMoments moments = paired_return_moments(pair, policy, gamma);
  const Values low = evaluate_policy(*low_model, low_policy, gamma);

  const std::size_t num_actions = pair.num_actions();
  const std::size_t size = moments.covariance.size();
  EstimatorBias out{.q_high = moments.high.mean,
                    .sd_high = std::vector<double>(size),
                    .alpha = std::vector<double>(size),
                    .rho = std::vector<double>(size),
                    .q_low_on_path = moments.low_on_path.mean,
                    .q_low = std::vector<double>(size),
                    .bias = std::vector<double>(size)};
  for (std::size_t i = 0; i < size; ++i) {
    const State s_lo = pair.map().low_of(static_cast<State>(i / num_actions));
    const double var_hi = moments.high.variance[i];
    const double var_lo = moments.low_on_path.variance[i];
    out.q_low[i] = low.q[s_lo * num_actions + i % num_actions];
    out.sd_high[i] = std::sqrt(std::max(var_hi, 0.0));
    if (!has_spread(var_hi, out.q_high[i]) || !has_spread(var_lo, out.q_low_on_path[i]))
      continue;  // no correction is made
    out.alpha[i] = moments.covariance[i] / var_lo;
    out.rho[i] = moments.covariance[i] / std::sqrt(var_hi * var_lo);
    out.bias[i] = out.alpha[i] * (out.q_low[i] - out.q_low_on_path[i]);
  }
  return out;
}

double EstimatorBias::break_even(const std::vector<std::size_t>& pairs) const {
  double saved = 0;
  double added = 0;
  for (const std::size_t i : pairs) {
    saved += rho[i] * rho[i] * sd_high[i] * sd_high[i];
    added += bias[i] * bias[i];
  }
  return added > 0 ? saved / added : std::numeric_limits<double>::infinity();
}

}  // namespace hilo
