#include "hilo/estimator/cheap_gain.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/estimator/controlled_mean.hpp"
#include "hilo/estimator/detail/small_matrix.hpp"

namespace hilo {
namespace {

using Index = Eigen::Index;

// More free episodes than this for each paired one improve nothing that can be seen.
constexpr double kMostFree = 200;
constexpr double kAlmostOne = 1 - 1e-12;

double golden_section(double low, double high, int steps, const auto& f) {
  const double share = 0.3819660112501051;
  double a = low + share * (high - low), b = high - share * (high - low);
  double fa = f(a), fb = f(b);
  for (int k = 0; k < steps; ++k) {
    if (fa <= fb) {
      high = b;
      b = a;
      fb = fa;
      a = low + share * (high - low);
      fa = f(a);
    } else {
      low = a;
      a = b;
      fa = fb;
      b = high - share * (high - low);
      fb = f(b);
    }
  }
  return fa <= fb ? a : b;
}

// Minimises f over the logarithms x, one after the other, in a range that narrows.
void coordinate_search(std::vector<double>& x, double low, double high, const auto& f) {
  if (x.size() == 1) {
    x[0] = golden_section(low, high, 40, [&](double value) {
      x[0] = value;
      return f(x);
    });
    return;
  }
  double reach = high - low;
  for (int sweep = 0; sweep < 7; ++sweep, reach *= 0.5)
    for (double& each : x) {
      const double middle = each;
      const double best = golden_section(std::max(low, middle - reach),
                                         std::min(high, middle + reach), 10, [&](double value) {
                                           each = value;
                                           return f(x);
                                         });
      each = middle;
      const double before = f(x);
      each = best;
      if (!(f(x) < before)) each = middle;
    }
}

}  // namespace

double Predictability::lower(double z) const {
  const double degrees = effective - 2 - static_cast<double>(num_cheap);
  if (degrees <= 0 || r2 <= 0 || rests_on_few_events(effective, static_cast<double>(n))) return 0;
  const double r = std::sqrt(std::min(r2, std::max(0.0, 1 - kUnseen / effective)));
  return std::tanh(std::max(0.0, std::atanh(r) - z / std::sqrt(degrees)));
}

double Predictability::upper(double z) const {
  const double degrees = effective - 2 - static_cast<double>(num_cheap);
  if (degrees <= 0) return 1;
  const double r = std::sqrt(std::clamp(r2, 0.0, kAlmostOne));
  return std::tanh(std::atanh(r) + z / std::sqrt(degrees));
}

Predictability predictability(std::span<const PairedSample> samples) {
  Predictability out;
  double errors = 0, all = 0;
  for (const PairedSample& sample : samples) {
    out.n = sample.high.size();
    out.num_cheap = sample.num_cheap();
    const auto n = static_cast<double>(out.n);
    const auto cheap = static_cast<Index>(out.num_cheap);
    if (&sample == samples.data()) out.effective = n;
    if (out.n < out.num_cheap + 3) return out;
    const SmallMatrix products = (n - 1) * matrix_of(covariances_of(sample));
    const SmallMatrix s = products.bottomRightCorner(cheap, cheap);
    const SmallMatrix inverse = inverse_scaled(s);
    const SmallVector beta = inverse * products.col(0).tail(cheap);
    const double high_mean = summarise(sample.high).mean;
    out.effective = std::min(out.effective, effective_number(sample.high));
    SmallVector means(cheap);
    for (Index l = 0; l < cheap; ++l) {
      const std::vector<double>& low = sample.low[static_cast<std::size_t>(l)];
      means[l] = summarise(low).mean;
      out.effective = std::min(out.effective, effective_number(low));
    }
    for (std::size_t j = 0; j < out.n; ++j) {
      SmallVector d(cheap);
      for (Index l = 0; l < cheap; ++l)
        d[l] = sample.low[static_cast<std::size_t>(l)][j] - means[l];
      const double deviation = sample.high[j] - high_mean;
      // The residual without this episode, by the diagonal of the hat matrix.
      const double hat = 1 / n + d.dot(inverse * d);
      const double error = (deviation - beta.dot(d)) / std::max(1 - hat, 1e-9);
      errors += error * error;
      all += std::pow(deviation * n / (n - 1), 2);
    }
  }
  out.r2 = all > 0 ? std::max(0.0, 1 - errors / all) : 0;
  return out;
}

NestedDesign best_nested_design(const Covariances& c, std::span<const double> costs) {
  const std::size_t cheap = c.size() - 1;
  NestedDesign out{.free = std::vector<double>(cheap, 0)};
  if (cheap == 0 || !(c.variance(0) > 0) || !(costs[0] > 0)) return out;
  const auto error = [&](const std::vector<double>& logs) {
    double cost = 1;
    std::vector<double> free(cheap);
    for (std::size_t l = 0; l < cheap; ++l) {
      free[l] = std::exp(logs[l]);
      cost += (1 + free[l]) * costs[l + 1] / costs[0];
    }
    return controlled_variance(c, 1, free) / c.variance(0) * cost;
  };
  std::vector<double> logs(cheap, std::log(10.0));
  coordinate_search(logs, std::log(0.01), std::log(kMostFree), error);
  out.error_at_equal_cost = error(logs);
  for (std::size_t l = 0; l < cheap; ++l) out.free[l] = std::exp(logs[l]);
  return out;
}

std::vector<double> best_free_counts(const Covariances& c, std::span<const double> costs, double n,
                                     double budget) {
  const std::size_t cheap = c.size() - 1;
  std::vector<double> counts(cheap, 0);
  if (cheap == 0) return counts;
  budget = std::max(budget, 0.0);
  const auto counts_of = [&](const std::vector<double>& logs) {
    double sum = 0;
    for (const double x : logs) sum += std::exp(x);
    std::vector<double> out(cheap);
    for (std::size_t l = 0; l < cheap; ++l)
      out[l] = costs[l + 1] > 0
                   ? std::min(std::exp(logs[l]) / sum * budget / costs[l + 1], kMostFree * n)
                   : kMostFree * n;
    return out;
  };
  std::vector<double> logs(cheap, 0);
  if (cheap > 1)
    coordinate_search(logs, -7, 7, [&](const std::vector<double>& x) {
      return controlled_variance(c, n, counts_of(x));
    });
  return counts_of(logs);
}

Covariances with_correlation(const Covariances& c, double correlation) {
  const auto cheap = static_cast<Index>(c.size() - 1);
  const SmallMatrix all = matrix_of(c);
  const SmallVector with_high = all.col(0).tail(cheap);
  const SmallVector beta =
      solve_scaled(SmallMatrix(all.bottomRightCorner(cheap, cheap)), SmallVector(with_high));
  const double explained = beta.dot(with_high);
  Covariances out = c;
  if (!(explained > 0) || !(c.variance(0) > 0)) return out;
  const double factor = correlation / std::sqrt(explained / c.variance(0));
  for (std::size_t l = 1; l < c.size(); ++l) out.set(0, l, c(0, l) * factor);
  return out;
}

}  // namespace hilo
