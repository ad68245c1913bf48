#include "hilo/experiment/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "hilo/core/error.hpp"
#include "hilo/core/memory.hpp"
#include "hilo/core/parallel.hpp"
#include "hilo/core/stopwatch.hpp"
#include "hilo/experiment/detail/reporter.hpp"
#include "hilo/experiment/detail/run_group.hpp"
#include "hilo/experiment/executor.hpp"
#include "hilo/experiment/tabular_domain.hpp"

namespace hilo {
namespace {

constexpr double kMeanLength = 10;  // of an episode: a guess, only used for estimates of cost

// Estimated core seconds of one run, from a trial with a few episodes and two tests.
double estimate_run(const PlannedRun& run, const Fidelities& pair) {
  TrainingOptions options = training_options(run);
  const Parameters& p = run.config->test;
  const auto every = static_cast<double>(p.integer("every"));
  const auto exact_every = static_cast<double>(p.integer("exact_every"));
  const auto budget = options.episodes > 0 ? static_cast<double>(options.episodes)
                                           : static_cast<double>(options.steps) / kMeanLength;
  // About two million steps at most, so that the trial stays short.
  const double steps_per_episode = relative_cost(*run.config) / budget;
  const double trial = std::min({100.0, budget, std::max(1.0, 2e6 / steps_per_episode)});
  options.episodes = static_cast<std::uint64_t>(std::max(1.0, trial));
  options.steps = 0;
  const auto agent = build_agent(run, pair);
  auto start = SteadyClock::now();
  agent->prepare();
  const double preparation = seconds_since(start);
  TabularDomain domain(*agent, pair.high(),
                       {.truncation = truncation_from_name(run.config->train.text("truncation")),
                        .has_pilot = options.pilot_episodes > 0});
  Training training(domain, options,
                    {.every = options.episodes,
                     .episodes = static_cast<std::uint32_t>(p.integer("episodes")),
                     .exact_every = exact_every > 0 ? options.episodes : 0});
  start = SteadyClock::now();
  while (!training.step()) {
  }
  const double one_test = (seconds_since(start) - training.seconds()) / 2;  // before and after
  const double num_tests = budget / every + 1;
  const double num_exact = exact_every > 0 ? budget / exact_every + 1 : num_tests;
  // With exact values, most of the measured time of a test is for these; otherwise it is for the
  // test episodes alone.
  return preparation + training.seconds() / trial * budget +
         one_test * (exact_every > 0 ? num_exact : num_tests);
}

// A guess: a trial of an agent that searches for policies would take too long.
double estimate_vector_run(const PlannedRun& run) {
  constexpr double kSteps = 150;  // of an episode
  const Parameters& p = run.config->train;
  const double episodes = p.integer("episodes") > 0
                              ? static_cast<double>(p.integer("episodes"))
                              : static_cast<double>(p.integer("steps")) / kSteps;
  const AgentKind& agent = *run.config->agent;
  return agent.seconds_to_prepare + agent.seconds_per_episode * episodes;
}

// Whether the problem of a group has the high fidelity of the configuration.
bool same_high_fidelity(const RunGroup& group, const RunConfig& config) {
  if (group.problem_kind != config.problem_kind) return false;
  return std::ranges::all_of(config.problem_kind->parameters, [&](const ParameterInfo& info) {
    return info.low_fidelity_only || group.problem.at(info.name) == config.problem.at(info.name);
  });
}

// Adds the run to the group of its problem, searched from index `first` on, or to a new group.
void join_group(const PlannedRun& run, std::size_t first, std::vector<RunGroup>& groups) {
  const RunConfig& config = *run.config;
  // An agent that uses the high fidelity alone can join any problem of the same seed with the same
  // high-fidelity parameters: its high fidelity is the same there, because problem streams depend
  // on the seed alone.
  const auto joins = [&](const RunGroup& group) {
    if (!config.agent->uses_low_fidelity()) return same_high_fidelity(group, config);
    return group.problem_kind == config.problem_kind && group.problem == config.problem;
  };
  const auto group =
      std::find_if(groups.begin() + static_cast<std::ptrdiff_t>(first), groups.end(), joins);
  if (group != groups.end())
    group->runs.push_back(run);
  else
    groups.push_back({config.problem_kind, config.problem, run.seed, {run}});
}

}  // namespace

std::vector<RunGroup> plan(std::span<const Spec> specs, const std::set<RunKey>& finished) {
  std::vector<RunGroup> groups;
  std::set<RunKey> known = finished;
  std::set<std::uint64_t> seeds;
  for (const Spec& spec : specs)
    for (std::uint64_t seed = spec.seeds.first; seed <= spec.seeds.last; ++seed) seeds.insert(seed);
  // Seed by seed, so that the results are of use after an interruption.
  for (const std::uint64_t seed : seeds) {
    const std::size_t first_of_seed = groups.size();
    for (const Spec& spec : specs) {
      if (seed < spec.seeds.first || seed > spec.seeds.last) continue;
      for (const RunConfig& config : spec.configs)
        if (known.insert(PlannedRun{&config, seed}.key()).second)
          join_group({&config, seed}, first_of_seed, groups);
    }
  }
  return groups;
}

std::vector<RunGroup> without(const std::vector<RunGroup>& all, const std::set<RunKey>& finished) {
  std::vector<RunGroup> left;
  for (RunGroup group : all) {
    std::erase_if(group.runs, [&](const PlannedRun& run) { return finished.contains(run.key()); });
    if (!group.runs.empty()) left.push_back(std::move(group));
  }
  return left;
}

std::size_t count_runs(const std::vector<RunGroup>& groups) {
  std::size_t count = 0;
  for (const RunGroup& group : groups) count += group.runs.size();
  return count;
}

double relative_cost(const RunConfig& config) {
  const Parameters& train = config.train;
  const Parameters& test = config.test;
  const double episodes = train.integer("episodes") > 0
                              ? static_cast<double>(train.integer("episodes"))
                              : static_cast<double>(train.integer("steps")) / kMeanLength;
  const double low = config.agent->low_steps_per_step
                         ? config.agent->low_steps_per_step(config.agent_parameters, kMeanLength)
                         : 0;
  const double tests = episodes / static_cast<double>(test.integer("every")) *
                       static_cast<double>(test.integer("episodes"));
  return kMeanLength * (episodes * (1 + low) + tests);
}

Progress run_all(const std::vector<RunGroup>& groups, unsigned threads,
                 const RunCallbacks& callbacks) {
  Reporter reporter(groups, callbacks);
  HighFidelities high_fidelities;
  const GroupCallbacks of_group = {
      .on_finished = [&](const PlannedRun& run,
                         const RunRecord& record) { reporter.finish(run, record); },
      .on_progress = [&](const PlannedRun& run, double share) { reporter.advance(run, share); },
      .keep_going = callbacks.keep_going,
      .checkpoints = callbacks.checkpoints};
  parallel_for(groups.size(), threads, [&](std::size_t i) {
    run_group(groups[i], high_fidelities, of_group);
    reporter.rethrow_failure();
  });
  return reporter.progress();
}

Progress ThreadExecutor::run(const std::vector<RunGroup>& all, const std::set<RunKey>& finished,
                             const RunCallbacks& callbacks) {
  return run_all(without(all, finished), threads_, callbacks);
}

namespace {

// Trials must give an answer within seconds: no large problem is built for one, and only the first
// configurations of long sweeps are tried.
constexpr double kLargestTrial = 1e9;  // bytes
constexpr std::size_t kMostTrials = 64;

double bytes_of_tables(const RunGroup& group) {
  return estimate_bytes(*group.problem_kind, group.problem);
}

// About six numbers at every test, each with its name, kept until the run is stored.
double bytes_of_records(const RunConfig& config) {
  constexpr double kMetrics = 6, kBytes = 100;
  const double episodes =
      std::max(static_cast<double>(config.train.integer("episodes")),
               static_cast<double>(config.train.integer("steps")) / kMeanLength);
  return episodes / static_cast<double>(config.test.integer("every")) * kMetrics * kBytes;
}

}  // namespace

double estimate_bytes(const std::vector<RunGroup>& groups) {
  double most = 0;
  for (const RunGroup& group : groups) {
    double records = 0;
    for (const PlannedRun& run : group.runs)
      records = std::max(records, bytes_of_records(*run.config));
    most = std::max(most, bytes_of_tables(group) + records);
  }
  return most;
}

void require_memory(const std::vector<RunGroup>& groups, unsigned threads) {
  const double each = estimate_bytes(groups);
  const auto workers = static_cast<double>(std::min<std::size_t>(
      groups.size(), threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency())));
  require_memory(each, workers);
}

CostEstimate estimate_cost(const std::vector<RunGroup>& groups) {
  CostEstimate estimate{.bytes_per_thread = estimate_bytes(groups)};
  std::map<const RunConfig*, double> seconds;
  std::map<std::map<std::string, Value>, double> build_seconds;
  // Sums over the trials, from which the other runs are estimated.
  double tried = 0, relative = 0, built = 0;
  for (const RunGroup& group : groups) {
    if (bytes_of_tables(group) > kLargestTrial) {
      estimate.too_large_to_try = true;
      continue;
    }
    // One trial for each problem and configuration; other seeds cost the same.
    const bool all_known = std::ranges::all_of(
        group.runs, [&](const PlannedRun& run) { return seconds.contains(run.config); });
    if (group.problem_kind->has_vectors(group.problem)) {
      // No trial: a policy search takes seconds, and its time hardly depends on the problem.
      build_seconds[group.problem] = 0;
      for (const PlannedRun& run : group.runs)
        if (seconds.try_emplace(run.config, estimate_vector_run(run)).second) {
          tried += seconds[run.config];
          relative += relative_cost(*run.config);
        }
    } else if ((!build_seconds.contains(group.problem) || !all_known) &&
               seconds.size() < kMostTrials) {
      const auto start = SteadyClock::now();
      const HighFidelity high(build_high_fidelity(*group.problem_kind, group.problem, group.seed));
      const Problem problem =
          build_problem(*group.problem_kind, group.problem, group.seed, high.simulator());
      built += build_seconds[group.problem] = seconds_since(start);
      for (const PlannedRun& run : group.runs)
        if (!seconds.contains(run.config) && seconds.size() < kMostTrials) {
          tried += seconds[run.config] = estimate_run(run, problem.pair);
          relative += relative_cost(*run.config);
        }
      estimate.bytes_per_thread =
          std::max(estimate.bytes_per_thread, static_cast<double>(problem.memory_bytes));
    }
    const auto known_build = build_seconds.find(group.problem);
    estimate.core_seconds += known_build != build_seconds.end()
                                 ? known_build->second
                                 : built / static_cast<double>(build_seconds.size());
    for (const PlannedRun& run : group.runs) {
      const auto known = seconds.find(run.config);
      estimate.core_seconds +=
          known != seconds.end() ? known->second : tried / relative * relative_cost(*run.config);
    }
  }
  return estimate;
}

}  // namespace hilo
