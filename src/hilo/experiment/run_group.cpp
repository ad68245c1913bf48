#include "hilo/experiment/run_group.hpp"

#include <cmath>
#include <optional>

#include "hilo/core/error.hpp"
#include "hilo/core/machine.hpp"
#include "hilo/exact/estimator_bias.hpp"

namespace hilo {

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

namespace {

// The exact bias needs some twenty numbers for each pair of state and action.
constexpr std::size_t kMaxBiasPairs = 200'000;

RunRecord start_record(const PlannedRun& run) {
  RunRecord record;
  record.key = run.key();
  record.canonical = run.config->canonical;
  record.host = host_name();
  record.machine = machine_name();
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

}  // namespace

void run_group(const RunGroup& group, HighFidelities& high_fidelities,
               const GroupCallbacks& callbacks) {
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
    for (const PlannedRun& run : group.runs) {
      std::function<void(double)> on_progress;
      if (callbacks.on_progress)
        on_progress = [&](double share) { callbacks.on_progress(run, share); };
      callbacks.on_finished(
          run, problem ? execute(run, *high, *problem, callbacks.keep_going, on_progress)
                       : failed_record(run, error, cause));
    }
  } catch (const Interrupted&) {
    // The run leaves no record and will be done again.
  }
}

}  // namespace hilo
