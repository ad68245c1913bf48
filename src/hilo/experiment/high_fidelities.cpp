#include "hilo/experiment/high_fidelities.hpp"

#include <fmt/format.h>

#include "hilo/env/registry.hpp"

namespace hilo {
namespace {

std::string key_of(const std::string& kind, const std::map<std::string, Value>& problem,
                   std::uint64_t seed) {
  std::string key = fmt::format("{} {}", kind, seed);
  for (const ParameterInfo& info : problem_kind(kind).parameters)
    if (!info.low_fidelity_only)
      std::visit([&](const auto& value) { key += fmt::format("\n{} = {}", info.name, value); },
                 problem.at(info.name));
  return key;
}

}  // namespace

const Optimum* HighFidelity::optimum(double gamma, std::uint32_t max_steps) const {
  const Model* model = simulator_->model();
  if (model == nullptr || gamma >= 1) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = optima_.find({gamma, max_steps});
  if (found != optima_.end()) return &found->second;
  return &optima_.emplace(std::pair(gamma, max_steps), find_optimum(*model, gamma, max_steps))
              .first->second;
}

std::shared_ptr<const HighFidelity> HighFidelities::get(const std::string& problem_kind,
                                                        const std::map<std::string, Value>& problem,
                                                        std::uint64_t seed) {
  const std::string key = key_of(problem_kind, problem, seed);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = in_use_.find(key); found != in_use_.end())
      if (auto shared = found->second.lock()) return shared;
  }
  // Built without the lock: two threads may build the same one, but none waits for another.
  auto built =
      std::make_shared<const HighFidelity>(build_high_fidelity(problem_kind, problem, seed));
  const std::lock_guard lock(mutex_);
  std::erase_if(in_use_, [](const auto& entry) { return entry.second.expired(); });
  const auto place = in_use_.emplace(key, built).first;
  if (auto shared = place->second.lock()) return shared;
  place->second = built;
  return built;
}

}  // namespace hilo
