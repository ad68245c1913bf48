#include "hilo/studies/control_scale.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "hilo/agent/policy_search.hpp"
#include "hilo/env/catalogue.hpp"

namespace hilo {
namespace {

constexpr std::uint64_t kTestSeed = 987'654'321, kSearchSeed = 5;
constexpr std::size_t kStarts = 200, kScenarios = 48;
constexpr std::uint32_t kRestarts = 10;

NetworkShape shape_of(const VectorSimulator& high) {
  const std::size_t dimension = high.observation_space().dimension();
  return {.observations = high.observation_space(),
          .actions = high.action_space(),
          .angles = {high.angles().begin(), high.angles().end()},
          .centre = std::vector<double>(dimension, 0.0),
          .scale = std::vector<double>(dimension, 2.0),
          .layers = {10}};
}

std::vector<Scenario> scenarios_of(const std::shared_ptr<const VectorSimulator>& high) {
  Columns starts(high->observation_space().dimension(), kScenarios);
  high->draw_starts({.seed = kSearchSeed, .purpose = Purpose::search}, starts);
  std::vector<Scenario> out;
  for (std::uint32_t i = 0; i < kScenarios; ++i) {
    std::vector<double> start(starts.rows());
    starts.get(i, start);
    out.push_back({.start = start,
                   .simulator = std::dynamic_pointer_cast<const VectorSteps>(high),
                   .stream = Stream(kSearchSeed, Purpose::search, 0, 0, i)});
  }
  return out;
}

ControlScale search_scale(const std::string& kind) {
  const auto high = build_vector_problem(problem_kind(kind), {}, 0).pair.shared_high();
  const NetworkShape shape = shape_of(*high);
  const std::vector<double> nothing(shape.num_weights(), 0.0);
  const auto scenarios = scenarios_of(high);
  ControlScale out;
  out.best = out.zero = control_value(*high, NetworkPolicy(shape, nothing));
  for (std::uint32_t restart = 0; restart < kRestarts; ++restart) {
    const SearchResult found = search_policy(
        shape, nothing, scenarios, {.gamma = 1, .max_steps = high->time_limit()},
        {.generations = 500, .population = 20, .sigma = 0.5, .patience = 100}, kSearchSeed, restart,
        /*threads=*/0);
    out.best = std::max(out.best, control_value(*high, NetworkPolicy(shape, found.weights)));
  }
  return out;
}

}  // namespace

double control_value(const VectorSimulator& high, const Policy& policy) {
  std::vector<RolloutSummary> out(kStarts);
  high.run_episodes(policy, {.seed = kTestSeed, .purpose = Purpose::test}, {.gamma = 1}, out);
  double sum = 0;
  for (const RolloutSummary& summary : out) sum += summary.discounted_return;
  return sum / kStarts;
}

const ControlScale& control_scale(const std::string& kind) {
  static std::mutex mutex;
  static std::map<std::string, ControlScale> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(kind);
  return found != known.end() ? found->second
                              : known.emplace(kind, search_scale(kind)).first->second;
}

}  // namespace hilo
