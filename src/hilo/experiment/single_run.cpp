#include "hilo/experiment/single_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>

#include "hilo/core/error.hpp"
#include "hilo/core/machine.hpp"
#include "hilo/core/version.hpp"
#include "hilo/env/step_source.hpp"
#include "hilo/exact/estimator_bias.hpp"
#include "hilo/experiment/detail/run_group.hpp"
#include "hilo/experiment/high_fidelities.hpp"
#include "hilo/experiment/run.hpp"
#include "hilo/experiment/tabular_domain.hpp"
#include "hilo/experiment/training.hpp"

namespace hilo {
namespace {

constexpr const char* kTag = "run";
constexpr std::uint32_t kArchiveVersion = 3;

// The exact bias needs some twenty numbers for each pair of state and action.
constexpr std::size_t kMaxBiasPairs = 200'000;

// Adds the exact standard deviation of returns and the exact bias of the paper's estimator under
// the agent's last policy, as root mean squares over all pairs of non-terminal state and action.
void add_exact_bias(const TabularAgent& agent, const Fidelities& pair, const RunConfig& config,
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
  const auto& has_bias = config.agent->has_the_papers_bias;
  if (!has_bias || !has_bias(config.agent_parameters)) return;  // it does not have this bias
  add("bias_rms", std::sqrt(bias_squares / count));
  add("bias_break_even", bias.break_even(pairs));
}

// A finished training must not be lost because these additional metrics cannot be computed.
void try_to_add_exact_bias(const TabularAgent& agent, const Fidelities& pair,
                           const RunConfig& config, RunRecord& record) {
  try {
    add_exact_bias(agent, pair, config, record);
  } catch (const Error&) {
    // The metrics are left out.
  }
}

// The optimum, if it is known, is recorded with the totals.
TestPlan plan_with(const RunConfig& config, const Optimum* optimum) {
  TestPlan plan = test_plan(config);
  if (optimum != nullptr)
    plan.at_end = {{"optimal_value", optimum->value}, {"optimal_reward", optimum->mean_reward}};
  return plan;
}

const Optimum* optimum_of(const RunConfig& config, const HighFidelity& high) {
  if (config.test.integer("exact_every") == 0) return nullptr;
  return high.optimum(config.train.number("gamma"),
                      static_cast<std::uint32_t>(config.train.integer("max_steps")));
}

const RunConfig& find_config(const Spec& spec, std::string_view label) {
  std::vector<std::string> labels;
  for (const RunConfig& config : spec.configs) {
    if (config.label == label || (label.empty() && spec.configs.size() == 1)) return config;
    labels.push_back(config.label);
  }
  throw Error(Errc::usage,
              fmt::format("{} has no agent '{}'{} (there are: {})", spec.name, label,
                          did_you_mean(std::string(label), labels), fmt::join(labels, ", ")));
}

}  // namespace

Action TabularRequest::action(std::uint32_t t, State s) const {
  require_within("step", std::uint64_t{t}, 0, horizon.max_steps - 1, Errc::usage);
  require_within("state", std::uint64_t{s}, 0, policy.heads.size() - 1, Errc::usage);
  Rng rng = Rng::of_step(streams.stream(), t + 1);
  const ActionWords words = draw_action_words(rng);
  return policy.choose(s, words.explore, words.action);
}

std::uint32_t TabularRequest::simulator_seed() const { return seed_of(streams.stream(), 0); }

// The members are in the order in which they depend on each other.
struct SingleRun::Impl {
  // The problem of a run that does not share it.
  struct Own {
    std::shared_ptr<const HighFidelity> high;
    Problem problem;
  };

  Impl(std::unique_ptr<const Own> its_own, const RunConfig& its_config, std::uint64_t seed,
       const HighFidelity& its_high, const Problem& its_problem)
      : own(std::move(its_own)),
        config(its_config),
        run{&config, seed},
        high(its_high),
        problem(its_problem),
        optimum(optimum_of(config, high)),
        observer(problem.watch ? problem.watch(seed) : nullptr),
        pair(observer ? observer->pair() : problem.pair),
        agent(build_agent(run, pair)),
        domain(*agent, pair.high(),
               {.truncation = truncation_from_name(config.train.text("truncation")),
                .counts_starts = config.test.integer("episodes") == 0,
                .has_pilot = config.train.integer("pilot_episodes") > 0,
                .optimum = optimum,
                .observer = observer.get(),
                .metrics = metrics_to_measure(config.test.text("metrics")),
                .horizon = {.gamma = config.train.number("gamma"),
                            .max_steps =
                                static_cast<std::uint32_t>(config.train.integer("max_steps"))}}),
        training(domain, training_options(run), plan_with(config, optimum)) {}

  std::unique_ptr<const Own> own;  // null: the problem belongs to the caller
  RunConfig config;
  PlannedRun run;
  const HighFidelity& high;
  const Problem& problem;
  const Optimum* optimum;
  std::unique_ptr<RunObserver> observer;
  const Fidelities& pair;
  std::unique_ptr<TabularAgent> agent;
  TabularDomain domain;
  Training training;
  std::optional<EpisodeRequest> asked;
};

SingleRun::SingleRun(const Spec& spec, std::string_view label, std::uint64_t seed) {
  const RunConfig& config = find_config(spec, label);
  const ProblemKind& kind = *config.problem_kind;
  auto high = std::make_shared<const HighFidelity>(build_high_fidelity(kind, config.problem, seed));
  Problem problem = build_problem(kind, config.problem, seed, high->simulator());
  auto own = std::make_unique<const Impl::Own>(Impl::Own{std::move(high), std::move(problem)});
  const Impl::Own& there = *own;
  impl_ = std::make_unique<Impl>(std::move(own), config, seed, *there.high, there.problem);
}

SingleRun::SingleRun(const PlannedRun& run, const HighFidelity& high, const Problem& problem)
    : impl_(std::make_unique<Impl>(nullptr, *run.config, run.seed, high, problem)) {}

SingleRun::SingleRun(SingleRun&&) noexcept = default;
SingleRun& SingleRun::operator=(SingleRun&&) noexcept = default;
SingleRun::~SingleRun() = default;

bool SingleRun::step() {
  impl_->asked.reset();
  return impl_->training.step();
}
bool SingleRun::is_done() const { return impl_->training.is_done(); }
double SingleRun::share() const { return impl_->training.share(); }
const std::shared_ptr<const EpisodeSimulator>& SingleRun::shared_high() const {
  return impl_->pair.shared_high();
}
bool SingleRun::has_open_request() const { return impl_->asked.has_value(); }

TabularRequest SingleRun::ask() {
  impl_->asked = impl_->training.ask();
  return {.number = impl_->asked->number,
          .policy = impl_->domain.policy(*impl_->asked),
          .streams = impl_->asked->streams,
          .horizon = impl_->asked->horizon};
}

TabularRequest SingleRun::ask_ahead(std::uint64_t ahead) {
  const EpisodeRequest request = impl_->training.ask(ahead);
  return {.number = request.number,
          .policy = impl_->domain.policy(request),
          .streams = request.streams,
          .horizon = request.horizon};
}

void SingleRun::tell(const Episode& episode) {
  if (!impl_->asked) throw Error(Errc::usage, "an episode was told that was not asked for");
  impl_->domain.take(*impl_->asked, episode);
  impl_->asked.reset();
  impl_->training.tell();
}

void SingleRun::skip() {
  if (!impl_->asked) throw Error(Errc::usage, "an episode was skipped that was not asked for");
  impl_->asked.reset();
  impl_->training.skip();
}

void SingleRun::stop() {
  impl_->asked.reset();
  impl_->training.stop();
}

const Fidelities& SingleRun::fidelities() const { return impl_->pair; }
Behaviour SingleRun::greedy() const { return impl_->agent->greedy(); }
const TabularAgent& SingleRun::agent() const { return *impl_->agent; }
std::optional<OwnValue> SingleRun::own_value() const { return impl_->domain.own_value(); }
std::uint64_t SingleRun::dropped() const { return impl_->training.dropped(); }
std::uint64_t SingleRun::low_steps() const { return impl_->training.low_steps(); }

const std::vector<Measurement>& SingleRun::measurements() const {
  return impl_->training.measurements();
}

RunRecord SingleRun::record() const {
  if (!is_done()) throw Error(Errc::usage, "a run that is not done has no record");
  const RunConfig& config = impl_->config;
  const Fidelities& pair = impl_->pair;
  const TabularAgent& agent = *impl_->agent;
  RunRecord record = start_record(impl_->run);
  record.measurements = measurements();
  if (config.agent->uses_low_fidelity()) {
    for (const Fact& fact : impl_->problem.facts)
      if (std::isfinite(fact.value))
        record.measurements.push_back({agent.episodes(), kOfProblem + fact.name, fact.value});
    const std::size_t num_pairs = pair.high().num_states() * pair.num_actions();
    const bool rolls_out = !agent.low_behaviour().heads.empty();
    if (rolls_out && impl_->optimum != nullptr && pair.low().model() != nullptr &&
        num_pairs <= kMaxBiasPairs)
      try_to_add_exact_bias(agent, pair, config, record);
  }
  record.policy = agent.artifact();
  for (State s = 0; s < agent.q().num_states(); ++s)
    for (Action a = 0; a < agent.q().num_actions(); ++a)
      record.standard_errors.push_back(agent.standard_error(s, a));
  return record;
}

bool SingleRun::can_be_saved() const {
  return impl_->training.is_whole() && impl_->agent->can_be_saved();
}

std::vector<std::byte> SingleRun::save() const {
  if (!impl_->agent->can_be_saved())
    throw Error(Errc::usage, "the agent of this run cannot be saved");
  ArchiveWriter out(kTag, kArchiveVersion);
  save_identity(impl_->run, out);
  impl_->training.save(out);
  return out.finish();
}

void SingleRun::load(std::span<const std::byte> bytes) {
  ArchiveReader in(bytes, kTag, kArchiveVersion);
  check_identity(impl_->run, in);
  impl_->asked.reset();
  impl_->training.load(in);
  in.finish();
}

}  // namespace hilo
