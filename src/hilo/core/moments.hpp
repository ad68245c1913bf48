#pragma once

#include <cstdint>

namespace hilo {

// Step sizes of the running moments: the n-th value gets the weight w / (n + w - 1).
// w = 1 is 1/n, the plain mean; w = 2 about doubles the weight of new values, so that the influence
// of old ones fades.
inline constexpr double kEqualWeights = 1;
inline constexpr double kRecencyWeights = 2;

// Mean and variance of a sequence in O(1) memory (Welford's update, generalised to weights):
//   mean <- mean + eta (x - mean),   var <- (1 - eta) (var + eta (x - mean)^2)
// sum_sq is the sum of the squared normalised weights, 1/n for equal ones; 1 / sum_sq is the
// number of equally weighted values that would be as informative.
class Moments {
 public:
  void add(double x, double w = kEqualWeights) {
    const double eta = w / (static_cast<double>(++count_) + w - 1);
    const double d = x - mean_;
    mean_ += eta * d;
    population_variance_ = (1 - eta) * (population_variance_ + eta * d * d);
    sum_sq_ = (1 - eta) * (1 - eta) * sum_sq_ + eta * eta;
  }

  // Gives the moments of the values of both, each side weighted by its share of the count
  // (Chan, Golub and LeVeque 1979). Exact for equal weights.
  void merge(const Moments& other);

  std::uint64_t count() const { return count_; }
  double mean() const { return mean_; }
  double population_variance() const { return population_variance_; }
  double variance() const { return count_ > 1 ? population_variance_ / (1 - sum_sq_) : 0; }
  double effective_count() const { return count_ > 0 ? 1 / sum_sq_ : 0; }

  bool operator==(const Moments&) const = default;

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0;
  double population_variance_ = 0;
  double sum_sq_ = 0;
};

// The same for pairs (x, y), with their covariance.
class CoMoments {
 public:
  void add(double x, double y, double w = kEqualWeights) {
    const double eta = w / (static_cast<double>(++count_) + w - 1);
    const double dx = x - mean_x_;
    const double dy = y - mean_y_;
    mean_x_ += eta * dx;
    mean_y_ += eta * dy;
    var_x_ = (1 - eta) * (var_x_ + eta * dx * dx);
    var_y_ = (1 - eta) * (var_y_ + eta * dy * dy);
    cov_ = (1 - eta) * (cov_ + eta * dx * dy);
    sum_sq_ = (1 - eta) * (1 - eta) * sum_sq_ + eta * eta;
  }

  void merge(const CoMoments& other);

  std::uint64_t count() const { return count_; }
  double mean_x() const { return mean_x_; }
  double mean_y() const { return mean_y_; }
  double variance_x() const { return unbiased(var_x_); }
  double variance_y() const { return unbiased(var_y_); }
  double covariance() const { return unbiased(cov_); }
  double effective_count() const { return count_ > 0 ? 1 / sum_sq_ : 0; }

  bool operator==(const CoMoments&) const = default;

 private:
  double unbiased(double population) const { return count_ > 1 ? population / (1 - sum_sq_) : 0; }

  std::uint64_t count_ = 0;
  double mean_x_ = 0, mean_y_ = 0;
  double var_x_ = 0, var_y_ = 0, cov_ = 0;  // population values
  double sum_sq_ = 0;
};

}  // namespace hilo
