#include "hilo/estimator/gradient_control.hpp"

#include <algorithm>
#include <cmath>

namespace hilo {
namespace {

std::vector<double> mean_column(const std::vector<double>& columns, std::size_t dimension) {
  std::vector<double> out(dimension, 0.0);
  const std::size_t count = dimension > 0 ? columns.size() / dimension : 0;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < dimension; ++k) out[k] += columns[i * dimension + k];
  for (double& x : out) x /= static_cast<double>(std::max<std::size_t>(count, 1));
  return out;
}

}  // namespace

std::vector<double> GradientPairs::mean_high() const { return mean_column(high, dimension); }
std::vector<double> GradientPairs::mean_low() const { return mean_column(low, dimension); }

void GradientMoments::add(const GradientPairs& batch) {
  const std::size_t n = batch.size(), size = batch.dimension;
  if (n < 2) return;
  for (double* sum : {&state_.cross, &state_.high, &state_.low, &state_.freedom}) *sum *= kept_;
  for (double* sum : {&state_.cross_squares, &state_.cross_low, &state_.low_squares})
    *sum *= kept_ * kept_;
  const std::vector<double> high = batch.mean_high(), low = batch.mean_low();
  for (std::size_t i = 0; i < n; ++i) {
    double hh = 0, ll = 0, hl = 0;
    for (std::size_t k = 0; k < size; ++k) {
      const double h = batch.high[i * size + k] - high[k], l = batch.low[i * size + k] - low[k];
      hh += h * h;
      ll += l * l;
      hl += h * l;
    }
    state_.high += hh;
    state_.low += ll;
    state_.cross += hl;
    state_.cross_squares += hl * hl;
    state_.cross_low += hl * ll;
    state_.low_squares += ll * ll;
  }
  state_.freedom += static_cast<double>(n - 1);
}

double GradientMoments::rho() const {
  if (!(state_.high > 0) || !(state_.low > 0)) return 0;
  const double rho = state_.cross / std::sqrt(state_.high * state_.low);
  return std::isfinite(rho) ? std::clamp(rho, -1.0, 1.0) : 0;
}

double GradientMoments::safe_rho() const {
  constexpr double kNormal95 = 1.644854, kFewest = 1.1, kLeastFreedom = 4;
  const double found = rho();
  if (found == 0) return 0;
  // How many pairs decide, if each counts by its l.l: their mean leverage is the inverse of it.
  const double pairs = state_.low * state_.low / state_.low_squares;
  if (!(pairs >= kFewest) || !(state_.freedom >= kLeastFreedom)) return 0;
  const double slope = state_.cross / state_.low;
  const double squares =
      state_.cross_squares - 2 * slope * state_.cross_low + slope * slope * state_.low_squares;
  const double leverage = 1 / (1 - 1 / pairs);
  const double error = std::sqrt(std::max(squares, 0.0)) / state_.low * leverage * leverage;
  const double safe = std::abs(slope) - kNormal95 * error;
  return safe > 0 ? found * safe / std::abs(slope) : 0;
}

double GradientMoments::coefficient(double m) const {
  const double safe = safe_rho();
  return safe == 0 ? 0 : m / (1 + m) * safe * std::sqrt(state_.high / state_.low);
}

double GradientMoments::variance_ratio(double c, double m) const {
  if (c == 0 || !(state_.high > 0)) return 1;
  return 1 - 2 * c * state_.cross / state_.high + c * c * state_.low / state_.high * (1 + 1 / m);
}

std::vector<double> controlled_gradient(const GradientPairs& batch, double coefficient,
                                        std::span<const double> free_mean) {
  std::vector<double> out = batch.mean_high();
  if (coefficient == 0) return out;
  const std::vector<double> paired = batch.mean_low();
  for (std::size_t k = 0; k < out.size(); ++k) out[k] += coefficient * (free_mean[k] - paired[k]);
  return out;
}

}  // namespace hilo
