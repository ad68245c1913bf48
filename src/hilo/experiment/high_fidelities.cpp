#include "hilo/experiment/high_fidelities.hpp"

#include <fmt/format.h>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

std::string key_of(const ProblemKind& kind, const std::map<std::string, Value>& problem,
                   std::uint64_t seed) {
  const bool same = kind.same_for_all_seeds && !kind.has_files_by_seed(problem);
  // User-defined kinds may have the same name, so the key has the address of the kind.
  std::string key = fmt::format("{} {}", static_cast<const void*>(&kind), same ? 0 : seed);
  for (const ParameterInfo& info : kind.parameters)
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
  const auto [place, is_new] = optima_.try_emplace({gamma, max_steps});
  try {
    if (is_new) place->second = find_optimum(*model, gamma, max_steps);
  } catch (const Error&) {
    // Runs do not need the optimum.
  }
  return place->second ? &*place->second : nullptr;
}

std::shared_ptr<const HighFidelity> HighFidelities::get(const ProblemKind& kind,
                                                        const std::map<std::string, Value>& problem,
                                                        std::uint64_t seed) {
  const std::string key = key_of(kind, problem, seed);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = in_use_.find(key); found != in_use_.end())
      if (auto shared = found->second.lock()) return keep(shared);
  }
  // Built without the lock: two threads may build the same one, but none waits for another.
  auto built = std::make_shared<const HighFidelity>(build_high_fidelity(kind, problem, seed));
  const std::lock_guard lock(mutex_);
  std::erase_if(in_use_, [](const auto& entry) { return entry.second.expired(); });
  const auto place = in_use_.emplace(key, built).first;
  if (auto shared = place->second.lock()) return keep(shared);
  place->second = built;
  return keep(built);
}

std::shared_ptr<const HighFidelity> HighFidelities::keep(
    const std::shared_ptr<const HighFidelity>& used) {
  std::erase(recent_, used);
  recent_.push_back(used);
  if (recent_.size() > kRecent) recent_.erase(recent_.begin());
  return used;
}

}  // namespace hilo
