#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace hilo {

inline constexpr std::size_t kMostCheap = 4;  // cheap simulators that help at once

// Covariances of the returns of one policy in an expensive simulator, number 0, and in cheap ones,
// 1 to K, that are driven by the same random numbers. The largest number of simulators is known, so
// that nothing is allocated.
class Covariances {
 public:
  static constexpr std::size_t kMost = kMostCheap + 1;

  explicit Covariances(std::size_t size = 1) : size_(size) {}

  std::size_t size() const { return size_; }
  double operator()(std::size_t i, std::size_t k) const { return values_[i * kMost + k]; }
  void set(std::size_t i, std::size_t k, double value) {
    values_[i * kMost + k] = values_[k * kMost + i] = value;
  }
  double variance(std::size_t i) const { return (*this)(i, i); }
  double correlation(std::size_t i, std::size_t k) const;

  // Those of simulators `chosen`, in that order.
  Covariances of(const std::vector<std::size_t>& chosen) const;

 private:
  std::size_t size_;
  std::array<double, kMost* kMost> values_ = {};
};

// Returns of n episodes that the expensive simulator and all cheap ones have run with the same
// random numbers, and free returns of the cheap ones alone. Free return j of every simulator that
// has one comes from the same random numbers, so that the free samples are nested.
struct PairedSample {
  std::vector<double> high;
  std::vector<std::vector<double>> low;   // [l][j], j < high.size()
  std::vector<std::vector<double>> free;  // [l][j]

  std::size_t num_cheap() const { return low.size(); }
  PairedSample of(const std::vector<std::size_t>& cheap) const;  // counted from 0
};

// Normal values that would tell as much about their variance, 3 (sum d^2)^2 / sum d^4, at most n: a
// variance that rests on a few large deviations, as those of rare failures, is known as badly as
// from so few values. Where three quarters of the values are equal, it is at most the number of the
// others.
double effective_number(std::span<const double> values);
// However well pairs agree, what has not been seen among n of them may come as often as 1 in n, so
// that this part of the variance, divided by n, is taken to be left.
inline constexpr double kUnseen = 2;
// Whether variances rest on rare events (a kurtosis above 6), and on too few of them to know how
// often the simulators agree.
inline bool rests_on_few_events(double effective, double n) {
  return effective < 10 && effective <= n / 2;
}

// Cheap returns that lie far outside of the paired ones, by more than three times their
// interquartile range, are replaced by the median, paired and free ones alike. A control variate
// may be any function of a cheap return, and one that ignores a simulator's rare breakdowns is the
// better one where they have nothing to do with the expensive return. False if nothing changed.
bool replace_far_values(PairedSample& sample);

// Sample covariances of the paired returns; zero for fewer than two.
Covariances covariances_of(const PairedSample& sample);
// The sum of those of several samples of the same simulators.
Covariances covariances_of(std::span<const PairedSample> samples);

}  // namespace hilo
