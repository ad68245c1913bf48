#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hilo/core/summary.hpp"

namespace hilo {

struct Interval {
  double low = 0, high = 0;
};

// The quantile at p of n sorted values, interpolated linearly between order statistics: it is at
// position p (n - 1), counted from 0.
double quantile(std::span<const double> sorted, double p);

struct Quartiles {
  double q1 = 0, median = 0, q3 = 0;
};
Quartiles quartiles(std::vector<double> values);

// A box plot. The whiskers reach to the last value within 1.5 (q3 - q1) of the box; values beyond
// are outliers.
struct Box {
  Quartiles quartiles;
  double low_whisker = 0, high_whisker = 0;
  std::vector<double> outliers;  // in ascending order
};
Box box_plot(std::vector<double> values);

// The mean of the middle half: floor(n / 4) values are left out at either end. A bad seed affects
// it less than the mean, and it is less noisy than the median.
double interquartile_mean(std::vector<double> values);

// The share of seeds for which x is larger than y; ties count half. x[i] and y[i] belong to the
// same seed.
double probability_of_improvement(std::span<const double> x, std::span<const double> y);

// Wilson's 95 % score interval of a share of n trials. Unlike the normal interval, it has a
// positive width for shares of 0 and 1.
Interval wilson_interval(double share, std::uint64_t n);

// The mean level of a curve over its range: its area (trapezoidal rule) divided by its length.
double area_under_curve(std::span<const std::uint64_t> episodes, std::span<const double> values);

// The episode at which a curve first reaches a level, interpolated between its points; nothing if
// it never does.
std::optional<double> first_reach(std::span<const std::uint64_t> episodes,
                                  std::span<const double> values, double level);

}  // namespace hilo
