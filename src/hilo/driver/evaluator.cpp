#include "hilo/driver/evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/core/text.hpp"
#include "hilo/core/version.hpp"
#include "hilo/env/step_source.hpp"

namespace hilo {
namespace {

constexpr std::uint64_t kHopeless = 3;  // episodes in a row that failed
constexpr std::size_t kErrorTail = 2000;

std::string tail(const std::string& text) {
  return text.size() <= kErrorTail ? text : valid_utf8(text.substr(text.size() - kErrorTail));
}

}  // namespace

std::uint32_t EvaluationRequest::simulator_seed() const {
  return seed_of(streams.stream(), streams.first_step);
}

struct Evaluator::Impl {
  Impl(EvaluationSubject its_subject, QuantityOf its_quantity, const EvaluationFiles& files)
      : subject(std::move(its_subject)),
        quantity(std::move(its_quantity)),
        evaluation(subject.rules),
        steps(subject.simulators.size()) {
    if (subject.policies.size() != subject.rules.num_policies ||
        subject.policy_identities.size() != subject.rules.num_policies ||
        subject.simulators.size() != subject.rules.num_cheap + 1 ||
        subject.costs.size() != subject.simulators.size())
      throw Error(Errc::usage, "an evaluation must name all its policies and simulators");
    declared = std::ranges::any_of(subject.costs, [](const EpisodeCosts& c) { return c.any(); });
    if (files.journal) open(*files.journal, files.durable);
    evaluation.set_fix_costs(
        [this](int time, const std::vector<double>& means) { return fixed_costs(time, means); });
  }

  // One run of the journal for each policy. Its name has a hash of everything that decides its
  // episodes, so that whatever else was evaluated is not in the way.
  void open(const std::filesystem::path& file, bool durable) {
    journal = Journal::open(file, durable);
    for (std::size_t p = 0; p < subject.policies.size(); ++p) {
      Configuration identity = subject.high;
      identity.add("policy", subject.policy_identities[p]);
      identity.add("seed", fmt::format("{}", subject.seed));
      if (const auto same = run_of(identity)) {  // perhaps under another name
        runs.push_back(*same);
        note_others(p);
        continue;
      }
      runs.push_back(journal->find_or_add(
          {.name = fmt::format("{}: {} ({})", subject.name, subject.policies[p],
                               identity.hash().substr(0, 8)),
           .seed = subject.seed,
           .identity = identity,
           .spec = subject.spec,
           .program = {},
           .started = {},
           .simulators = {{.role = "evaluated",
                           .name = subject.simulators[0],
                           .version = std::string(version()),
                           .identity = subject.high.hash()}}}));
      note_others(p);
    }
  }

  std::optional<std::int64_t> run_of(const Configuration& identity) const {
    for (const JournalledRun& run : journal->runs())
      if (run.seed == subject.seed && run.identity == identity) return run.id;
    return std::nullopt;
  }

  // Episodes of something that has changed since are not used, which should not go unnoticed.
  void note_others(std::size_t policy) {
    const std::string start = fmt::format("{}: {} (", subject.name, subject.policies[policy]);
    std::uint64_t episodes = 0;
    for (const JournalledRun& run : journal->runs())
      if (run.id != runs[policy] && run.name.starts_with(start))
        episodes += journal->spent(run.id).training;
    if (episodes > 0)
      notes.push_back(fmt::format(
          "the journal has {} expensive episodes of '{}' that are not used, because the policy, "
          "the "
          "expensive simulator (its command, its file, other files in the command), the seed or "
          "max_steps is another one now",
          episodes, subject.policies[policy]));
  }

  // The cost of a simulator for these policies, whatever else stands in the journal.
  std::string cost_decision(std::size_t simulator, int time) const {
    const auto& known =
        subject.simulator_identities.empty() ? subject.simulators : subject.simulator_identities;
    std::string text = known[simulator];
    for (const std::string& policy : subject.policy_identities) text += "\n" + policy;
    return fmt::format("cost {} of an episode, fixed {}", hash_hex(text),
                       time == 0 ? "first" : "then");
  }

  // Measured costs differ from one process to the next, so that those of the first are kept.
  std::vector<double> fixed_costs(int time, const std::vector<double>& means) {
    if (!subject.rules.charges_means || !journal) return means;
    std::vector<double> out;
    for (std::size_t s = 0; s < means.size(); ++s) {
      if (evaluation.num_episodes(s) == 0) {  // of which nothing is known
        out.push_back(means[s]);
        continue;
      }
      const std::string what = cost_decision(s, time);
      const std::optional<double> before = journal->decided(runs[0], what);
      if (!before) journal->decide(runs[0], what, means[s]);
      out.push_back(before.value_or(means[s]));
    }
    return out;
  }

  double price(std::size_t simulator, std::uint64_t steps_made, double seconds,
               std::optional<double> reported) {
    if (reported && !(std::isfinite(*reported) && *reported >= 0))
      throw Error(
          Errc::simulator,
          fmt::format("a cost of {} was reported, but it must be a number from 0", *reported));
    const EpisodeCosts& costs = subject.costs[simulator];
    if (declared)
      return costs.episode.value_or(0) + costs.step.value_or(0) * static_cast<double>(steps_made);
    if (simulator == 0 && reported) reports = true;
    if (reports) return reported.value_or(0);
    return seconds;
  }

  std::string cost_source(bool reported) const {
    return declared ? "declared" : reported ? "reported" : "measured";
  }

  // Values of the policies of a round that are known so far.
  struct Partial {
    std::vector<std::optional<double>> values;
    std::vector<double> costs;  // summed up in the order of policies, whatever comes first
    double cost() const {
      double sum = 0;
      for (const double cost : costs) sum += cost;
      return sum;
    }
  };

  void add(const EvaluationRound& round, std::size_t policy, double value, double cost) {
    if (round.simulator == 0 && evaluation.is_skipped(round.index)) {
      evaluation.skip(round.index, cost);  // of no use without the policy that failed
      return;
    }
    Partial& partial = partials[round];
    partial.values.resize(subject.policies.size());
    partial.costs.resize(subject.policies.size());
    partial.values[policy] = value;
    partial.costs[policy] = cost;
    if (!std::ranges::all_of(partial.values, [](const auto& v) { return v.has_value(); })) return;
    std::vector<double> values;
    for (const auto& v : partial.values) values.push_back(*v);
    evaluation.tell(round, values, partial.cost());
    partials.erase(round);
  }

  void skip(const EvaluationRound& round, double cost) {
    const auto found = partials.find(round);
    evaluation.skip(round.index, cost + (found != partials.end() ? found->second.cost() : 0));
    partials.erase(round);
  }

  void take(const EvaluationRound& round, std::size_t policy, const Attempt& attempt) {
    const VectorPath& path = *attempt.paid.vectors;
    if (policy == 0) starts[round.index] = first_observation(path);
    steps[0] += path.length();
    add(round, policy, quantity(path), attempt.cost + failed_costs[{round.index, policy}]);
  }

  static std::vector<double> first_observation(const VectorPath& path) {
    return {path.observations.begin(),
            path.observations.begin() + static_cast<std::ptrdiff_t>(path.observation_size)};
  }

  // What the journal has of an expensive episode. True if nothing is left to be done for it.
  bool from_journal(const EvaluationRound& round, std::size_t policy) {
    if (!journal || !looked_up.insert({round.index, policy}).second) return false;
    const std::vector<Attempt> made = journal->attempts_at(runs[policy], {.episode = round.index});
    double failed = 0;
    for (const Attempt& attempt : made) {
      if (attempt.cost_source == "reported") reports = true;
      if (!attempt.failed && attempt.paid.vectors) {
        failed_costs[{round.index, policy}] = failed;
        ++replayed;
        take(round, policy, attempt);
        return true;
      }
      failed += attempt.cost;
      ++num_failed;
    }
    attempts[{round.index, policy}] = made.size();
    failed_costs[{round.index, policy}] = failed;
    if (made.size() > subject.failures.retries && !subject.failures.stop) {
      skip(round, failed);
      return true;
    }
    return false;
  }

  Attempt attempt_of(const EvaluationRequest& request, std::uint64_t steps_made, double seconds,
                     std::optional<double> reported) {
    const double cost = price(0, steps_made, seconds, reported);
    return {.at = {.episode = request.round.index},
            .number = request.attempt,
            .seed = request.simulator_seed(),
            .steps = steps_made,
            .cost = cost,
            .cost_source = cost_source(reports),
            .seconds = seconds};
  }

  EvaluationSubject subject;
  QuantityOf quantity;
  Evaluation evaluation;
  std::optional<Journal> journal;
  std::vector<std::int64_t> runs;
  std::vector<std::string> notes;
  bool declared = false, reports = false;
  std::map<EvaluationRound, Partial> partials;
  std::map<std::uint64_t, std::vector<double>> starts;
  std::map<std::pair<std::uint64_t, std::size_t>, std::uint64_t> attempts;  // that failed
  std::map<std::pair<std::uint64_t, std::size_t>, double> failed_costs;
  std::set<std::pair<std::uint64_t, std::size_t>> looked_up;
  std::vector<std::uint64_t> steps;
  std::uint64_t num_failed = 0, replayed = 0, paid = 0, failed_in_a_row = 0;
};

Evaluator::Evaluator(EvaluationSubject subject, QuantityOf quantity, const EvaluationFiles& files)
    : impl_(std::make_unique<Impl>(std::move(subject), std::move(quantity), files)) {}
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

const Evaluation& Evaluator::evaluation() const { return impl_->evaluation; }
const EvaluationSubject& Evaluator::subject() const { return impl_->subject; }
std::uint64_t Evaluator::failed_attempts() const { return impl_->num_failed; }
std::uint64_t Evaluator::replayed() const { return impl_->replayed; }
std::uint64_t Evaluator::paid() const { return impl_->paid; }
std::uint64_t Evaluator::steps(std::size_t simulator) const { return impl_->steps[simulator]; }

CostUnit Evaluator::unit() const {
  return impl_->declared  ? CostUnit::declared
         : impl_->reports ? CostUnit::reported
                          : CostUnit::seconds;
}

void Evaluator::close() { impl_->journal.reset(); }

const std::vector<std::string>& Evaluator::notes() const { return impl_->notes; }

double Evaluator::share() const {
  const double budget = impl_->evaluation.budget();
  return budget > 0 ? std::min(1.0, impl_->evaluation.spent() / budget) : 0;
}

const std::vector<double>* Evaluator::start_of(std::uint64_t index) const {
  const auto found = impl_->starts.find(index);
  return found == impl_->starts.end() ? nullptr : &found->second;
}

std::vector<EvaluationRequest> Evaluator::ask() {
  Impl& i = *impl_;
  while (true) {
    const std::vector<EvaluationRound> rounds = i.evaluation.ask();
    std::vector<EvaluationRequest> requests;
    for (const EvaluationRound& round : rounds)
      for (std::size_t p = 0; p < i.subject.policies.size(); ++p) {
        if (round.simulator == 0 && i.evaluation.is_skipped(round.index)) break;
        const auto partial = i.partials.find(round);
        if (partial != i.partials.end() && partial->second.values[p]) continue;
        if (round.simulator == 0 && i.from_journal(round, p)) continue;
        requests.push_back(
            {.round = round,
             .policy = p,
             .attempt = round.simulator == 0 ? i.attempts[{round.index, p}] : 0,
             .streams = {.seed = i.subject.seed,
                         .purpose = round.free ? Purpose::evaluation_free : Purpose::evaluation,
                         .first_rollout = static_cast<std::uint32_t>(round.index)}});
      }
    if (!requests.empty() || rounds.empty()) return requests;
  }
}

void Evaluator::tell(const EvaluationRequest& request, const VectorPath& path, double seconds,
                     std::optional<double> cost) {
  Impl& i = *impl_;
  if (request.round.simulator != 0)
    throw Error(Errc::usage, "a cheap episode was told as an expensive one");
  Attempt attempt = i.attempt_of(request, path.length(), seconds, cost);
  attempt.paid.vectors = path;
  // What is measured of an episode may change, and is no part of what was paid for.
  for (const double reward : path.rewards) attempt.paid.discounted_return += reward;
  if (i.journal) i.journal->append(i.runs[request.policy], attempt);  // before it is used
  ++i.paid;
  i.failed_in_a_row = 0;
  i.take(request.round, request.policy, attempt);
}

void Evaluator::tell_cheap(const EvaluationRequest& request, double value, std::uint64_t steps,
                           double seconds, std::optional<double> cost) {
  Impl& i = *impl_;
  const std::size_t simulator = request.round.simulator;
  if (simulator == 0) throw Error(Errc::usage, "an expensive episode was told as a cheap one");
  if (!std::isfinite(value))
    throw Error(Errc::simulator,
                fmt::format("the value of an episode is {}, but must be finite", value));
  i.steps[simulator] += steps;
  i.add(request.round, request.policy, value, i.price(simulator, steps, seconds, cost));
}

std::optional<EvaluationRequest> Evaluator::tell_failure(const EvaluationRequest& request,
                                                         const std::string& error, double seconds,
                                                         std::optional<double> cost,
                                                         const std::optional<VectorPath>& so_far) {
  Impl& i = *impl_;
  Attempt attempt = i.attempt_of(request, so_far ? so_far->length() : 0, seconds, cost);
  attempt.failed = true;
  attempt.error = tail(error);
  if (so_far) attempt.paid.vectors = *so_far;
  if (i.journal) i.journal->append(i.runs[request.policy], attempt);
  ++i.paid;
  ++i.num_failed;
  const std::pair key(request.round.index, request.policy);
  i.failed_costs[key] += attempt.cost;
  i.attempts[key] = request.attempt + 1;
  if (request.attempt < i.subject.failures.retries) {
    EvaluationRequest next = request;
    ++next.attempt;
    return next;
  }
  if (i.subject.failures.stop)
    throw Error(Errc::simulator,
                fmt::format("episode {} failed {} times, the last time with: {}; all that was paid "
                            "for is kept, and the same command goes on",
                            request.round.index, request.attempt + 1, attempt.error));
  if (i.evaluation.is_skipped(request.round.index)) return std::nullopt;  // by another policy
  i.skip(request.round, i.failed_costs[key]);
  if (++i.failed_in_a_row >= kHopeless)
    throw Error(Errc::simulator,
                fmt::format("{} episodes in a row failed after all their retries, the last one "
                            "with: {}; all that was paid for is kept, and the same command goes on",
                            i.failed_in_a_row, attempt.error));
  return std::nullopt;
}

void Evaluator::drop(std::size_t simulator, const std::string& error) {
  std::erase_if(impl_->partials,
                [&](const auto& entry) { return entry.first.simulator == simulator; });
  impl_->evaluation.drop(simulator, fmt::format("it failed: {}", tail(error)));
}

}  // namespace hilo
