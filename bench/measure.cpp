// hilo_measure WHAT: the measurements behind docs/performance.md, as JSON on standard output.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bare_loop.hpp"
#include "control_bare_loop.hpp"
#include "gradient_bare_loop.hpp"
#include "hilo/agent/mfmcrl.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/machine.hpp"
#include "hilo/core/version.hpp"
#include "hilo/env/catalogue.hpp"
#include "hilo/env/degraded_twin.hpp"
#include "hilo/env/random_mdp.hpp"
#include "hilo/exact/solve.hpp"

namespace hilo::bench {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

struct Pair {
  std::shared_ptr<const TabularMdp> high_mdp, low_mdp;
  Fidelities pair;
};

Pair make_pair(std::size_t states, std::size_t actions) {
  auto high = make_random_mdp({.states = states, .actions = actions}, 1);
  auto low = degrade(*high, {.snr_db = -3, .projection = Projection::simplex}, 1).mdp;
  return {high, low, Fidelities(make_simulator(high), make_simulator(low))};
}

// MFMCRL as the user runs it, as written: high-fidelity episodes, low-fidelity roll-outs, updates.
class Training {
 public:
  Training(const Fidelities& pair, std::uint32_t m)
      : pair_(pair), agent_(pair, {.low_rollouts = m}, 1) {}

  // So many more episodes; returns the steps of both fidelities.
  [[gnu::noinline]] std::uint64_t run(std::uint32_t episodes) {
    std::uint64_t steps = 0;
    for (std::uint32_t i = 0; i < episodes; ++i) {
      pair_.high().run_episode(agent_.behaviour(),
                               {.seed = 1,
                                .purpose = Purpose::high_episode,
                                .episode = static_cast<std::uint32_t>(agent_.episodes())},
                               {}, episode_);
      const std::uint64_t low = agent_.learn(episode_).low_steps;
      low_steps_ += low;
      steps += low + episode_.length();
    }
    return steps;
  }
  std::uint64_t low_steps() const { return low_steps_; }
  std::uint64_t episodes() const { return agent_.episodes(); }

 private:
  const Fidelities& pair_;
  Mfmcrl agent_;
  Episode episode_;
  std::uint64_t low_steps_ = 0;
};

// Training beside the bare loop, in turns of a few milliseconds, because the machine is shared:
// what slows one down slows the other. The ratio is the median over blocks of turns.
json measure_ratio(std::size_t states, std::size_t actions, std::uint32_t m,
                   std::uint32_t total_episodes) {
  const Pair problem = make_pair(states, actions);
  const TabularSampler<std::uint16_t> env(problem.low_mdp);
  constexpr int kBlocks = 15;
  const std::uint32_t turns = 20;
  const std::uint32_t episodes = std::max(1U, total_episodes / turns);
  std::vector<double> ratios, bare_speeds, speeds;
  std::uint64_t seed = 0;
  for (int block = 0; block < kBlocks; ++block) {
    Training training(problem.pair, m);
    double bare_seconds = 0;
    double seconds = 0;
    std::uint64_t bare_steps = 0;
    std::uint64_t steps = 0;
    for (std::uint32_t turn = 0; turn < turns; ++turn) {
      auto start = Clock::now();
      steps += training.run(episodes);
      seconds += seconds_since(start);
      constexpr std::uint32_t kBareSteps = 5000;
      start = Clock::now();
      const double sum = run_bare_loop(simd_path(), env.lockstep_tables(),
                                       static_cast<State>(states - 1), kBareSteps, ++seed);
      bare_seconds += seconds_since(start);
      if (!std::isfinite(sum)) throw Error(Errc::data, "the bare loop went wrong");
      bare_steps += std::uint64_t{kBareSteps} * kBarePaths;
    }
    // Every state ends an episode with probability 0.1, so that its mean length is 10.
    const double per_episode = static_cast<double>(steps) / (turns * episodes);
    const double expected = 10.0 * (1 + 10.0 * m);
    if (per_episode < 0.5 * expected || per_episode > 1.5 * expected)
      throw Error(Errc::data, "training does other work than it should");
    speeds.push_back(static_cast<double>(steps) / seconds);
    bare_speeds.push_back(static_cast<double>(bare_steps) / bare_seconds);
    ratios.push_back(speeds.back() / bare_speeds.back());
  }
  return {{"states", states},
          {"actions", actions},
          {"m", m},
          {"episodes", turns * episodes},
          {"steps_per_second", median(speeds)},
          {"best", *std::ranges::max_element(speeds)},
          {"bare", median(bare_speeds)},
          {"bare_best", *std::ranges::max_element(bare_speeds)},
          {"ratio", median(ratios)},
          {"ratio_low", *std::ranges::min_element(ratios)},
          {"ratio_high", *std::ranges::max_element(ratios)},
          {"blocks", kBlocks}};
}

json measure_ratios() {
  json out = json::array();
  for (const std::uint32_t m : {1U, 10U, 100U})
    out.push_back(measure_ratio(200, 8, m, m == 100 ? 1000 : 10'000));
  for (const std::uint32_t m : {1U, 10U, 100U})
    out.push_back(measure_ratio(1000, 12, m, m == 100 ? 500 : 5000));
  return out;
}

// Slope of log y over log x by least squares.
double log_slope(const json& points, const char* x, const char* y) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const json& p : points) {
    const double lx = std::log(p.at(x).get<double>());
    const double ly = std::log(p.at(y).get<double>());
    sx += lx, sy += ly, sxx += lx * lx, sxy += lx * ly;
  }
  const auto n = static_cast<double>(points.size());
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

double training_seconds(const Fidelities& pair, std::uint32_t m, std::uint32_t episodes) {
  std::vector<double> seconds;
  for (int i = 0; i < 5; ++i) {
    Training training(pair, m);
    const auto start = Clock::now();
    training.run(episodes);
    seconds.push_back(seconds_since(start));
  }
  return *std::ranges::min_element(seconds);
}

json measure_growth() {
  json out;
  const Pair small = make_pair(200, 8);
  for (const std::uint32_t m : {10U, 30U, 100U, 300U, 1000U})
    out["m"].push_back({{"m", m}, {"seconds", training_seconds(small.pair, m, 300)}});
  for (const std::uint32_t episodes : {1000U, 3000U, 10'000U, 30'000U})
    out["episodes"].push_back(
        {{"episodes", episodes}, {"seconds", training_seconds(small.pair, 10, episodes)}});
  for (const std::size_t states : {100U, 300U, 1000U, 3000U, 10'000U}) {
    auto start = Clock::now();
    const Pair pair = make_pair(states, 2);
    const double built = seconds_since(start);
    Training training(pair.pair, 10);
    training.run(200);  // caches and ties of the beginning
    start = Clock::now();
    const std::uint64_t steps = training.run(2000);
    const double seconds = seconds_since(start);
    out["states"].push_back(
        {{"states", states},
         {"megabytes",
          static_cast<double>(pair.high_mdp->memory_bytes() + pair.low_mdp->memory_bytes()) / 1e6},
         {"build_seconds", built},
         {"steps_per_second", static_cast<double>(steps) / seconds}});
  }
  out["slope_m"] = log_slope(out["m"], "m", "seconds");
  out["slope_episodes"] = log_slope(out["episodes"], "episodes", "seconds");
  return out;
}

// Peak memory of a process that does nothing but this.
double peak_megabytes(const std::function<void()>& work) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child || status != 0)
    throw Error(Errc::io, "a process to measure memory with failed");
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

json measure_memory() {
  const auto train = [](std::size_t states, std::size_t actions, std::uint32_t m,
                        std::uint32_t episodes) {
    return peak_megabytes([=] {
      const Pair pair = make_pair(states, actions);
      Training(pair.pair, m).run(episodes);
    });
  };
  json out = json::array();
  const auto add = [&](std::size_t states, std::size_t actions, std::uint32_t m,
                       std::uint32_t episodes) {
    out.push_back({{"states", states},
                   {"actions", actions},
                   {"m", m},
                   {"episodes", episodes},
                   {"megabytes", train(states, actions, m, episodes)}});
  };
  add(200, 8, 10, 100);
  add(200, 8, 10, 30'000);
  add(200, 8, 1000, 100);
  add(1000, 12, 10, 100);
  return out;
}

// Parts around training, best of some.
json measure_parts() {
  const auto best_of = [](int times, const std::function<void()>& work) {
    double best = 1e300;
    for (int i = 0; i < times; ++i) {
      const auto start = Clock::now();
      work();
      best = std::min(best, seconds_since(start));
    }
    return best;
  };
  json out = json::array();
  const auto add = [&](const std::string& name, double seconds, const std::string& unit) {
    out.push_back({{"name", name}, {"seconds", seconds}, {"of", unit}});
  };
  for (const std::size_t states : {200U, 1000U}) {
    const std::size_t actions = states == 200 ? 8 : 12;
    const std::string size = fmt::format("{} x {}", states, actions);
    add("generation, projection and alias rows of a pair",
        best_of(3, [&] { make_pair(states, actions); }), size);
    const Pair pair = make_pair(states, actions);
    const std::uint32_t episodes = states == 200 ? 10'000 : 15'000;
    add(fmt::format("training on it, {} episodes, m = 10", episodes),
        best_of(3, [&] { Training(pair.pair, 10).run(episodes); }), size);
    add("exact optimum", best_of(3, [&] { policy_iteration(*pair.high_mdp, 0.99); }), size);
  }
  std::vector<double> weights(1000);
  std::vector<std::uint16_t> outcomes(1000);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = 1 + std::fmod(static_cast<double>(i) * 0.618, 1.0);
    outcomes[i] = static_cast<std::uint16_t>(i);
  }
  std::vector<AliasEntry<std::uint16_t>> row(1000);
  AliasBuilder alias;
  add("alias row", best_of(20, [&] { alias.build<std::uint16_t>(weights, outcomes, row); }),
      "1000 outcomes");
  const Problem nas = build_problem("nas-bench-201", {}, 1);
  double nas_speed = 0;
  for (int i = 0; i < 3; ++i) {
    Training training(nas.pair, 10);
    const auto start = Clock::now();
    const std::uint64_t steps = training.run(300);
    nas_speed = std::max(nas_speed, static_cast<double>(steps) / seconds_since(start));
  }
  return {{"parts", out}, {"nas_steps_per_second", nas_speed}};
}

// What instructions are counted of: the same work whatever the machine.
json count_task() {
  const Pair pair = make_pair(200, 8);
  Training training(pair.pair, 10);
  return {{"steps", training.run(300)}};
}

// Alone, to be set beside something that is no part of this program.
json measure_training() {
  const Pair pair = make_pair(200, 8);
  std::vector<double> speeds;
  for (int i = 0; i < 9; ++i) {
    Training training(pair.pair, 10);
    const auto start = Clock::now();
    training.run(10'000);
    speeds.push_back(static_cast<double>(training.low_steps()) / seconds_since(start));
  }
  return {{"low_steps_per_second", median(speeds)}};
}

// Policy search beside its bare loop, in turns.
json measure_search(const std::string& name, const ControlWorkOptions& options) {
  const ControlWork work(options);
  work.check();
  constexpr int kBlocks = 15;
  const int turns = options.frequencies > 0 ? 10 : 60;
  std::vector<double> ratios, bare_speeds, speeds;
  for (int block = 0; block < kBlocks; ++block) {
    double seconds = 0, bare_seconds = 0;
    for (int turn = 0; turn < turns; ++turn) {
      auto start = Clock::now();
      const std::vector<double> returns = work.run_hilo();
      seconds += seconds_since(start);
      start = Clock::now();
      const std::vector<double> bare_returns = work.run_bare();
      bare_seconds += seconds_since(start);
      if (returns != bare_returns) throw Error(Errc::data, "the bare loop does other work");
    }
    const double steps = static_cast<double>(work.steps()) * turns;
    speeds.push_back(steps / seconds);
    bare_speeds.push_back(steps / bare_seconds);
    ratios.push_back(bare_seconds / seconds);
  }
  return {{"name", name},
          {"steps_per_second", median(speeds)},
          {"best", *std::ranges::max_element(speeds)},
          {"bare", median(bare_speeds)},
          {"ratio", median(ratios)},
          {"ratio_low", *std::ranges::min_element(ratios)},
          {"ratio_high", *std::ranges::max_element(ratios)},
          {"blocks", kBlocks}};
}

// A gradient step beside the same arithmetic in Eigen, in turns.
json measure_gradient() {
  GradientWork work;
  work.check();
  constexpr int kBlocks = 15, kTurns = 20;
  json rows = json::array();
  for (const bool each_path : {false, true}) {
    std::vector<double> ratios, times, bare_times;
    for (int block = 0; block < kBlocks; ++block) {
      double seconds = 0, bare_seconds = 0;
      for (int turn = 0; turn < kTurns; ++turn) {
        auto start = Clock::now();
        if (each_path)
          work.run_paths();
        else
          work.run_sum();
        seconds += seconds_since(start);
        start = Clock::now();
        work.run_bare();
        bare_seconds += seconds_since(start);
      }
      times.push_back(1e3 * seconds / kTurns);
      bare_times.push_back(1e3 * bare_seconds / kTurns);
      ratios.push_back(bare_seconds / seconds);
    }
    rows.push_back({{"name", each_path ? "a gradient for each path" : "one gradient of all paths"},
                    {"milliseconds", median(times)},
                    {"bare", median(bare_times)},
                    {"ratio", median(ratios)},
                    {"ratio_low", *std::ranges::min_element(ratios)},
                    {"ratio_high", *std::ranges::max_element(ratios)},
                    {"blocks", kBlocks}});
  }
  return rows;
}

// How many times as long something takes when it is doubled, in turns.
json measure_doubling(const std::string& name, std::size_t from,
                      const std::function<std::function<void()>(std::size_t)>& make) {
  const std::function<void()> once = make(from), twice = make(2 * from);
  constexpr int kTurns = 9;
  std::vector<double> ratios;
  for (int turn = 0; turn < kTurns; ++turn) {
    auto start = Clock::now();
    once();
    const double seconds = seconds_since(start);
    start = Clock::now();
    twice();
    ratios.push_back(seconds_since(start) / seconds);
  }
  return {{"name", name},
          {"from", from},
          {"to", 2 * from},
          {"ratio", median(ratios)},
          {"ratio_low", *std::ranges::min_element(ratios)},
          {"ratio_high", *std::ranges::max_element(ratios)},
          {"turns", kTurns}};
}

json measure_control() {
  constexpr double kSearchNoise = 0.05;  // as searches have it
  json ratios = json::array(), growth = json::array();
  for (const double noise : {0.0, kSearchNoise})
    for (const std::size_t frequencies : {0U, 150U})
      ratios.push_back(
          measure_search(fmt::format("{}{}", frequencies > 0 ? "with the residual" : "network",
                                     noise > 0 ? ", noise on actions" : ""),
                         {.frequencies = frequencies, .action_noise = noise}));
  const auto search = [](const ControlWorkOptions& options) {
    const auto work = std::make_shared<const ControlWork>(options);
    return [work] { work->run_hilo(); };
  };
  const auto fit = [](std::size_t transitions, std::size_t frequencies, bool knows_scales) {
    const auto data = std::make_shared<const ResidualData>(control_data(transitions));
    const auto options = residual_options(frequencies);
    const ProcessScales scales =
        knows_scales ? ResidualModel(*data, options, 1).scales() : ProcessScales();
    return [=]() -> void {
      if (knows_scales)
        ResidualModel(*data, options, 1, scales);
      else
        ResidualModel(*data, options, 1);
    };
  };
  for (const std::size_t from : {150U, 300U})
    growth.push_back(measure_doubling("search, frequencies", from,
                                      [&](std::size_t n) { return search({.frequencies = n}); }));
  for (const std::size_t from : {12U, 24U})
    growth.push_back(measure_doubling("search, scenarios", from, [&](std::size_t n) {
      return search({.scenarios = n, .frequencies = 150});
    }));
  for (const std::size_t from : {300U, 1200U})
    growth.push_back(measure_doubling(
        "fit, transitions", from,
        [&](std::size_t n) -> std::function<void()> { return fit(n, 150, false); }));
  for (const std::size_t from : {300U, 1200U})
    growth.push_back(measure_doubling(
        "fit with known scales, transitions", from,
        [&](std::size_t n) -> std::function<void()> { return fit(n, 150, true); }));
  growth.push_back(measure_doubling(
      "fit, frequencies", 150,
      [&](std::size_t n) -> std::function<void()> { return fit(1200, n, false); }));
  return {{"ratios", ratios}, {"growth", growth}};
}

json measure(const std::string& what) {
  if (what == "ratios") return measure_ratios();
  if (what == "training") return measure_training();
  if (what == "growth") return measure_growth();
  if (what == "control") return measure_control();
  if (what == "gradient") return measure_gradient();
  if (what == "memory") return measure_memory();
  if (what == "parts") return measure_parts();
  if (what == "count") return count_task();
  if (what == "machine")
    return {
        {"machine", machine_name()}, {"program", program_name()}, {"path", name_of(simd_path())}};
  throw Error(Errc::usage, fmt::format("'{}' is no measurement; known are ratios, training, "
                                       "growth, control, gradient, memory, parts, "
                                       "count, machine",
                                       what));
}

}  // namespace
}  // namespace hilo::bench

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw hilo::Error(hilo::Errc::usage, "hilo_measure WHAT");
    fmt::print("{}\n", hilo::bench::measure(argv[1]).dump(2));
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "hilo_measure: {}\n", e.what());
    return 1;
  }
}
