// The agents of vectors on the three control problems, by a score between zero action (0) and the
// best policy that unlimited search in the expensive simulator finds (1). HILO_CONTROL and
// HILO_AGENT (names, with commas between them) and HILO_SEEDS ("20" or "100..119") choose what is
// run.
#include "hilo/agent/corrected.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "hilo/core/moments.hpp"
#include "hilo/core/parallel.hpp"
#include "hilo/core/student.hpp"
#include "hilo/env/catalogue.hpp"
#include "hilo/env/control/control.hpp"
#include "hilo/studies/control_scale.hpp"

namespace hilo {
namespace {

struct Seeds {
  std::uint64_t first = 0, count = 20;
};
Seeds seeds(std::uint64_t usual) {
  const char* given = std::getenv("HILO_SEEDS");
  if (given == nullptr) return {.count = usual};
  char* end = nullptr;
  const std::uint64_t first = std::strtoull(given, &end, 10);
  if (std::string(end).starts_with(".."))
    return {.first = first, .count = std::strtoull(end + 2, nullptr, 10) - first + 1};
  return {.count = first};
}
bool is_wanted(const char* variable, const std::string& name) {
  const char* given = std::getenv(variable);
  return given == nullptr ||
         ("," + std::string(given) + ",").find("," + name + ",") != std::string::npos;
}

const ControlScale& scale_of(const std::string& kind) {
  const ControlScale& scale = control_scale(kind);
  std::printf("%s: zero action %.2f, best %.2f\n", kind.c_str(), scale.zero, scale.best);
  std::fflush(stdout);
  return scale;
}

// Values after 0, 1, 2, ... expensive episodes.
std::vector<double> learn(const VectorFidelities& pair, const CorrectedOptions& options,
                          std::uint64_t seed, std::uint32_t episodes) {
  Corrected agent(pair, options, seed);
  agent.prepare();
  VectorEpisode episode(pair.high());
  std::vector<double> out = {control_value(pair.high(), *agent.greedy_policy())};
  for (std::uint32_t e = 0; e < episodes; ++e) {
    pair.high().run_episode(*agent.policy(),
                            {.seed = seed, .purpose = Purpose::high_episode, .episode = e},
                            {.gamma = 1}, episode);
    agent.learn(episode);
    out.push_back(control_value(pair.high(), *agent.greedy_policy()));
  }
  return out;
}

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

using Curves = std::vector<std::vector<double>>;  // one for each seed

Curves learn_all(const std::string& kind, const NamedValues& more, const std::string& agent,
                 const ControlScale& scale, std::uint32_t episodes, const Seeds& of) {
  const VectorProblem problem = build_vector_problem(problem_kind(kind), more, 0);
  Curves out(of.count);
  parallel_for(of.count, 0, [&](std::size_t i) {
    CorrectedOptions options;
    options.max_steps = problem.pair.high().time_limit();
    options.threads = 1;
    options.corrects = agent != "low-only";
    const VectorFidelities pair =
        agent == "corrected-high" ? VectorFidelities(problem.pair.shared_high()) : problem.pair;
    std::vector<double> values =
        learn(pair, options, of.first + i, agent == "low-only" ? 0 : episodes);
    std::string line;
    for (double& value : values) {
      value = scale.score(value);
      line += " " + std::to_string(value).substr(0, 6);
    }
    std::printf("%s %s %lu:%s\n", kind.c_str(), agent.c_str(),
                static_cast<unsigned long>(of.first + i), line.c_str());
    std::fflush(stdout);
    out[i] = std::move(values);
  });
  return out;
}

std::vector<double> after(const Curves& curves, std::size_t episodes) {
  std::vector<double> out;
  for (const auto& curve : curves) out.push_back(curve[std::min(episodes, curve.size() - 1)]);
  return out;
}

void print_quartiles(const std::string& kind, const std::string& agent, const Curves& curves) {
  for (const std::size_t e : {0U, 1U, 2U, 3U, 5U, 8U, 20U}) {
    if (e >= curves[0].size()) break;
    const auto scores = after(curves, e);
    std::printf("| %s | %s | %zu | %.3f | %.3f | %.3f | %.3f |\n", kind.c_str(), agent.c_str(), e,
                quantile(scores, 0.5), quantile(scores, 0.25), quantile(scores, 0.75),
                quantile(scores, 0));
  }
}

TEST(CorrectedSlow, ReachesNearlyAllThatCanBeReached) {
  for (const std::string kind : {"pendulum", "cart-pole", "acrobot"}) {
    if (!is_wanted("HILO_CONTROL", kind)) continue;
    const ControlScale& scale = scale_of(kind);
    std::map<std::string, Curves> all;
    for (const std::string agent : {"corrected", "low-only", "corrected-high"})
      if (is_wanted("HILO_AGENT", agent)) {
        all[agent] = learn_all(kind, {}, agent, scale, 8, seeds(20));
        print_quartiles(kind, agent, all[agent]);
      }
    if (!all.contains("corrected")) continue;
    EXPECT_GE(quantile(after(all["corrected"], 3), 0.5), 0.90) << kind;
    EXPECT_GE(quantile(after(all["corrected"], 8), 0.5), kind == "acrobot" ? 0.93 : 0.95) << kind;
    EXPECT_GE(quantile(after(all["corrected"], 8), 0.25), 0.85) << kind;
    if (!all.contains("low-only")) continue;
    for (const std::size_t e : {3U, 8U}) {
      Moments gain;
      const auto ours = after(all["corrected"], e), theirs = after(all["low-only"], e);
      for (std::size_t i = 0; i < ours.size(); ++i) gain.add(ours[i] - theirs[i]);
      const auto n = static_cast<double>(gain.count());
      const double half = student_t_quantile(0.975, n - 1) * std::sqrt(gain.variance() / n);
      std::printf("%s after %zu: corrected minus low-only %+.3f [%+.3f, %+.3f]\n", kind.c_str(), e,
                  gain.mean(), gain.mean() - half, gain.mean() + half);
      EXPECT_GT(gain.mean() - half, 0) << kind;
    }
  }
}

// A cheap simulator that is wrong in the worst way: forces or gravity have the other sign.
TEST(CorrectedSlow, IsNotHurtForLong) {
  const std::map<std::string, NamedValues> misleading = {{"pendulum", {{"low.gravity", -10.0}}},
                                                         {"cart-pole", {{"low.strength", -1.0}}},
                                                         {"acrobot", {{"low.strength", -2.0}}}};
  for (const auto& [kind, low] : misleading) {
    if (!is_wanted("HILO_CONTROL", kind)) continue;
    const ControlScale& scale = scale_of(kind);
    const Curves ours = learn_all(kind, low, "corrected", scale, 20, seeds(10));
    const Curves theirs = learn_all(kind, low, "corrected-high", scale, 20, seeds(10));
    print_quartiles(kind, "corrected, misled", ours);
    print_quartiles(kind, "corrected-high", theirs);
    Moments difference;
    for (std::size_t i = 0; i < ours.size(); ++i) difference.add(ours[i].back() - theirs[i].back());
    const double error = std::sqrt(difference.variance() / static_cast<double>(difference.count()));
    std::printf("%s: %+.3f, standard error %.3f\n", kind.c_str(), difference.mean(), error);
    EXPECT_GT(difference.mean(), -2 * error) << kind;
  }
}

TEST(CorrectedSlow, LearnsAtOnceFromAnIdenticalSimulator) {
  for (const std::string kind : {"pendulum", "cart-pole", "acrobot"}) {
    if (!is_wanted("HILO_CONTROL", kind)) continue;
    NamedValues same;
    for (const ParameterInfo& info : problem_kind(kind).parameters)
      if (info.name.starts_with("high.") && info.name != "high.delay" &&
          info.name != "high.observation_noise")
        same["low." + info.name.substr(5)] = *info.default_value;
    const ControlScale& scale = scale_of(kind);
    const Curves ours = learn_all(kind, same, "corrected", scale, 2, seeds(10));
    print_quartiles(kind, "corrected, identical", ours);
    EXPECT_GE(quantile(after(ours, 2), 0.5), 0.95) << kind;
  }
}

// Intervals of single steps on new expensive episodes, from the fourth on. Searches are short here:
// what is looked at is the model.
TEST(CorrectedSlow, PredictiveIntervalsHoldWhatTheyPromise) {
  struct Case {
    std::string name, kind;
    NamedValues more;
    double least, most;
  };
  const std::vector<Case> cases = {
      {"pendulum", "pendulum", {}, 0.90, 1},
      {"cart-pole", "cart-pole", {}, 0.90, 1},
      {"acrobot", "acrobot", {}, 0.90, 1},
      {"cart-pole with a wall", "cart-pole", {{"high.wall", 1.0}}, 0.90, 1},
      {"pendulum, noise", "pendulum", {{"high.process_noise", 0.1}}, 0.90, 0.98},
      {"cart-pole, noise", "cart-pole", {{"high.process_noise", 0.05}}, 0.90, 0.98},
      {"acrobot, noise", "acrobot", {{"high.process_noise", 0.05}}, 0.90, 0.98},
      {"cart-pole, noise and a wall",
       "cart-pole",
       {{"high.process_noise", 0.05}, {"high.wall", 1.0}},
       0.90,
       0.98}};
  for (const Case& c : cases) {
    if (!is_wanted("HILO_CONTROL", c.name)) continue;
    const VectorProblem problem = build_vector_problem(problem_kind(c.kind), c.more, 0);
    const VectorSimulator& high = problem.pair.high();
    const VectorSteps& low = *problem.pair.shared_low();
    const Seeds of = seeds(20);
    const std::size_t dimension = high.observation_space().dimension();
    struct Counts {
      std::vector<double> held, widths, spread, n;
    };
    std::vector<Counts> all(of.count);
    parallel_for(of.count, 0, [&](std::size_t i) {
      CorrectedOptions options;
      options.max_steps = high.time_limit();
      options.threads = 1;
      options.scenarios = 8;
      options.generations = 20;
      options.restarts = 1;
      Corrected agent(problem.pair, options, of.first + i);
      agent.prepare();
      VectorEpisode episode(high);
      Counts& counts = all[i];
      for (auto* list : {&counts.held, &counts.widths, &counts.spread, &counts.n})
        list->assign(dimension, 0);
      for (std::uint32_t e = 0; e < 8; ++e) {
        high.run_episode(*agent.policy(),
                         {.seed = of.first + i, .purpose = Purpose::high_episode, .episode = e},
                         {.gamma = 1}, episode);
        for (std::size_t t = 0; e >= 3 && t < episode.length(); ++t) {
          const auto from = episode.observations[t].coordinates();
          const auto action = episode.actions[t].coordinates();
          const auto next = episode.observations[t + 1].coordinates();
          Columns states(dimension, 1), actions(1, 1);
          states.set(0, from);
          actions.set(0, action);
          StepResults results;
          results.resize(states.padded());
          const Stream stream(of.first + i, Purpose::low_rollout, e, 1);
          if (agent.uses_low()) low.step(states, actions, {&stream, 1}, 1, results);
          const auto prediction = agent.model()->predict(from, action);
          for (std::size_t d = 0; d < dimension; ++d) {
            const double half = 1.959964 * prediction.deviation[d] + 1e-9;
            const double low_end = high.observation_space().low()[d];
            const double high_end = high.observation_space().high()[d];
            double middle = states.at(d, 0) + prediction.mean[d];
            const bool is_angle = std::ranges::binary_search(high.angles(), d);
            if (is_angle) middle += 2 * M_PI * std::round((next[d] - middle) / (2 * M_PI));
            const auto inside = [&](double x) {
              return is_angle ? x : std::clamp(x, low_end, high_end);
            };
            counts.held[d] +=
                inside(middle - half) <= next[d] && next[d] <= inside(middle + half) ? 1 : 0;
            counts.widths[d] += 2 * half;
            double step = next[d] - from[d];
            if (is_angle) step -= 2 * M_PI * std::round(step / (2 * M_PI));
            counts.spread[d] += std::abs(step);
            ++counts.n[d];
          }
        }
        agent.learn(episode);
      }
    });
    double held = 0, n = 0;
    for (std::size_t d = 0; d < dimension; ++d) {
      double held_here = 0, n_here = 0, widths = 0, spread = 0;
      for (const Counts& counts : all) {
        held_here += counts.held[d];
        n_here += counts.n[d];
        widths += counts.widths[d];
        spread += counts.spread[d];
      }
      std::printf("| %s | %zu | %.1f %% | %.4g | %.4g |\n", c.name.c_str(), d,
                  100 * held_here / n_here, widths / n_here, spread / n_here);
      held += held_here;
      n += n_here;
    }
    std::printf("| %s | all | %.1f %% | | |\n", c.name.c_str(), 100 * held / n);
    std::fflush(stdout);
    EXPECT_GE(held / n, c.least) << c.name;
    EXPECT_LE(held / n, c.most) << c.name;
  }
}

}  // namespace
}  // namespace hilo
