#include "hilo/exact/estimator_error.hpp"

#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/estimator/pooled_evidence.hpp"

namespace hilo {

double exact_error_change(const FidelityPair& pair, const PolicyMatrix& policy,
                          const PolicyMatrix& low_policy, double gamma,
                          std::span<const double> weights, double n, double m) {
  const Model* low_model = pair.low().model();
  if (low_model == nullptr)
    throw Error(Errc::usage, "the exact error needs a low fidelity whose distribution is known");
  const PairedReturnMoments coupled = paired_return_moments(pair, policy, gamma);
  const ReturnMoments free = return_moments(*low_model, low_policy, gamma);
  const std::size_t num_actions = pair.num_actions();
  const std::size_t size = coupled.covariance.size();
  if (weights.size() != size) throw Error(Errc::usage, "one weight for each pair is needed");

  const auto low_of = [&](std::size_t i) {
    return pair.map().low_of(static_cast<State>(i / num_actions)) * num_actions + i % num_actions;
  };
  // Rounding is all that is left of the variance of returns without spread.
  const auto sd = [&](std::size_t i) {
    const double mean = coupled.low_on_path.mean[i];
    const double variance = coupled.low_on_path.variance[i];
    return variance > 1e-20 * (1 + mean * mean) ? std::sqrt(variance) : 0;
  };
  const auto bias = [&](std::size_t i) {
    return free.mean[low_of(i)] - coupled.low_on_path.mean[i];
  };
  double sum = 0, var_low = 0, cov = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (sd(i) == 0) continue;
    sum += weights[i];
    var_low += weights[i] * coupled.low_on_path.variance[i];
    cov += weights[i] * coupled.covariance[i];
  }
  if (sum == 0) return 0;
  const double alpha = cov / var_low;
  const auto unit_square = [&](std::size_t i) {
    return bias_unit_square(sd(i) * sd(i), var_low / sum);
  };
  double offset = 0, spread = 0;  // mu and tau^2
  for (std::size_t i = 0; i < size; ++i)
    if (sd(i) > 0) offset += weights[i] * bias(i) / std::sqrt(unit_square(i)) / sum;
  for (std::size_t i = 0; i < size; ++i) {
    if (sd(i) == 0) continue;
    const double miss = bias(i) / std::sqrt(unit_square(i)) - offset;
    spread += weights[i] * miss * miss / sum;
  }

  double change = 0, plain = 0;
  for (std::size_t i = 0; i < size; ++i) {
    plain += weights[i] * coupled.high.variance[i] / n;
    if (sd(i) == 0) continue;
    const double of_coupled = sd(i) * sd(i) / n;
    const double v = of_coupled + free.variance[low_of(i)] / m;
    const double k = alpha * of_coupled / (v + spread * unit_square(i));
    const double miss = bias(i) - offset * std::sqrt(unit_square(i));
    change += weights[i] * (-2 * k * coupled.covariance[i] / n + k * k * (v + miss * miss));
  }
  return plain > 0 ? change / plain : 0;
}

}  // namespace hilo
