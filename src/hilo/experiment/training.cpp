#include "hilo/experiment/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/core/stopwatch.hpp"

namespace hilo {
namespace {

constexpr std::size_t kLastEpisodes = 1000;  // of variance_ratio_last_1000
constexpr std::uint64_t kHopeless = 100;     // first episodes; if all are dropped, training fails

}  // namespace

Training::Training(TrainingDomain& domain, const TrainingOptions& options, TestPlan test)
    : domain_(domain), options_(options), test_(std::move(test)) {}

void Training::require_whole() const {
  if (!is_whole_)
    throw Error(Errc::usage,
                "something failed in the middle of a piece of work: load a saved state, or begin "
                "anew");
}

bool Training::step() {
  require_whole();
  switch (phase_) {
    case Phase::fresh:
      prepare();
      phase_ = Phase::test_is_due;
      break;
    case Phase::test_is_due:
      measure();
      if (budget_is_spent()) record_totals();
      phase_ = budget_is_spent() ? Phase::done : Phase::episode_is_due;
      break;
    case Phase::episode_is_due: {
      const Stopwatch watch(seconds_);
      domain_.play(next_request());
      take_in();
      break;
    }
    case Phase::done:
      break;
  }
  return is_done();
}

EpisodeRequest Training::ask(std::uint64_t ahead) {
  require_whole();
  while (phase_ == Phase::fresh || phase_ == Phase::test_is_due) step();
  if (is_done()) throw Error(Errc::usage, "the budget is spent: there is no next episode");
  require_within("ahead", ahead, 0, options_.lag - 1, Errc::usage);
  return next_request(ahead);
}

void Training::tell() {
  require_whole();
  if (phase_ != Phase::episode_is_due)
    throw Error(Errc::usage, "an episode was told that was not asked for");
  {
    const Stopwatch watch(seconds_);
    take_in();
  }
  if (budget_is_spent()) step();  // the last test, because ask will not be called again
}

void Training::skip() {
  require_whole();
  if (phase_ != Phase::episode_is_due)
    throw Error(Errc::usage, "an episode was skipped that was not asked for");
  ++counters_.skipped;
}

void Training::stop() {
  require_whole();
  is_stopped_ = true;
  if (phase_ == Phase::episode_is_due) phase_ = Phase::test_is_due;
  while (!is_done()) step();
}

bool Training::budget_is_spent() const {
  if (is_stopped_) return true;
  return options_.episodes > 0 ? domain_.agent().episodes() >= options_.episodes
                               : counters_.high_steps >= options_.steps;
}

double Training::share() const {
  const double share =
      options_.episodes > 0
          ? static_cast<double>(domain_.agent().episodes()) / static_cast<double>(options_.episodes)
          : static_cast<double>(counters_.high_steps) / static_cast<double>(options_.steps);
  return std::min(share, 1.0);
}

// Between this and the learning from the episode before, the policy does not change, so that this
// is the time to keep it.
EpisodeRequest Training::next_request(std::uint64_t ahead) {
  const std::uint64_t next = domain_.agent().episodes() + counters_.skipped;
  if (options_.lag > 1) {
    domain_.forget_policies_before(next);
    for (kept_until_ = std::max(kept_until_, next); kept_until_ < next + options_.lag;
         ++kept_until_)
      domain_.keep_policy(request_of(kept_until_));
  }
  return request_of(next + ahead);
}

EpisodeRequest Training::request_of(std::uint64_t number) const {
  if (number >= 0xffffffffU)
    throw Error(Errc::spec, "more than 2^32 - 1 episodes have no random streams of their own");
  return {.number = number,
          .streams = {.seed = options_.seed,
                      .purpose = Purpose::high_episode,
                      .episode = static_cast<std::uint32_t>(number)},
          .horizon = horizon(),
          .is_pilot = number < options_.pilot_episodes};
}

void Training::prepare() {
  const Stopwatch watch(seconds_);
  is_whole_ = false;
  const LearnReport report = domain_.agent().prepare();
  is_whole_ = true;
  counters_.low_steps += report.low_steps;
  counters_.truncated += report.truncated_rollouts;
}

void Training::take_in() {
  const EpisodeFacts facts = domain_.facts();
  is_whole_ = false;
  const LearnReport report = domain_.learn();
  Counters& c = counters_;
  c.high_steps += facts.length;
  c.low_steps += report.low_steps;
  c.truncated += report.truncated_rollouts + (facts.truncated ? 1 : 0);
  c.truncated_high += facts.truncated ? 1 : 0;
  c.dropped += report.dropped ? 1 : 0;
  check_hope(facts);
  c.reward_since_test += facts.mean_reward;
  c.return_since_test += facts.discounted_return;
  c.ratio_since_test += report.variance_ratio;
  c.correlation_since_test += report.correlation_sum;
  c.corrected_since_test += report.corrected;
  ++c.episodes_since_test;
  const std::uint64_t episodes = domain_.agent().episodes();
  if (last_ratios_.size() < kLastEpisodes)
    last_ratios_.push_back(report.variance_ratio);
  else
    last_ratios_[(episodes - 1) % kLastEpisodes] = report.variance_ratio;
  if (episodes % test_.every == 0 || budget_is_spent()) phase_ = Phase::test_is_due;
  is_whole_ = true;
}

// If all episodes are cut, an agent that learns from returns would go on for ever and learn
// nothing.
void Training::check_hope(const EpisodeFacts& facts) const {
  const std::uint64_t episodes = domain_.agent().episodes();
  if (counters_.dropped < episodes || (episodes < kHopeless && !budget_is_spent())) return;
  const bool by_itself = facts.length < options_.max_steps;
  throw Error(
      Errc::simulator,
      fmt::format(
          "all of the first {} episodes were cut ({}) and dropped, so that nothing was "
          "learnt; does the environment ever end? {} truncation = \"terminal\" to count "
          "the cut as an end, or take an agent that learns from single steps",
          episodes,
          by_itself ? fmt::format("by the simulator itself, the last after {} steps", facts.length)
                    : fmt::format("max_steps is {}", options_.max_steps),
          by_itself ? "Set" : "Raise max_steps, or set"));
}

void Training::add(const std::string& metric, double value) {
  out_.push_back({domain_.agent().episodes(), metric, value});
}

void Training::add_all(const std::vector<Fact>& facts) {
  for (const Fact& fact : facts) add(fact.name, fact.value);
}

void Training::measure() {
  Counters& c = counters_;
  const std::uint64_t episodes = domain_.agent().episodes();
  std::optional<TestFacts> tested;
  if (test_.episodes > 0)
    tested = domain_.test({.seed = options_.seed,
                           .purpose = Purpose::test,
                           .episode = static_cast<std::uint32_t>(episodes)},
                          horizon(), test_.episodes);
  is_whole_ = false;
  if (tested) {
    c.test_steps += tested->steps;
    add("test_reward", tested->reward);
    add("test_return", tested->discounted_return);
  } else if (c.episodes_since_test > 0) {
    const auto n = static_cast<double>(c.episodes_since_test);
    add("train_reward", c.reward_since_test / n);
    add("train_return", c.return_since_test / n);
  }
  if (test_.count_steps) {
    add("high_steps_so_far", static_cast<double>(c.high_steps));
    add("low_steps_so_far", static_cast<double>(c.low_steps));
  }
  if (c.episodes_since_test > 0)
    add("variance_ratio", c.ratio_since_test / static_cast<double>(c.episodes_since_test));
  if (c.corrected_since_test > 0)
    add("correlation", c.correlation_since_test / static_cast<double>(c.corrected_since_test));
  c.reward_since_test = c.return_since_test = c.ratio_since_test = c.correlation_since_test = 0;
  c.episodes_since_test = c.corrected_since_test = 0;
  if (episodes > 0) add_all(domain_.agent().findings());
  add_all(domain_.observed_at_test());
  if (test_.exact_every > 0 && (budget_is_spent() || episodes % test_.exact_every == 0))
    add_all(domain_.exact_values(horizon()));
  is_whole_ = true;
}

void Training::record_totals() {
  double ratio = 0;
  for (const double r : last_ratios_) ratio += r;
  add("variance_ratio_last_1000", ratio / static_cast<double>(last_ratios_.size()));
  add_all(test_.at_end);
  // Only if nothing else gives the value of the greedy policy: no model, and no tests.
  if (!domain_.has_model() && test_.episodes == 0)
    if (const std::optional<OwnValue> own = domain_.own_value();
        own && std::isfinite(own->standard_error)) {
      add("own_value", own->value);
      add("own_value_error", own->standard_error);
    }
  const Counters& c = counters_;
  add("high_steps", static_cast<double>(c.high_steps));
  add("low_steps", static_cast<double>(c.low_steps));
  add_all(domain_.observed_at_end());
  add("truncated", static_cast<double>(c.truncated));
  if (c.truncated_high > 0) {
    add("truncated_high", static_cast<double>(c.truncated_high));
    add("dropped", static_cast<double>(c.dropped));
  }
  // Without a model the high fidelity is the user's own system, and testing on it is not free.
  if (!domain_.has_model() && test_.episodes > 0)
    add("test_steps", static_cast<double>(c.test_steps));
  add("seconds", seconds_);
}

void Training::save(ArchiveWriter& out) const {
  require_whole();
  out.value(phase_);
  out.value(counters_);
  out.value(kept_until_);
  out.array<double>(last_ratios_);
  out.value(seconds_);
  out.value(static_cast<std::uint64_t>(out_.size()));
  for (const Measurement& m : out_) {
    out.value(m.episode);
    out.text(m.metric);
    out.value(m.value);
  }
  domain_.save(out);
}

void Training::load(ArchiveReader& in) {
  is_whole_ = false;
  const auto phase = in.value<std::uint8_t>();
  if (phase > static_cast<std::uint8_t>(Phase::done)) ArchiveReader::mismatch("phase");
  const auto counters = in.value<Counters>();
  const auto kept_until = in.value<std::uint64_t>();
  std::vector<double> last_ratios = in.list<double>("number of ratios", kLastEpisodes);
  const auto seconds = in.value<double>();
  std::vector<Measurement> measurements;
  const auto count = in.value<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto episode = in.value<std::uint64_t>();
    std::string metric = in.text("metric");
    measurements.push_back({episode, std::move(metric), in.value<double>()});
  }
  domain_.load(in);
  phase_ = static_cast<Phase>(phase);
  counters_ = counters;
  kept_until_ = kept_until;
  last_ratios_ = std::move(last_ratios);
  seconds_ = seconds;
  out_ = std::move(measurements);
  is_whole_ = true;
}

}  // namespace hilo
