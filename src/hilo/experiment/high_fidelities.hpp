#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "hilo/core/parameters.hpp"
#include "hilo/env/catalogue.hpp"
#include "hilo/exact/optimum.hpp"

namespace hilo {

// An expensive simulator with its exact optimum, which is computed when it is first asked for.
class HighFidelity {
 public:
  explicit HighFidelity(HighSimulator simulator) : simulator_(std::move(simulator)) {}

  const HighSimulator& simulator() const { return simulator_; }

  // nullptr if it cannot be computed, as without a model or without discounting.
  const Optimum* optimum(double gamma, std::uint32_t max_steps) const;

 private:
  HighSimulator simulator_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<double, std::uint32_t>, std::optional<Optimum>> optima_;
};

// Shares a high fidelity among all problems of a seed that have the same one, as long as it is in
// use or was among the last ones asked for. Any thread may call it.
class HighFidelities {
 public:
  std::shared_ptr<const HighFidelity> get(const ProblemKind& kind,
                                          const std::map<std::string, Value>& problem,
                                          std::uint64_t seed);

 private:
  // A plan proceeds seed by seed, and each seed has few different high fidelities.
  static constexpr std::size_t kRecent = 2;
  std::shared_ptr<const HighFidelity> keep(const std::shared_ptr<const HighFidelity>& used);

  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const HighFidelity>> in_use_;
  std::vector<std::shared_ptr<const HighFidelity>> recent_;
};

}  // namespace hilo
