#include "hilo/estimator/controlled_mean.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hilo/core/moments.hpp"
#include "hilo/core/student.hpp"
#include "hilo/estimator/detail/small_matrix.hpp"

namespace hilo {
namespace {

using Index = Eigen::Index;

// Nested free samples are groups of cheap simulators that were run together: all of them as often
// as the one with the fewest free returns, all but that one for the next, and so on. The simulators
// are sorted by their numbers of free returns, so that group g has members g, g + 1, ...
struct FreeGroups {
  std::vector<double> counts;      // of group g
  std::vector<SmallVector> means;  // of its members; only where there are returns
};

FreeGroups groups_of(std::span<const double> free) {
  FreeGroups out;
  for (std::size_t g = 0; g < free.size(); ++g)
    out.counts.push_back(free[g] - (g > 0 ? free[g - 1] : 0));
  return out;
}

// Psi = sum_g m_g R_g' S_g^-1 R_g over the free groups: the inverse of V. With returns also
// sum_g m_g R_g' S_g^-1 mean_g, so that mu = Psi^-1 of it.
struct FreeInformation {
  SmallMatrix psi;
  SmallVector sums;
};

FreeInformation information_of(const SmallMatrix& s, const FreeGroups& free) {
  const Index size = s.rows();
  FreeInformation out{.psi = SmallMatrix::Zero(size, size), .sums = SmallVector::Zero(size)};
  for (Index g = 0; g < size; ++g) {
    const double count = free.counts[static_cast<std::size_t>(g)];
    if (!(count > 0)) continue;
    const Index members = size - g;
    const SmallMatrix inverse = inverse_scaled(SmallMatrix(s.bottomRightCorner(members, members)));
    out.psi.bottomRightCorner(members, members) += count * inverse;
    if (!free.means.empty())
      out.sums.tail(members) += count * (inverse * free.means[static_cast<std::size_t>(g)]);
  }
  return out;
}

// beta = (S + n V)^-1 c = (Psi S + n)^-1 Psi c; one cheap simulator needs no matrices.
SmallVector coefficients_of(const SmallMatrix& s, const SmallVector& c, const SmallMatrix& v,
                            double n) {
  return solve_scaled(SmallMatrix(s + n * v), c);
}

// The sample with the cheap simulators that can be used, sorted by their numbers of free returns.
struct Usable {
  std::vector<std::size_t> which;
  PairedSample sample;
};

bool varies(std::span<const double> values) {
  return std::ranges::any_of(values, [&](double x) { return x != values[0]; });
}

Usable usable_of(const PairedSample& sample) {
  Usable out;
  for (std::size_t l = 0; l < sample.num_cheap(); ++l)
    if (sample.free[l].size() > 1 && varies(sample.low[l])) out.which.push_back(l);
  std::ranges::stable_sort(out.which, {}, [&](std::size_t l) { return sample.free[l].size(); });
  if (sample.high.size() < least_pairs(out.which.size())) out.which.clear();
  out.sample = sample.of(out.which);
  return out;
}

FreeGroups groups_of(const PairedSample& sample) {
  std::vector<double> counts;
  for (const auto& values : sample.free) counts.push_back(static_cast<double>(values.size()));
  FreeGroups out = groups_of(counts);
  std::size_t first = 0;
  for (std::size_t g = 0; g < counts.size(); ++g) {
    SmallVector mean = SmallVector::Zero(static_cast<Index>(counts.size() - g));
    const auto last = static_cast<std::size_t>(counts[g]);
    for (std::size_t l = g; l < counts.size() && last > first; ++l) {
      double sum = 0;
      for (std::size_t j = first; j < last; ++j) sum += sample.free[l][j];
      mean[static_cast<Index>(l - g)] = sum / static_cast<double>(last - first);
    }
    out.means.push_back(mean);
    first = last;
  }
  return out;
}

// Covariances of the cheap returns from all of them: correlations from returns that all simulators
// have, standard deviations from all returns of each.
SmallMatrix all_cheap_covariances(const PairedSample& sample) {
  const std::size_t num = sample.num_cheap();
  PairedSample common = sample;  // as if the first cheap simulator were the expensive one
  std::vector<double> sd(num);
  for (std::size_t l = 0; l < num; ++l) {
    Moments moments;
    for (const double x : sample.low[l]) moments.add(x);
    for (const double x : sample.free[l]) moments.add(x);
    sd[l] = std::sqrt(moments.variance());
    common.low[l].insert(
        common.low[l].end(), sample.free[l].begin(),
        sample.free[l].begin() + static_cast<std::ptrdiff_t>(sample.free[0].size()));
  }
  common.high = common.low[0];
  const Covariances c = covariances_of(common);
  SmallMatrix out(static_cast<Index>(num), static_cast<Index>(num));
  for (std::size_t i = 0; i < num; ++i)
    for (std::size_t k = 0; k < num; ++k)
      out(static_cast<Index>(i), static_cast<Index>(k)) =
          sd[i] * sd[k] * (i == k ? 1 : c.correlation(i + 1, k + 1));
  return out;
}

double third_moment(std::span<const double> values) {
  const Summary s = summarise(values);
  return sample_skewness(values) * s.sd * s.sd * s.sd;
}

// The least effective number of values of the simulators.
double effective_pairs(const PairedSample& sample) {
  double effective = effective_number(sample.high);
  for (const auto& low : sample.low) effective = std::min(effective, effective_number(low));
  return effective;
}

// Where variances rest on rare events, pairs that happen to agree say little about how often they
// would not. For all others this is 0.
double unseen_variance(const PairedSample& sample) {
  const auto n = static_cast<double>(sample.high.size());
  const double effective = effective_pairs(sample);
  if (effective > n / 2) return 0;
  const double sd = summarise(sample.high).sd;
  return std::min(1.0, kUnseen / effective) * sd * sd / n;
}

}  // namespace

ControlledMean plain_mean(std::span<const double> values) {
  const Summary s = summarise(values);
  ControlledMean out{.value = s.mean};
  if (s.n < 2) return out;
  const auto n = static_cast<double>(s.n);
  out.variance = s.sd * s.sd / n;
  out.degrees_of_freedom = n - 1;
  out.skewness_of_y = sample_skewness(values);
  out.skewness = out.skewness_of_y / std::sqrt(n);
  return out;
}

ControlledMean controlled_mean(const PairedSample& given) {
  const Usable usable = usable_of(given);
  const PairedSample& sample = usable.sample;
  const auto cheap = static_cast<Index>(sample.num_cheap());
  if (cheap == 0) {
    ControlledMean out = plain_mean(given.high);
    out.coefficients.assign(given.num_cheap(), 0);
    return out;
  }
  const std::size_t count = sample.high.size();
  const auto n = static_cast<double>(count);
  const FreeGroups free = groups_of(sample);

  // Sums of products of deviations. Without episode j they are smaller by n/(n - 1) d_j d_j'.
  const SmallMatrix products = (n - 1) * matrix_of(covariances_of(sample));
  SmallVector means(cheap + 1);
  means[0] = summarise(sample.high).mean;
  for (Index l = 0; l < cheap; ++l)
    means[l + 1] = summarise(sample.low[static_cast<std::size_t>(l)]).mean;

  std::vector<double> corrected(count);
  SmallVector mean_beta = SmallVector::Zero(cheap);
  for (std::size_t j = 0; j < count; ++j) {
    SmallVector d(cheap + 1), low(cheap);
    d[0] = sample.high[j] - means[0];
    for (Index l = 0; l < cheap; ++l) {
      low[l] = sample.low[static_cast<std::size_t>(l)][j];
      d[l + 1] = low[l] - means[l + 1];
    }
    const SmallMatrix others = (products - n / (n - 1) * d * d.transpose()) / (n - 2);
    const SmallMatrix s = others.bottomRightCorner(cheap, cheap);
    const SmallVector c = others.col(0).tail(cheap);
    const FreeInformation info = information_of(s, free);
    const SmallMatrix v = inverse_scaled(info.psi, 0);
    const SmallVector beta = coefficients_of(s, c, v, n);
    const SmallVector mu = v * info.sums;
    corrected[j] = sample.high[j] + beta.dot(mu - low);
    mean_beta += beta / n;
  }

  ControlledMean out = plain_mean(corrected);
  const SmallMatrix all = all_cheap_covariances(sample);
  const SmallMatrix v = inverse_scaled(information_of(all, free).psi, 0);
  const double of_free = mean_beta.dot(v * mean_beta);
  const double of_pairs = std::max(out.variance, unseen_variance(sample));
  // Third cumulants add up; those of the free means are counted as if each had all its returns to
  // itself.
  double third = out.skewness * out.variance * std::sqrt(out.variance);
  double most_free = 0;
  for (Index l = 0; l < cheap; ++l) {
    const auto& values = sample.free[static_cast<std::size_t>(l)];
    const auto m = static_cast<double>(values.size());
    third += std::pow(mean_beta[l], 3) * third_moment(values) / (m * m);
    most_free = std::max(most_free, m);
  }
  out.variance = of_pairs + of_free;
  out.skewness = out.variance > 0 ? third / (out.variance * std::sqrt(out.variance)) : 0;
  // Welch and Satterthwaite; every coefficient costs a degree of freedom.
  const double nu_pairs = std::max(1.0, n - 1 - static_cast<double>(cheap));
  const double nu_free = n + most_free - 1;
  const double spread = of_pairs * of_pairs / nu_pairs + of_free * of_free / nu_free;
  out.degrees_of_freedom = spread > 0 ? out.variance * out.variance / spread : nu_pairs;
  out.coefficients.assign(given.num_cheap(), 0);
  for (Index l = 0; l < cheap; ++l)
    out.coefficients[usable.which[static_cast<std::size_t>(l)]] = mean_beta[l];
  return out;
}

Bounds interval_of(const ControlledMean& mean, double alpha) {
  return skewed_bounds(mean.value, std::sqrt(mean.variance), mean.skewness,
                       student_t_quantile(1 - alpha / 2, mean.degrees_of_freedom));
}

double controlled_variance(const Covariances& c, double n, std::span<const double> free) {
  std::vector<std::size_t> order = {0};
  for (std::size_t l = 0; l < free.size(); ++l)
    if (free[l] > 0 && c.variance(l + 1) > 0) order.push_back(l + 1);
  std::stable_sort(order.begin() + 1, order.end(),
                   [&](std::size_t a, std::size_t b) { return free[a - 1] < free[b - 1]; });
  if (order.size() == 1) return c.variance(0) / n;
  std::vector<double> counts;
  for (std::size_t k = 1; k < order.size(); ++k) counts.push_back(free[order[k] - 1]);
  const SmallMatrix all = matrix_of(c.of(order));
  const auto cheap = static_cast<Index>(counts.size());
  const SmallMatrix s = all.bottomRightCorner(cheap, cheap);
  const SmallVector with_high = all.col(0).tail(cheap);
  const SmallMatrix v =
      inverse_scaled(information_of(s, groups_of(std::span<const double>(counts))).psi, 0);
  const SmallVector beta = coefficients_of(s, with_high, v, n);
  return std::max(0.0, (c.variance(0) - beta.dot(with_high)) / n);
}

}  // namespace hilo
