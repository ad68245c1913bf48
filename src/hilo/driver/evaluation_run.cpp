#include "hilo/driver/evaluation_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include "hilo/core/error.hpp"
#include "hilo/core/stop_request.hpp"
#include "hilo/core/stopwatch.hpp"
#include "hilo/driver/detail/evaluation_sides.hpp"
#include "hilo/driver/detail/vector_paths.hpp"
#include "hilo/env/source_vectors.hpp"

namespace hilo {
namespace {

constexpr std::size_t kCheapBatch = 256;  // episodes between two looks at the clock

// Whatever decides an expensive episode, apart from the policy and the seed.
Configuration high_identity(const EvaluateSpec& spec) {
  const RunConfig& config = spec.config();
  Configuration out;
  for (const auto& [key, value] : config.configuration.entries()) {
    if (!key.starts_with("problem.") || key == "problem.content") continue;
    const auto info =
        std::ranges::find(config.problem_kind->parameters, key.substr(8), &ParameterInfo::name);
    if (info == config.problem_kind->parameters.end() || !info->low_fidelity_only)
      out.add(key, value);
  }
  if (config.problem_kind->content_hash)
    out.add("content", config.problem_kind->content_hash(
                           Parameters(config.problem_kind->name, config.problem_kind->parameters,
                                      config.problem),
                           false));
  out.add("max_steps", fmt::format("{}", spec.max_steps()));
  return out;
}

RolloutSummary summary_of(const VectorPath& path, double gamma) {
  RolloutSummary out;
  double discount = 1;
  for (const double reward : path.rewards) {
    out.discounted_return += discount * reward;
    discount *= gamma;
    out.reward_sum += reward;
    ++out.steps;
  }
  out.truncated = path.truncated;
  return out;
}

}  // namespace

std::vector<NamedPolicy> parse_policies(const std::vector<std::string>& given) {
  std::vector<NamedPolicy> out;
  std::set<std::string> names;
  for (const std::string& text : given) {
    NamedPolicy policy{.name = text, .given = text};
    const std::size_t equals = text.find('=');
    // An equals sign may also stand in a path or a command.
    if (equals != std::string::npos && equals > 0 && text.find_first_of("/: ") > equals &&
        !std::filesystem::exists(text))
      policy = {.name = text.substr(0, equals), .given = text.substr(equals + 1)};
    else if (text.ends_with(".json"))
      policy.name = std::filesystem::path(text).filename().string();
    if (policy.name.ends_with(".policy.json"))
      policy.name.resize(policy.name.size() - std::string_view(".policy.json").size());
    if (!names.insert(policy.name).second)
      throw Error(Errc::usage,
                  fmt::format("two policies have the name '{}': give one another, as in a={}",
                              policy.name, policy.given));
    out.push_back(std::move(policy));
  }
  if (out.empty()) throw Error(Errc::usage, "an evaluation needs a policy");
  return out;
}

struct EvaluationRun::Impl {
  Impl(EvaluateSpec its_spec, const std::vector<NamedPolicy>& policies,
       const EvaluationFiles& files)
      : spec(std::move(its_spec)),
        sides(make_sides(spec, policies)),
        horizon{.gamma = spec.gamma(), .max_steps = spec.max_steps()},
        evaluator(
            subject_of(policies),
            [this_spec = spec](const VectorPath& path) {
              return this_spec.quantity.of(summary_of(path, this_spec.gamma()));
            },
            files) {
    choose_coupling();
  }

  // Two that are the same would be paid for twice, to be told apart by nothing.
  void require_different(const std::vector<NamedPolicy>& policies) const {
    for (std::size_t i = 0; i < policies.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (sides.policy_identities[i] == sides.policy_identities[k])
          throw Error(Errc::usage, fmt::format("the policies '{}' and '{}' are the same",
                                               policies[k].name, policies[i].name));
  }

  EvaluationSubject subject_of(const std::vector<NamedPolicy>& policies) {
    require_different(policies);
    EvaluationSubject subject{.name = spec.spec.name,
                              .quantity = describe(spec.quantity),
                              .seed = spec.seed,
                              .rules = spec.rules,
                              .policies = {},
                              .policy_identities = sides.policy_identities,
                              .simulators = {},
                              .high = high_identity(spec),
                              .costs = spec.costs,
                              .failures = spec.failures,
                              .spec = spec.spec.text};
    subject.rules.num_policies = policies.size();
    if (std::ranges::all_of(spec.costs, [](const EpisodeCosts& c) { return c.episode && !c.step; }))
      for (const EpisodeCosts& c : spec.costs) subject.rules.known_costs.push_back(*c.episode);
    for (const NamedPolicy& policy : policies) subject.policies.push_back(policy.name);
    for (const EvaluationSide& side : sides.simulators) subject.simulators.push_back(side.name);
    return subject;
  }

  const SourceVectors* source(std::size_t simulator) const {
    return dynamic_cast<const SourceVectors*>(sides.simulators[simulator].simulator.get());
  }

  void choose_coupling() {
    const bool can_start =
        sides.simulators.size() > 1 && source(0) != nullptr &&
        std::ranges::all_of(sides.simulators.begin() + 1, sides.simulators.end(),
                            [](const EvaluationSide& side) { return side.starts_anywhere; });
    if (spec.coupling == EvaluationCoupling::start && !can_start)
      throw Error(Errc::spec,
                  "evaluate: coupling is 'start', but not all simulators are programs that can be "
                  "started in any state: take 'seed'");
    coupling = spec.coupling != EvaluationCoupling::automatic ? spec.coupling
               : can_start                                    ? EvaluationCoupling::start
                                                              : EvaluationCoupling::seed;
  }

  bool step() {
    // What another policy has failed at is of no use any more.
    while (!pending.empty() && pending.front().round.simulator == 0 &&
           evaluator.evaluation().is_skipped(pending.front().round.index))
      pending.pop_front();
    if (pending.empty()) {
      const std::vector<EvaluationRequest> requests = evaluator.ask();
      pending.assign(requests.begin(), requests.end());
      if (pending.empty()) return true;
    }
    if (pending.front().round.simulator == 0)
      run_expensive();
    else
      run_cheap();
    return false;
  }

  // As many at the same time as there are instances. Each is told as soon as it ends.
  void run_expensive() {
    const VectorSimulator& high = *sides.simulators[0].simulator;
    std::vector<EvaluationRequest> now;
    while (!pending.empty() && now.size() < high.num_workers() &&
           pending.front().round.simulator == 0) {
      now.push_back(pending.front());
      pending.pop_front();
    }
    if (now.size() == 1) return run_one(now[0]);
    std::mutex first;
    std::exception_ptr error;
    {
      std::vector<std::jthread> threads;
      threads.reserve(now.size());
      const std::atomic<bool>* const stop = stop_flag;
      for (const EvaluationRequest& request : now)
        threads.emplace_back([&, stop] {
          const StopScope scope(stop);
          try {
            run_one(request);
          } catch (...) {
            const std::scoped_lock lock(first);
            if (!error) error = std::current_exception();
          }
        });
    }
    if (error) std::rethrow_exception(error);
  }

  void run_one(const EvaluationRequest& request) {
    const EvaluationSide& side = sides.simulators[0];
    VectorEpisode episode(*side.simulator);
    double seconds = 0;
    std::optional<std::string> failure;
    {
      const Stopwatch watch(seconds);
      try {
        side.simulator->run_episode(*side.policies[request.policy], request.streams, horizon,
                                    episode);
      } catch (const Error& e) {
        if (e.code() != Errc::simulator) throw;
        failure = e.what();
      }
    }
    const std::scoped_lock lock(telling);
    if (!failure) {
      evaluator.tell(request, path_of(episode, *side.simulator), seconds, episode.cost);
      return;
    }
    const std::optional<VectorPath> so_far = whole_steps_of(episode, *side.simulator);
    if (const auto next = evaluator.tell_failure(request, *failure, seconds, episode.cost, so_far))
      pending.push_front(*next);
  }

  // Consecutive episodes of one simulator and policy run in one call where that is faster.
  void run_cheap() {
    const EvaluationRequest first = pending.front();
    const std::size_t s = first.round.simulator;
    std::vector<EvaluationRequest> now;
    for (auto it = pending.begin(); it != pending.end() && now.size() < kCheapBatch;) {
      const bool fits = it->round.simulator == s && it->round.free == first.round.free &&
                        it->policy == first.policy &&
                        it->round.index == first.round.index + now.size();
      if (!fits && (it->round.simulator != s || it->round.free != first.round.free)) break;
      if (fits) now.push_back(*it);
      it = fits ? pending.erase(it) : it + 1;
    }
    try {
      const bool one_by_one = source(s) != nullptr;
      if (one_by_one)
        for (const EvaluationRequest& request : now) run_cheap_path(request);
      else
        run_cheap_batch(now);
    } catch (const Error& e) {
      if (e.code() != Errc::simulator) throw;
      evaluator.drop(s, e.what());
      pending.clear();
    }
  }

  StreamAddress streams_of(const EvaluationRequest& request) const {
    StreamAddress out = request.streams;
    if (coupling == EvaluationCoupling::none)
      out.first_pair = static_cast<std::uint32_t>(request.round.simulator);
    return out;
  }

  void run_cheap_batch(const std::vector<EvaluationRequest>& now) {
    const EvaluationSide& side = sides.simulators[now[0].round.simulator];
    std::vector<RolloutSummary> summaries(now.size());
    double seconds = 0;
    {
      const Stopwatch watch(seconds);
      side.simulator->run_episodes(*side.policies[now[0].policy], streams_of(now[0]), horizon,
                                   summaries);
    }
    for (std::size_t k = 0; k < now.size(); ++k)
      evaluator.tell_cheap(now[k], spec.quantity.of(summaries[k]), summaries[k].steps,
                           seconds / static_cast<double>(now.size()));
  }

  void run_cheap_path(const EvaluationRequest& request) {
    const EvaluationSide& side = sides.simulators[request.round.simulator];
    VectorEpisode episode(*side.simulator);
    double seconds = 0;
    for (std::uint64_t attempt = 0;; ++attempt) try {
        const Stopwatch watch(seconds);
        throw_if_stopped();
        run_from_start(request, episode);
        break;
      } catch (const Error& e) {
        if (e.code() != Errc::simulator || attempt >= side.retries) throw;
      }
    const RolloutSummary summary = summarise(episode, horizon.gamma);
    evaluator.tell_cheap(request, spec.quantity.of(summary), summary.steps, seconds, episode.cost);
  }

  // Where the start is shared, free episodes begin where the expensive simulator would begin.
  void run_from_start(const EvaluationRequest& request, VectorEpisode& episode) {
    const std::size_t s = request.round.simulator;
    const EvaluationSide& side = sides.simulators[s];
    const Policy& policy = *side.policies[request.policy];
    if (coupling != EvaluationCoupling::start)
      return side.simulator->run_episode(policy, streams_of(request), horizon, episode);
    Points start(sides.simulators[0].simulator->observation_space());
    const std::vector<double>* paired =
        request.round.free ? nullptr : evaluator.start_of(request.round.index);
    if (paired == nullptr) {
      try {
        source(0)->reset(request.streams, start);
      } catch (const Error& e) {
        if (e.code() != Errc::simulator) throw;
        throw Error(Errc::simulator,
                    fmt::format("its free episodes begin where the expensive simulator does, and "
                                "that failed in its reset: {}",
                                e.what()));
      }
      ++resets;
    } else if (side.simulator->observation_space().is_discrete()) {
      start.push_back(static_cast<std::uint64_t>((*paired)[0]));
    } else {
      start.push_back(std::span<const double>(*paired));
    }
    source(s)->run_from(start[0], policy, request.streams, horizon, episode);
  }

  EvaluateSpec spec;
  EvaluationSides sides;
  Horizon horizon;
  Evaluator evaluator;
  EvaluationCoupling coupling = EvaluationCoupling::seed;
  std::deque<EvaluationRequest> pending;
  std::mutex telling;
  std::uint64_t resets = 0;
};

EvaluationRun::EvaluationRun(EvaluateSpec spec, const std::vector<NamedPolicy>& policies,
                             const EvaluationFiles& files)
    : impl_(std::make_unique<Impl>(std::move(spec), policies, files)) {}
EvaluationRun::EvaluationRun(EvaluationRun&&) noexcept = default;
EvaluationRun& EvaluationRun::operator=(EvaluationRun&&) noexcept = default;
EvaluationRun::~EvaluationRun() = default;

bool EvaluationRun::step() { return impl_->step(); }
const EvaluateSpec& EvaluationRun::spec() const { return impl_->spec; }
const Evaluator& EvaluationRun::evaluator() const { return impl_->evaluator; }

std::string EvaluationRun::coupling() const {
  switch (impl_->coupling) {
    case EvaluationCoupling::start:
      return "expensive and cheap episodes share the start state and the seed";
    case EvaluationCoupling::none:
      return "expensive and cheap episodes share nothing";
    case EvaluationCoupling::seed:
    case EvaluationCoupling::automatic:
      break;
  }
  return "expensive and cheap episodes share the seed";
}

std::vector<std::string> EvaluationRun::notes() const {
  std::vector<std::string> out;
  if (const std::string& why = impl_->sides.no_coupling; !why.empty())
    out.push_back(fmt::format(
        "sharing random numbers does little here, because coupling {}; without it the cheap "
        "simulator can hardly help",
        why));
  if (impl_->resets > 0)
    out.push_back(fmt::format(
        "{} resets of the expensive simulator gave start states for free cheap episodes; they took "
        "no step and are not on the bill",
        impl_->resets));
  return out;
}

}  // namespace hilo
