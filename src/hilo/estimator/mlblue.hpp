#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hilo/estimator/paired_sample.hpp"

namespace hilo {

// The multilevel best linear unbiased estimator (Schaden and Ullmann, SIAM/ASA JUQ 8, 2020): any
// subsets of the simulators, called groups, are run together with the same random numbers. With
// n_g samples of group g, C_g the covariances of its members and R_g the selection of its members,
//
//   Psi = sum_g n_g R_g' C_g^-1 R_g,        mu = Psi^-1 sum_g n_g R_g' C_g^-1 mean_g,
//   Var[mu_0] = (Psi^-1)_00
//
// is the least variance that a linear unbiased estimate of the expensive mean mu_0 can have.
struct SampleGroup {
  std::uint32_t members = 0;  // bit i: simulator i; 0 is the expensive one
  double count = 0;

  bool has(std::size_t simulator) const { return (members >> simulator & 1U) != 0; }
};

double mlblue_variance(const Covariances& c, std::span<const SampleGroup> groups);

// weights[g][k] is the weight of the mean of the k-th member of group g, in rising order.
std::vector<std::vector<double>> mlblue_weights(const Covariances& c,
                                                std::span<const SampleGroup> groups);

struct Allocation {
  std::vector<SampleGroup> groups;  // those that get samples
  double cost = 0;
  double variance = 0;  // predicted
};

// The counts of all groups that minimise the variance of the expensive mean for a budget;
// costs[i] is the cost of one sample of simulator i. They are whole numbers unless `rounded` is
// false. Throws Errc::usage unless costs are positive and the budget pays for one expensive sample.
Allocation mlblue_allocation(const Covariances& c, std::span<const double> costs, double budget,
                             bool rounded = true);

}  // namespace hilo
