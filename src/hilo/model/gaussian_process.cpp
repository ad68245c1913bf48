#include "hilo/model/gaussian_process.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "hilo/core/bulk_math.hpp"
#include "hilo/core/detail/fixed_blocking.hpp"
#include "hilo/core/parallel.hpp"
#include "hilo/core/portable_math.hpp"

namespace hilo {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double kLog2Pi = 1.8378770664093454836;

// Means and standard deviations of the priors of the logarithms.
struct LogPrior {
  double mean, deviation;
};
constexpr LogPrior kLengthPrior = {0.7, 1.0}, kSignalPrior = {0.0, 1.5}, kLinearPrior = {-1.0, 1.5},
                   kNoisePrior = {-4.0, 2.5};
constexpr double kLogLimit = 7;  // logarithms of lengths and amplitudes stay within +-7

// All scales as logarithms, in the order of ProcessScales.
struct Logs {
  Logs(std::size_t inputs, std::size_t outputs) : p(inputs), d(outputs), x(inputs + 3 * outputs) {}
  double& length(std::size_t i) { return x[i]; }
  double& signal(std::size_t k) { return x[p + k]; }
  double& linear(std::size_t k) { return x[p + d + k]; }
  double& noise(std::size_t k) { return x[p + 2 * d + k]; }

  std::size_t p, d;
  std::vector<double> x;
};

Logs logs_of(const ProcessScales& scales) {
  Logs out(scales.length.size(), scales.signal.size());
  for (std::size_t i = 0; i < out.p; ++i) out.length(i) = portable_log(scales.length[i]);
  for (std::size_t k = 0; k < out.d; ++k) {
    out.signal(k) = portable_log(scales.signal[k]);
    out.linear(k) = portable_log(scales.linear[k]);
    out.noise(k) = portable_log(scales.noise[k]);
  }
  return out;
}

ProcessScales scales_of(Logs logs) {
  ProcessScales out;
  for (std::size_t i = 0; i < logs.p; ++i) out.length.push_back(portable_exp(logs.length(i)));
  for (std::size_t k = 0; k < logs.d; ++k) {
    out.signal.push_back(portable_exp(logs.signal(k)));
    out.linear.push_back(portable_exp(logs.linear(k)));
    out.noise.push_back(portable_exp(logs.noise(k)));
  }
  return out;
}

// Log likelihood and gradient for the points of one output, which are those it was seen at.
class Likelihood {
 public:
  Likelihood(Matrix inputs, std::vector<Vector> outputs, std::vector<std::vector<Index>> seen,
             unsigned threads)
      : z_(std::move(inputs)), y_(std::move(outputs)), seen_(std::move(seen)), threads_(threads) {
    fix_blocking();
  }

  double operator()(const ProcessScales& scales, std::vector<double>& gradient) const {
    const Index n = z_.rows(), p = z_.cols();
    const std::size_t outputs = y_.size();
    Matrix scaled = z_;
    for (Index i = 0; i < p; ++i) scaled.col(i) /= scales.length[static_cast<std::size_t>(i)];
    // Squared distances, one after the other in a fixed order.
    Matrix squares = Matrix::Zero(n, n);
    for (Index i = 0; i < p; ++i)
      for (Index b = 0; b < n; ++b)
        for (Index a = 0; a < n; ++a) {
          const double step = scaled(a, i) - scaled(b, i);
          squares(a, b) += step * step;
        }
    squares *= -0.5;
    Matrix smooth(n, n);
    bulk_exponential({squares.data(), static_cast<std::size_t>(n * n)},
                     {smooth.data(), static_cast<std::size_t>(n * n)});
    const Matrix flat = (z_ * z_.transpose()).array() + 1.0;

    std::vector<Part> parts(outputs);
    parallel_for(outputs, threads_,
                 [&](std::size_t k) { parts[k] = part_of(k, scales, smooth, flat); });
    double sum = 0;
    gradient.assign(static_cast<std::size_t>(p) + 3 * outputs, 0.0);
    Matrix pull = Matrix::Zero(n, n);
    for (std::size_t k = 0; k < outputs; ++k) {
      sum += parts[k].value;
      pull += parts[k].pull;
      gradient[static_cast<std::size_t>(p) + k] = parts[k].of_signal;
      gradient[static_cast<std::size_t>(p) + outputs + k] = parts[k].of_linear;
      gradient[static_cast<std::size_t>(p) + 2 * outputs + k] = parts[k].of_noise;
    }
    // sum_ab pull_ab (z_ai - z_bi)^2 / 2, for all inputs.
    const Vector rows = pull.rowwise().sum();
    for (Index i = 0; i < p; ++i)
      gradient[static_cast<std::size_t>(i)] =
          (scaled.col(i).cwiseAbs2().dot(rows) - scaled.col(i).dot(pull * scaled.col(i)));
    return sum;
  }

 private:
  struct Part {
    double value = 0, of_signal = 0, of_linear = 0, of_noise = 0;
    Matrix pull;  // (alpha alpha' - K^-1) times the smooth part of the covariance
  };

  Part part_of(std::size_t k, const ProcessScales& scales, const Matrix& smooth,
               const Matrix& flat) const {
    const std::vector<Index>& seen = seen_[k];
    const auto n = static_cast<Index>(seen.size());
    Part out;
    out.pull = Matrix::Zero(smooth.rows(), smooth.cols());
    if (n == 0) return out;
    const double s2 = scales.signal[k] * scales.signal[k];
    const double l2 = scales.linear[k] * scales.linear[k];
    const double n2 = scales.noise[k] * scales.noise[k];
    const Matrix e = smooth(seen, seen), f = flat(seen, seen);
    Matrix covariance = s2 * e + l2 * f;
    covariance.diagonal().array() += n2 + 1e-10 * (s2 + l2);
    const Eigen::LLT<Matrix> llt(covariance);
    if (llt.info() != Eigen::Success) {
      out.value = NAN;
      return out;
    }
    const Vector alpha = llt.solve(y_[k]);
    const Matrix g = alpha * alpha.transpose() - llt.solve(Matrix::Identity(n, n));
    double log_determinant = 0;
    for (Index i = 0; i < n; ++i) log_determinant += portable_log(llt.matrixLLT()(i, i));
    out.value = -0.5 * y_[k].dot(alpha) - log_determinant - 0.5 * static_cast<double>(n) * kLog2Pi;
    const Matrix weighted = g.cwiseProduct(e);
    out.of_signal = s2 * weighted.sum();
    out.of_linear = l2 * g.cwiseProduct(f).sum();
    out.of_noise = n2 * g.trace();
    for (Index b = 0; b < n; ++b)
      for (Index a = 0; a < n; ++a)
        out.pull(seen[static_cast<std::size_t>(a)], seen[static_cast<std::size_t>(b)]) =
            s2 * weighted(a, b);
    return out;
  }

  Matrix z_;
  std::vector<Vector> y_;
  std::vector<std::vector<Index>> seen_;
  unsigned threads_;
};

Likelihood likelihood_of(const Columns& inputs, const Columns& outputs, const Columns& weights,
                         std::size_t most_points, unsigned threads) {
  const std::size_t all = inputs.count(), points = std::min(all, most_points);
  Matrix z(static_cast<Index>(points), static_cast<Index>(inputs.rows()));
  std::vector<Vector> y(outputs.rows());
  std::vector<std::vector<Index>> seen(outputs.rows());
  std::vector<std::vector<double>> values(outputs.rows());
  for (std::size_t a = 0; a < points; ++a) {
    const std::size_t which = a * all / points;
    for (std::size_t i = 0; i < inputs.rows(); ++i)
      z(static_cast<Index>(a), static_cast<Index>(i)) = inputs.at(i, which);
    for (std::size_t k = 0; k < outputs.rows(); ++k)
      if (weights.at(k, which) > 0) {
        seen[k].push_back(static_cast<Index>(a));
        values[k].push_back(outputs.at(k, which));
      }
  }
  for (std::size_t k = 0; k < outputs.rows(); ++k)
    y[k] = Eigen::Map<const Vector>(values[k].data(), static_cast<Index>(values[k].size()));
  return {std::move(z), std::move(y), std::move(seen), threads};
}

double add_prior(const LogPrior& prior, double x, double& slope) {
  const double z = (x - prior.mean) / prior.deviation;
  slope -= z / prior.deviation;
  return -0.5 * z * z;
}

}  // namespace

double log_likelihood(const Columns& inputs, const Columns& outputs, const ProcessScales& scales,
                      std::vector<double>* gradient) {
  Columns weights(outputs.rows(), outputs.count());
  weights.fill(std::vector<double>(outputs.rows(), 1.0));
  std::vector<double> slope;
  const double value = likelihood_of(inputs, outputs, weights, inputs.count(), 1)(scales, slope);
  if (gradient != nullptr) *gradient = slope;
  return value;
}

ProcessScales fit_scales(const Columns& inputs, const Columns& outputs, const Columns& weights,
                         const ProcessScales& start, const ProcessOptions& options) {
  const Likelihood likelihood =
      likelihood_of(inputs, outputs, weights, options.most_points, options.threads);
  Logs at(inputs.rows(), outputs.rows());
  if (start.length.size() == inputs.rows() && start.signal.size() == outputs.rows()) {
    at = logs_of(start);
  } else {
    for (std::size_t i = 0; i < at.p; ++i) at.length(i) = 0.7;
    for (std::size_t k = 0; k < at.d; ++k) {
      at.signal(k) = 0;
      at.linear(k) = -1;
      at.noise(k) = -3;
    }
  }
  const double least_noise = portable_log(options.least_noise);

  const auto value_of = [&](Logs& logs, std::vector<double>& slope) {
    double value = likelihood(scales_of(logs), slope);
    for (std::size_t i = 0; i < logs.p; ++i)
      value += add_prior(kLengthPrior, logs.length(i), slope[i]);
    for (std::size_t k = 0; k < logs.d; ++k) {
      value += add_prior(kSignalPrior, logs.signal(k), slope[logs.p + k]);
      value += add_prior(kLinearPrior, logs.linear(k), slope[logs.p + logs.d + k]);
      value += add_prior(kNoisePrior, logs.noise(k), slope[logs.p + 2 * logs.d + k]);
    }
    return value;
  };

  // Resilient steps (Rprop; Riedmiller and Braun 1993): each logarithm has a step of its own, which
  // grows while the sign of its slope stays and shrinks when it changes.
  std::vector<double> steps(at.x.size(), 0.2), slope, last(at.x.size(), 0.0);
  Logs best = at;
  double best_value = -1e300;
  for (std::uint32_t k = 0; k < options.iterations; ++k) {
    const double value = value_of(at, slope);
    if (std::isfinite(value) && value > best_value) {
      best_value = value;
      best = at;
    }
    if (!std::isfinite(value)) {  // too ill conditioned: back to the best, with smaller steps
      at = best;
      for (double& step : steps) step *= 0.5;
      std::ranges::fill(last, 0.0);
      continue;
    }
    for (std::size_t i = 0; i < at.x.size(); ++i) {
      const double agreement = slope[i] * last[i];
      if (agreement > 0) steps[i] = std::min(steps[i] * 1.2, 0.8);
      if (agreement < 0) steps[i] = std::max(steps[i] * 0.5, 1e-4);
      last[i] = agreement < 0 ? 0 : slope[i];
      if (last[i] != 0) at.x[i] += last[i] > 0 ? steps[i] : -steps[i];
      at.x[i] = std::clamp(at.x[i], -kLogLimit, kLogLimit);
    }
    for (std::size_t d = 0; d < at.d; ++d) at.noise(d) = std::max(at.noise(d), least_noise);
  }
  return scales_of(best);
}

}  // namespace hilo
