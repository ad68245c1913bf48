#pragma once

#include <memory>
#include <vector>

#include "hilo/env/vector_steps.hpp"
#include "hilo/model/corrected_steps.hpp"
#include "hilo/policy/network_policy.hpp"

namespace hilo {

// The return of a simulation that left the finite numbers: worse than any other, and sums of a
// million of them are finite.
inline constexpr double kExplodedReturn = -1e300;

// A fixed start, a fixed simulator and fixed random numbers: on it, the return of a policy is a
// number. Means over fixed scenarios make policy search a deterministic problem (PEGASUS; Ng and
// Jordan 2000).
struct Scenario {
  std::vector<double> start;
  std::shared_ptr<const VectorSteps> simulator;  // the same one for all scenarios
  Stream stream;
  Correction correction = {};
  // On actions, so that no policy is found that works only as long as nothing disturbs it.
  double action_noise = 0;
};

// The mean discounted return over all scenarios of each of many networks, whose weights are
// columns. All networks advance together in each scenario, or in many scenarios if the simulator
// gains by that. Scenarios are spread over threads (0: one for each core); the result does not
// depend on their number.
// Returns that are not finite count as kExplodedReturn. Adds the steps
// of simulators to `steps`.
std::vector<double> mean_returns(const NetworkShape& shape, const Columns& weights,
                                 const std::vector<Scenario>& scenarios, const Horizon& horizon,
                                 std::size_t threads = 0, std::uint64_t* steps = nullptr);
// Returns of one network in each of the scenarios.
std::vector<double> returns_of(const NetworkShape& shape, std::span<const double> weights,
                               const std::vector<Scenario>& scenarios, const Horizon& horizon,
                               std::size_t threads = 0, std::uint64_t* steps = nullptr);

// Throws Errc::spec if the network has more weights than a search can handle: the memory of CMA-ES
// grows with their square.
void require_searchable(const NetworkShape& shape);

struct SearchOptions {
  std::uint32_t generations = 100;
  std::size_t population = 16;
  double sigma = 0.5;           // first step size of CMA-ES
  std::uint32_t patience = 30;  // generations without progress after which it ends
  std::size_t threads = 0;
};

struct SearchResult {
  std::vector<double> weights;
  double value = 0;         // mean return over the scenarios
  std::uint64_t steps = 0;  // of simulators
};

// Maximises the mean return from a start, with CMA-ES. Its random numbers are those of purpose
// `search` with this seed, episode and pair.
SearchResult search_policy(const NetworkShape& shape, std::span<const double> start,
                           const std::vector<Scenario>& scenarios, const Horizon& horizon,
                           const SearchOptions& options, std::uint64_t seed, std::uint32_t episode,
                           std::uint32_t pair);

}  // namespace hilo
