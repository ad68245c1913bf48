#include "hilo/core/moments.hpp"

namespace hilo {
namespace {

struct Shares {
  double mine, theirs;
};

Shares shares(std::uint64_t mine, std::uint64_t theirs) {
  const double total = static_cast<double>(mine) + static_cast<double>(theirs);
  return {static_cast<double>(mine) / total, static_cast<double>(theirs) / total};
}

}  // namespace

void Moments::merge(const Moments& other) {
  if (other.count_ == 0) return;
  const auto [p, q] = shares(count_, other.count_);
  const double d = other.mean_ - mean_;
  mean_ += q * d;
  population_variance_ = p * population_variance_ + q * other.population_variance_ + p * q * d * d;
  sum_sq_ = p * p * sum_sq_ + q * q * other.sum_sq_;
  count_ += other.count_;
}

void CoMoments::merge(const CoMoments& other) {
  if (other.count_ == 0) return;
  const auto [p, q] = shares(count_, other.count_);
  const double dx = other.mean_x_ - mean_x_;
  const double dy = other.mean_y_ - mean_y_;
  mean_x_ += q * dx;
  mean_y_ += q * dy;
  var_x_ = p * var_x_ + q * other.var_x_ + p * q * dx * dx;
  var_y_ = p * var_y_ + q * other.var_y_ + p * q * dy * dy;
  cov_ = p * cov_ + q * other.cov_ + p * q * dx * dy;
  sum_sq_ = p * p * sum_sq_ + q * q * other.sum_sq_;
  count_ += other.count_;
}

}  // namespace hilo
