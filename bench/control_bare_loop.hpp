#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hilo/agent/policy_search.hpp"
#include "hilo/core/simd.hpp"
#include "hilo/env/control/control.hpp"
#include "hilo/model/residual_model.hpp"

namespace hilo::bench {

inline constexpr std::size_t kBareNetworks = 16, kBareUnits = 10;
inline constexpr std::size_t kBareInputs = 5;                            // of a network
inline constexpr std::size_t kResidualInputs = 6, kResidualOutputs = 5;  // with action and reward

struct BareScenario {
  std::array<double, 4> start;  // x, x', angle, angular velocity
  std::vector<double> noise;    // of the action in each step, drawn beforehand; empty: none
  std::vector<double> weights;  // [1 + inputs + 2 frequencies][output] of the residual, if any
};

// What the loop needs to know, laid out as it reads it.
struct BareWork {
  ControlOptions cart_pole;
  std::array<double, 4> inverse_scale = {};  // of a network's inputs; that of the angle is not used
  Columns weights;                           // a row for each weight, a column for each network
  std::array<double, kResidualInputs> centre = {}, inverse_deviation = {};  // of the residual's
  std::vector<double> frequencies;  // [frequency][input]; empty: there is no residual
  std::vector<BareScenario> scenarios;
  std::uint32_t steps = 0;
};

// The ceiling that policy search is measured against, and never to be changed in passing: a loop
// written by hand for this one problem. Cart-poles without friction take one Euler step after the
// other, with actions of networks of 10 units, and with a residual if there are frequencies. Sine,
// cosine and tanh are the library's own, and so is the order of all sums, so that returns have the
// same bits. State stays in registers, the angle's sine and cosine are computed once in a step, and
// there are no streams, no spaces, no ends and no records.
//
// Returns the mean return of each network over all scenarios.
std::vector<double> run_control_loop(SimdPath path, const BareWork& work);

struct ControlWorkOptions {
  std::size_t scenarios = 24;
  std::size_t frequencies = 0;    // of the residual; 0: there is none
  std::size_t transitions = 300;  // that the residual is fitted to
  double action_noise = 0;
};

// One piece of work for both: 16 random networks in fixed scenarios of 150 steps on the cheap
// cart-pole of the catalogue.
class ControlWork {
 public:
  explicit ControlWork(const ControlWorkOptions& options);

  std::vector<double> run_hilo() const;
  std::vector<double> run_bare() const;
  std::uint64_t steps() const;
  // Throws Errc::data unless both give the same returns.
  void check() const;

 private:
  void add_residual(const ControlWorkOptions& options);

  NetworkShape shape_;
  Horizon horizon_;
  std::vector<Scenario> scenarios_;
  BareWork bare_;
};

// Steps of the expensive cart-pole with random networks, in episodes of 150, and what the cheap one
// says about them. The expensive reward has a term of its own, so that all outputs have a residual.
ResidualData control_data(std::size_t transitions);
ResidualOptions residual_options(std::size_t frequencies);

}  // namespace hilo::bench
