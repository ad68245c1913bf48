// Training speed as a ratio to a bare loop measured in the same run. Names are keys in stored
// histories: never rename in passing.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "bare_loop.hpp"
#include "hilo/agent/mfmcrl.hpp"
#include "hilo/env/degraded_twin.hpp"
#include "hilo/env/random_mdp.hpp"

namespace hilo {
namespace {

struct Twins {
  std::shared_ptr<const TabularMdp> high, low;

  Twins(std::size_t states, std::size_t actions, Projection projection)
      : high(make_random_mdp({.states = states, .actions = actions}, 1)),
        low(degrade(*high, {.snr_db = -3, .projection = projection}, 1).mdp) {}
};

// The ceiling (bare_loop.hpp).
void bare_loop(benchmark::State& state) {
  const Twins twins(static_cast<std::size_t>(state.range(0)),
                    static_cast<std::size_t>(state.range(1)), Projection::simplex);
  const TabularSampler<std::uint16_t> env(twins.low);
  const auto terminal = static_cast<State>(twins.low->num_states() - 1);
  constexpr std::uint32_t kSteps = 20'000;
  std::uint64_t seed = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        bench::run_bare_loop(simd_path(), env.lockstep_tables(), terminal, kSteps, ++seed));
  state.SetItemsProcessed(state.iterations() * kSteps * bench::kBarePaths);
}
BENCHMARK(bare_loop)
    ->ArgNames({"states", "actions"})
    ->Args({200, 8})
    ->Args({1000, 12})
    ->Unit(benchmark::kMillisecond);

// MFMCRL as the user runs it: high-fidelity episodes, low-fidelity roll-outs, updates. A step is a
// step of either fidelity.
void mfmcrl_training(benchmark::State& state, const Variant& variant) {
  const Twins twins(static_cast<std::size_t>(state.range(0)),
                    static_cast<std::size_t>(state.range(1)), variant.projection);
  const Fidelities pair(make_simulator(twins.high), make_simulator(twins.low));
  const auto m = static_cast<std::uint32_t>(state.range(2));
  constexpr std::uint32_t kEpisodes = 1000;
  std::uint64_t steps = 0;
  std::uint64_t high_steps = 0;
  double value = 0;
  for (auto _ : state) {
    Mfmcrl agent(pair, {.low_rollouts = m, .low_policy = variant.low_policy, .pool = variant.pool},
                 1);
    Episode episode;
    for (std::uint32_t k = 0; k < kEpisodes; ++k) {
      pair.high().run_episode(agent.behaviour(),
                              {.seed = 1, .purpose = Purpose::high_episode, .episode = k}, {},
                              episode);
      steps += agent.learn(episode).low_steps;
      high_steps += episode.length();
    }
    double sum = 0;
    for (const double q : agent.q().values()) sum += q;
    if (value != 0 && sum != value) {
      state.SkipWithError("two trainings with one seed differ");
      break;
    }
    value = sum;
  }
  // Every state ends an episode with probability 0.1, so that its mean length is 10; the standard
  // error of one training is 0.3.
  const double mean_length =
      static_cast<double>(high_steps) / static_cast<double>(state.iterations() * kEpisodes);
  if (std::abs(mean_length - 10) > 1.5) state.SkipWithError("wrong dynamics");
  state.SetItemsProcessed(static_cast<std::int64_t>(steps + high_steps));
}
BENCHMARK_CAPTURE(mfmcrl_training, as_written, kAsWritten)
    ->ArgNames({"states", "actions", "m"})
    ->Args({200, 8, 1})
    ->Args({200, 8, 10})
    ->Args({200, 8, 100})
    ->Args({1000, 12, 1})
    ->Args({1000, 12, 10})
    ->Args({1000, 12, 100})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(mfmcrl_training, as_published, kAsPublished)
    ->ArgNames({"states", "actions", "m"})
    ->Args({200, 8, 10})
    ->Unit(benchmark::kMillisecond);

// Making a pair that is ready to train.
void make_pair(benchmark::State& state) {
  for (auto _ : state) {
    const Twins twins(static_cast<std::size_t>(state.range(0)),
                      static_cast<std::size_t>(state.range(1)), Projection::simplex);
    benchmark::DoNotOptimize(twins.low->num_nonzeros());
  }
}
BENCHMARK(make_pair)
    ->ArgNames({"states", "actions"})
    ->Args({200, 8})
    ->Args({1000, 12})
    ->Unit(benchmark::kMillisecond);

// Keeps what the console shows, and the speeds for the ratios at the end.
class RatioReporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) failed_ = failed_ || run.error_occurred;
    for (const Run& run : runs)
      if (run.counters.contains("items_per_second"))
        speed_[run.benchmark_name()] = run.counters.at("items_per_second");
    ConsoleReporter::ReportRuns(runs);
  }

  void print_ratios() const {
    for (const auto& [name, speed] : speed_) {
      const std::size_t states = name.find("/states:");
      const std::size_t m = name.find("/m:");
      if (m == std::string::npos) continue;
      const auto bare = speed_.find("bare_loop" + name.substr(states, m - states));
      if (bare == speed_.end()) continue;
      std::printf("%s: %.1f million steps/s, %.0f %% of the bare loop (%.1f)\n", name.c_str(),
                  speed / 1e6, 100 * speed / bare->second, bare->second / 1e6);
    }
  }

  bool failed() const { return failed_; }

 private:
  std::map<std::string, double> speed_;
  bool failed_ = false;
};

constexpr double kMemoryLimit = 350;  // MB, of a 1000 x 12 pair ready to train

// Peak memory of a process that makes one 1000 x 12 pair and an agent on it, and learns. Whether it
// is within the limit.
bool check_memory(Projection projection) {
  const Twins twins(1000, 12, projection);
  const Fidelities pair(make_simulator(twins.high), make_simulator(twins.low));
  Mfmcrl agent(pair, {}, 1);
  Episode episode;
  pair.high().run_episode(agent.behaviour(), {.seed = 1}, {}, episode);
  agent.learn(episode);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double peak = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
  std::printf("memory of a 1000 x 12 pair ready to train (%s): peak %.0f MB, tables %.0f MB\n",
              std::string(name_of(projection)).c_str(), peak,
              static_cast<double>(twins.high->memory_bytes() + twins.low->memory_bytes()) / 1e6);
  return peak <= kMemoryLimit;
}

}  // namespace
}  // namespace hilo

int main(int argc, char** argv) {
  bool ok = true;
  // Memory first: a peak only rises.
  for (const hilo::Projection p : {hilo::Projection::simplex, hilo::Projection::bisection})
    ok = hilo::check_memory(p) && ok;
  benchmark::Initialize(&argc, argv);
  hilo::RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.print_ratios();
  return ok && !reporter.failed() ? 0 : 1;
}
