// Policy search on a control problem, and the loop written by hand that it is measured against.
// Names are keys in stored histories: never rename in passing.
#include <benchmark/benchmark.h>

#include "control_bare_loop.hpp"
#include "hilo/core/error.hpp"

namespace hilo {
namespace {

using bench::ControlWork;
using bench::ControlWorkOptions;

constexpr double kSearchNoise = 0.05;  // as searches have it

ControlWorkOptions options_of(const benchmark::State& state) {
  return {.scenarios = static_cast<std::size_t>(state.range(0)),
          .frequencies = static_cast<std::size_t>(state.range(1)),
          .action_noise = state.range(2) != 0 ? kSearchNoise : 0};
}

// A step is one of one network in one scenario. Both loops must give the same returns, to the bit.
template <auto kRun>
void control(benchmark::State& state) {
  const ControlWork work(options_of(state));
  try {
    work.check();
  } catch (const Error& e) {
    state.SkipWithError(e.what());
  }
  for (auto _ : state) benchmark::DoNotOptimize((work.*kRun)());
  state.SetItemsProcessed(static_cast<std::int64_t>(work.steps()) * state.iterations());
}

void arguments(benchmark::internal::Benchmark* b) {
  b->ArgNames({"scenarios", "frequencies", "noise"})->Unit(benchmark::kMillisecond);
  for (const std::int64_t frequencies : {0, 150})
    for (const std::int64_t noise : {0, 1}) b->Args({24, frequencies, noise});
  b->Args({48, 150, 0})->Args({24, 300, 0});
}
BENCHMARK_TEMPLATE(control, &ControlWork::run_hilo)->Name("control_search")->Apply(arguments);
BENCHMARK_TEMPLATE(control, &ControlWork::run_bare)->Name("control_bare_loop")->Apply(arguments);

void residual_fit(benchmark::State& state) {
  const ResidualData data = bench::control_data(static_cast<std::size_t>(state.range(0)));
  const auto options = bench::residual_options(static_cast<std::size_t>(state.range(1)));
  for (auto _ : state) {
    const ResidualModel model(data, options, 1);
    if (model.is_empty()) state.SkipWithError("nothing was learnt");
  }
}
BENCHMARK(residual_fit)
    ->ArgNames({"transitions", "frequencies"})
    ->Args({300, 150})
    ->Args({600, 150})
    ->Args({1200, 150})
    ->Args({1200, 300})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hilo
