#include "hilo/experiment/run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <optional>

#include "hilo/core/error.hpp"
#include "hilo/core/parallel.hpp"
#include "hilo/exact/estimator_bias.hpp"
#include "hilo/experiment/high_fidelities.hpp"
#include "hilo/experiment/train.hpp"

namespace hilo {
namespace {

// The exact bias needs some twenty numbers for each pair of state and action.
constexpr std::size_t kMaxBiasPairs = 200'000;
constexpr double kMeanLength = 10;  // of an episode: a guess that only weighs runs against others

TrainOptions train_options(const PlannedRun& run) {
  const Parameters& p = run.config->train;
  return {.episodes = static_cast<std::uint64_t>(p.integer("episodes")),
          .steps = static_cast<std::uint64_t>(p.integer("steps")),
          .gamma = p.number("gamma"),
          .max_steps = static_cast<std::uint32_t>(p.integer("max_steps")),
          .seed = run.seed,
          .pilot_episodes = static_cast<std::uint64_t>(p.integer("pilot_episodes")),
          .truncation = truncation_from_name(p.text("truncation"))};
}

TestOptions test_options(const RunConfig& config, const HighFidelity& high) {
  const Parameters& p = config.test;
  const auto exact_every = static_cast<std::uint64_t>(p.integer("exact_every"));
  const auto max_steps = static_cast<std::uint32_t>(config.train.integer("max_steps"));
  return {
      .every = static_cast<std::uint64_t>(p.integer("every")),
      .episodes = static_cast<std::uint32_t>(p.integer("episodes")),
      .exact_every = exact_every,
      .optimum = exact_every > 0 ? high.optimum(config.train.number("gamma"), max_steps) : nullptr,
      .count_steps = p.flag("count_steps")};
}

std::unique_ptr<Agent> build_agent(const PlannedRun& run, const FidelityPair& pair) {
  const Parameters& p = run.config->train;
  return run.config->agent->build(
      pair, run.config->agent_parameters,
      {.gamma = p.number("gamma"),
       .epsilon = p.number("epsilon"),
       .max_steps = static_cast<std::uint32_t>(p.integer("max_steps")),
       .truncation = truncation_from_name(p.text("truncation")),
       .seed = run.seed,
       .pilot_episodes = static_cast<std::uint64_t>(p.integer("pilot_episodes"))});
}

RunRecord start_record(const PlannedRun& run) {
  RunRecord record;
  record.key = run.key();
  record.canonical = run.config->canonical;
  return record;
}

RunRecord failed_record(const PlannedRun& run, const std::string& error, std::exception_ptr cause) {
  RunRecord record = start_record(run);
  record.failed = true;
  record.error = error;
  record.cause = std::move(cause);
  return record;
}

// Whether its agent estimates as the paper does: others are not at the mercy of its bias.
bool is_the_papers(const RunConfig& config) {
  const auto& parameters = config.agent_parameters.all();
  const auto estimator = parameters.find("estimator");
  return estimator != parameters.end() && estimator->second == Value("paper");
}

// What the paper's estimator would converge to under the agent's last policy, where that can be
// computed: root mean squares over all pairs of state and action.
void add_exact_bias(const Agent& agent, const FidelityPair& pair, const RunConfig& config,
                    RunRecord& record) {
  const double gamma = config.train.number("gamma");
  const EstimatorBias bias = exact_bias(pair, policy_matrix(agent.behaviour()),
                                        policy_matrix(agent.low_behaviour()), gamma);
  std::vector<std::size_t> pairs;
  double bias_squares = 0;
  double variances = 0;
  for (std::size_t i = 0; i < bias.bias.size(); ++i) {
    if (pair.high().model()->is_terminal(static_cast<State>(i / pair.num_actions()))) continue;
    pairs.push_back(i);
    bias_squares += bias.bias[i] * bias.bias[i];
    variances += bias.sd_high[i] * bias.sd_high[i];
  }
  if (pairs.empty()) return;
  const auto count = static_cast<double>(pairs.size());
  const auto add = [&](const char* metric, double value) {
    if (std::isfinite(value)) record.measurements.push_back({agent.episodes(), metric, value});
  };
  add("return_sd", std::sqrt(variances / count));
  if (!is_the_papers(config)) return;
  add("bias_rms", std::sqrt(bias_squares / count));
  add("bias_break_even", bias.break_even(pairs));
}

// A finished training must not be lost because something beside it cannot be computed.
void try_to_add_exact_bias(const Agent& agent, const FidelityPair& pair, const RunConfig& config,
                           RunRecord& record) {
  try {
    add_exact_bias(agent, pair, config, record);
  } catch (const Error&) {
    // The metrics are left out.
  }
}

RunRecord execute(const PlannedRun& run, const HighFidelity& high, const Problem& problem,
                  const std::function<bool()>& keep_going,
                  const std::function<void(double)>& on_progress) {
  try {
    const auto observer = problem.watch ? problem.watch(run.seed) : nullptr;
    const FidelityPair& pair = observer ? observer->pair() : problem.pair;
    const auto agent = build_agent(run, pair);
    TrainOptions options = train_options(run);
    options.observer = observer.get();
    options.on_progress = on_progress;
    const TestOptions test = test_options(*run.config, high);
    RunRecord record = start_record(run);
    record.measurements = train(*agent, pair.high(), options, test, keep_going);
    if (run.config->agent->uses_low_fidelity) {
      for (const Fact& fact : problem.facts)
        if (std::isfinite(fact.value))
          record.measurements.push_back({agent->episodes(), "problem_" + fact.name, fact.value});
      const std::size_t num_pairs = pair.high().num_states() * pair.num_actions();
      const bool rolls_out = !agent->low_behaviour().heads.empty();
      if (rolls_out && test.optimum != nullptr && pair.low().model() != nullptr &&
          num_pairs <= kMaxBiasPairs)
        try_to_add_exact_bias(*agent, pair, *run.config, record);
    }
    record.num_states = agent->q().num_states();
    record.num_actions = agent->q().num_actions();
    record.q.assign(agent->q().values().begin(), agent->q().values().end());
    for (State s = 0; s < record.num_states; ++s)
      for (Action a = 0; a < record.num_actions; ++a)
        record.standard_errors.push_back(agent->standard_error(s, a));
    return record;
  } catch (const std::exception& e) {
    return failed_record(run, e.what(), std::current_exception());
  }
}

// Hands records and progress to the callbacks, one thread at a time.
class Reporter {
 public:
  Reporter(const std::vector<RunGroup>& groups, const RunCallbacks& callbacks)
      : callbacks_(callbacks) {
    progress_.total = count_runs(groups);
    for (const RunGroup& group : groups)
      for (const PlannedRun& run : group.runs) total_cost_ += relative_cost(*run.config);
  }

  // The run is that far. What the callback throws is none of the run's faults: the run is given up,
  // and all is stopped by whoever asks.
  void advance(const PlannedRun& run, double share) {
    if (!callbacks_.on_progress) return;
    const std::lock_guard lock(mutex_);
    under_way_[&run] = share * relative_cost(*run.config);
    try {
      tell();
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
      throw Interrupted();
    }
  }

  void rethrow_failure() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }

  void finish(const PlannedRun& run, const RunRecord& record) {
    const std::lock_guard lock(mutex_);
    callbacks_.on_record(record);
    under_way_.erase(&run);
    ++progress_.done;
    progress_.failed += record.failed ? 1 : 0;
    cost_ += relative_cost(*run.config);
    if (callbacks_.on_progress) tell();
  }

  Progress progress() const { return progress_; }

 private:
  void tell() {
    double cost = cost_;
    for (const auto& entry : under_way_) cost += entry.second;
    progress_.share = total_cost_ > 0 ? std::min(1.0, cost / total_cost_) : 1;
    callbacks_.on_progress(progress_);
  }

  const RunCallbacks& callbacks_;
  std::mutex mutex_;
  std::exception_ptr failure_;                     // of a callback
  std::map<const PlannedRun*, double> under_way_;  // cost of what is done of them
  Progress progress_;
  double cost_ = 0, total_cost_ = 0;
};

void run_group(const RunGroup& group, HighFidelities& high_fidelities,
               const RunCallbacks& callbacks, Reporter& reporter) {
  if (!callbacks.keep_going()) return;
  std::shared_ptr<const HighFidelity> high;
  std::optional<Problem> problem;
  std::string error;
  std::exception_ptr cause;
  try {
    high = high_fidelities.get(*group.problem_kind, group.problem, group.seed);
    problem = build_problem(*group.problem_kind, group.problem, group.seed, high->simulator());
  } catch (const std::exception& e) {
    error = e.what();
    cause = std::current_exception();
  }
  try {
    for (const PlannedRun& run : group.runs)
      reporter.finish(run, problem ? execute(run, *high, *problem, callbacks.keep_going,
                                             [&](double share) { reporter.advance(run, share); })
                                   : failed_record(run, error, cause));
  } catch (const Interrupted&) {
    // The run leaves no record and will be done again.
    reporter.rethrow_failure();
  }
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Core seconds of one run, from a few episodes and one test of it.
double estimate_run(const PlannedRun& run, const HighFidelity& high, const FidelityPair& pair) {
  TrainOptions options = train_options(run);
  const TestOptions test = test_options(*run.config, high);
  const auto budget = options.episodes > 0 ? static_cast<double>(options.episodes)
                                           : static_cast<double>(options.steps) / kMeanLength;
  // About two million steps at most, so that the trial stays short.
  const double steps_per_episode = relative_cost(*run.config) / budget;
  const double trial = std::min({100.0, budget, std::max(1.0, 2e6 / steps_per_episode)});
  options.episodes = static_cast<std::uint64_t>(std::max(1.0, trial));
  options.steps = 0;
  const auto agent = build_agent(run, pair);
  auto start = std::chrono::steady_clock::now();
  agent->prepare();
  const double preparation = seconds_since(start);
  start = std::chrono::steady_clock::now();
  const auto measurements = train(*agent, pair.high(), options,
                                  {.every = options.episodes,
                                   .episodes = test.episodes,
                                   .exact_every = test.exact_every > 0 ? options.episodes : 0,
                                   .optimum = test.optimum,
                                   .count_steps = false},
                                  [] { return true; });
  const double total = seconds_since(start);
  const double training = measurements.back().value;  // "seconds" comes last
  const double one_test = (total - training) / 2;     // before and after; exact values in both
  const double num_tests = budget / static_cast<double>(test.every) + 1;
  const double num_exact =
      test.exact_every > 0 ? budget / static_cast<double>(test.exact_every) + 1 : num_tests;
  // With exact values the measured test is mostly these; without, it is the roll-outs alone.
  return preparation + training / trial * budget +
         one_test * (test.exact_every > 0 ? num_exact : num_tests);
}

// Whether the problem of a group has the high fidelity of the configuration.
bool same_high_fidelity(const RunGroup& group, const RunConfig& config) {
  if (group.problem_kind != config.problem_kind) return false;
  return std::ranges::all_of(config.problem_kind->parameters, [&](const ParameterInfo& info) {
    return info.low_fidelity_only || group.problem.at(info.name) == config.problem.at(info.name);
  });
}

// Puts the run into the group of its problem, one from `first` on, or into a new one.
void join_group(const PlannedRun& run, std::size_t first, std::vector<RunGroup>& groups) {
  const RunConfig& config = *run.config;
  // An agent that sees the high fidelity alone can join any problem of the same seed: its own is
  // the same there, by the rule that problem streams depend on the seed alone.
  const auto joins = [&](const RunGroup& group) {
    if (!config.agent->uses_low_fidelity) return same_high_fidelity(group, config);
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
  // Seed by seed, so that what is there after an interruption is of use.
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
  const auto& agent = config.agent_parameters.all();
  const auto rollouts = agent.find("low_rollouts");
  const double low =
      rollouts == agent.end()
          ? 0
          : kMeanLength * static_cast<double>(std::get<std::int64_t>(rollouts->second));
  const double tests = episodes / static_cast<double>(test.integer("every")) *
                       static_cast<double>(test.integer("episodes"));
  return kMeanLength * (episodes * (1 + low) + tests);
}

Progress run_all(const std::vector<RunGroup>& groups, unsigned threads,
                 const RunCallbacks& callbacks) {
  Reporter reporter(groups, callbacks);
  HighFidelities high_fidelities;
  parallel_for(groups.size(), threads,
               [&](std::size_t i) { run_group(groups[i], high_fidelities, callbacks, reporter); });
  return reporter.progress();
}

CostEstimate estimate_cost(const std::vector<RunGroup>& groups) {
  CostEstimate estimate;
  std::map<const RunConfig*, double> seconds;
  std::map<std::map<std::string, Value>, double> build_seconds;
  for (const RunGroup& group : groups) {
    // One trial for each problem and configuration; other seeds cost the same.
    const bool all_known = std::ranges::all_of(
        group.runs, [&](const PlannedRun& run) { return seconds.contains(run.config); });
    if (!build_seconds.contains(group.problem) || !all_known) {
      const auto start = std::chrono::steady_clock::now();
      const HighFidelity high(build_high_fidelity(*group.problem_kind, group.problem, group.seed));
      const Problem problem =
          build_problem(*group.problem_kind, group.problem, group.seed, high.simulator());
      build_seconds[group.problem] = seconds_since(start);
      for (const PlannedRun& run : group.runs)
        if (!seconds.contains(run.config))
          seconds[run.config] = estimate_run(run, high, problem.pair);
      estimate.bytes_per_thread =
          std::max(estimate.bytes_per_thread, static_cast<double>(problem.memory_bytes));
    }
    estimate.core_seconds += build_seconds[group.problem];
    for (const PlannedRun& run : group.runs) estimate.core_seconds += seconds[run.config];
  }
  return estimate;
}

}  // namespace hilo
