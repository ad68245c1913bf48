#include "hilo/experiment/train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>

#include "hilo/core/error.hpp"
#include "hilo/exact/evaluate.hpp"

namespace hilo {
namespace {

constexpr std::size_t kLastEpisodes = 1000;  // of variance_ratio_last_1000
constexpr std::uint64_t kHopeless = 100;     // episodes from the first on that taught nothing

class Training {
 public:
  Training(Agent& agent, const EpisodeSimulator& high, const TrainOptions& train,
           const TestOptions& test, const std::function<bool()>& keep_going)
      : agent_(agent),
        high_(high),
        train_(train),
        test_(test),
        keep_going_(keep_going),
        summaries_(test.episodes) {
    if (train.pilot_episodes > 0) uniform_.emplace(high.num_states(), high.num_actions());
  }

  std::vector<Measurement> run() {
    prepare();
    measure(done());
    while (!done()) {
      if (!keep_going_()) throw Interrupted();
      const auto start = std::chrono::steady_clock::now();
      run_and_learn();
      seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (agent_.episodes() % test_.every == 0 || done()) measure(done());
      tell_progress();
    }
    record_totals();
    return std::move(out_);
  }

 private:
  bool done() const {
    return train_.episodes > 0 ? agent_.episodes() >= train_.episodes : high_steps_ >= train_.steps;
  }

  void tell_progress() {
    if (!train_.on_progress) return;
    const double share =
        train_.episodes > 0
            ? static_cast<double>(agent_.episodes()) / static_cast<double>(train_.episodes)
            : static_cast<double>(high_steps_) / static_cast<double>(train_.steps);
    if (share < told_ + 0.01) return;
    told_ = share;
    train_.on_progress(std::min(share, 1.0));
  }

  void prepare() {
    const auto start = std::chrono::steady_clock::now();
    const LearnReport report = agent_.prepare();
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    low_steps_ += report.low_steps;
    truncated_ += report.truncated_rollouts;
  }

  void run_and_learn() {
    if (agent_.episodes() >= 0xffffffffU)
      throw Error(Errc::spec, "more than 2^32 - 1 episodes have no random streams of their own");
    const bool pilot = agent_.episodes() < train_.pilot_episodes;
    high_.run_episode({.behaviour = pilot ? uniform_->behaviour(1) : agent_.behaviour(),
                       .seed = train_.seed,
                       .purpose = Purpose::high_episode,
                       .episode = static_cast<std::uint32_t>(agent_.episodes()),
                       .gamma = train_.gamma,
                       .max_steps = train_.max_steps},
                      episode_);
    if (episode_.length() == 0)
      throw Error(Errc::simulator, "the high fidelity gave an episode without a step");
    const bool cut = episode_.truncated;
    if (train_.truncation == Truncation::terminal) episode_.truncated = false;
    const LearnReport report = agent_.learn(episode_);
    if (train_.observer != nullptr) train_.observer->see(episode_);
    high_steps_ += episode_.length();
    low_steps_ += report.low_steps;
    truncated_ += report.truncated_rollouts + (cut ? 1 : 0);
    truncated_high_ += cut ? 1 : 0;
    dropped_ += report.dropped ? 1 : 0;
    check_hope();
    if (test_.episodes == 0) add_up(episode_);
    if (estimates_itself()) ++starts_[episode_.states.front()];
    ratio_since_test_ += report.variance_ratio;
    correlation_since_test_ += report.correlation_sum;
    corrected_since_test_ += report.corrected;
    ++episodes_since_test_;
    if (last_ratios_.size() < kLastEpisodes)
      last_ratios_.push_back(report.variance_ratio);
    else
      last_ratios_[(agent_.episodes() - 1) % kLastEpisodes] = report.variance_ratio;
  }

  // Where all episodes are cut, a learner from returns would go on for ever and learn nothing.
  void check_hope() const {
    const std::uint64_t episodes = agent_.episodes();
    if (dropped_ < episodes || (episodes < kHopeless && !done())) return;
    const bool by_itself = episode_.length() < train_.max_steps;
    throw Error(
        Errc::simulator,
        fmt::format("all of the first {} episodes were cut ({}) and dropped, so that nothing was "
                    "learnt; does the environment ever end? {} truncation = \"terminal\" to count "
                    "the cut as an end, or take an agent that learns from single steps",
                    episodes,
                    by_itself ? fmt::format("by the simulator itself, the last after {} steps",
                                            episode_.length())
                              : fmt::format("max_steps is {}", train_.max_steps),
                    by_itself ? "Set" : "Raise max_steps, or set"));
  }

  // What the training episodes gave since the last test, where there are no tests.
  void add_up(const Episode& episode) {
    double sum = 0;
    double discounted = 0;
    for (std::size_t t = episode.length(); t-- > 0;) {
      sum += episode.rewards[t];
      discounted = train_.gamma * discounted + episode.rewards[t];
    }
    train_reward_ += sum / static_cast<double>(episode.length());
    train_return_ += discounted;
  }

  void add(const std::string& metric, double value) {
    out_.push_back({agent_.episodes(), metric, value});
  }
  void add_all(const std::vector<Fact>& facts) {
    for (const Fact& fact : facts) add(fact.name, fact.value);
  }

  void measure(bool last) {
    if (!keep_going_()) throw Interrupted();
    if (test_.episodes > 0)
      test();
    else if (episodes_since_test_ > 0)
      record_training();
    if (test_.count_steps) {
      add("high_steps_so_far", static_cast<double>(high_steps_));
      add("low_steps_so_far", static_cast<double>(low_steps_));
    }
    if (episodes_since_test_ > 0)
      add("variance_ratio", ratio_since_test_ / static_cast<double>(episodes_since_test_));
    if (corrected_since_test_ > 0)
      add("correlation", correlation_since_test_ / static_cast<double>(corrected_since_test_));
    ratio_since_test_ = 0;
    episodes_since_test_ = 0;
    correlation_since_test_ = 0;
    corrected_since_test_ = 0;
    if (agent_.episodes() > 0) add_all(agent_.findings());
    if (train_.observer != nullptr) add_all(train_.observer->at_test());
    if (test_.exact_every > 0 && (last || agent_.episodes() % test_.exact_every == 0))
      measure_exactly();
  }

  void record_training() {
    const auto n = static_cast<double>(episodes_since_test_);
    add("train_reward", train_reward_ / n);
    add("train_return", train_return_ / n);
    train_reward_ = 0;
    train_return_ = 0;
  }

  void test() {
    high_.run_episodes({.behaviour = agent_.greedy(),
                        .seed = train_.seed,
                        .purpose = Purpose::test,
                        .episode = static_cast<std::uint32_t>(agent_.episodes()),
                        .gamma = train_.gamma,
                        .max_steps = train_.max_steps},
                       summaries_);
    double reward = 0;
    double discounted = 0;
    for (const RolloutSummary& summary : summaries_) {
      reward += summary.mean_reward();
      discounted += summary.discounted_return;
      test_steps_ += summary.steps;
    }
    const auto n = static_cast<double>(summaries_.size());
    add("test_reward", reward / n);
    add("test_return", discounted / n);
  }

  void measure_exactly() {
    const Model* model = high_.model();
    if (model == nullptr) return;
    const PolicyMatrix policy = policy_matrix(agent_.greedy());
    const StartValues exact = evaluate_from_start(*model, policy, train_.gamma, train_.max_steps);
    add("policy_value", exact.value);
    add("policy_reward", exact.mean_reward);
    if (test_.optimum != nullptr)
      add("optimal_actions", share_of_optimal_actions(*model, *test_.optimum, policy));
  }

  // Where nothing else tells what the greedy policy is worth: no model, and no tests.
  bool estimates_itself() const { return high_.model() == nullptr && test_.episodes == 0; }

  // The agent's own word: max_a Q(s, a), averaged over the states s that episodes have started in.
  // Its standard error adds up those of Q, as the agent judges them, and that of the starts drawn:
  //   var = sum_s w(s)^2 se(s)^2 + sum_s w(s) (v(s) - value)^2 / N
  // It is left out where the agent cannot judge.
  void record_own_estimate() {
    const auto n = static_cast<double>(agent_.episodes());
    double value = 0;
    double variance = 0;
    const auto best = [&](State s) { return agent_.q().greedy_actions(s)[0]; };
    for (const auto& [s, count] : starts_) {
      const double w = static_cast<double>(count) / n;
      const double error = agent_.standard_error(s, best(s));
      value += w * agent_.q()(s, best(s));
      variance += w * w * error * error;
    }
    for (const auto& [s, count] : starts_) {
      const double difference = agent_.q()(s, best(s)) - value;
      variance += static_cast<double>(count) / n * difference * difference / n;
    }
    if (!std::isfinite(value) || !std::isfinite(variance)) return;
    add("own_value", value);
    add("own_value_error", std::sqrt(variance));
  }

  void record_totals() {
    double ratio = 0;
    for (const double r : last_ratios_) ratio += r;
    add("variance_ratio_last_1000", ratio / static_cast<double>(last_ratios_.size()));
    if (test_.optimum != nullptr) {
      add("optimal_value", test_.optimum->value);
      add("optimal_reward", test_.optimum->mean_reward);
    }
    if (estimates_itself()) record_own_estimate();
    add("high_steps", static_cast<double>(high_steps_));
    add("low_steps", static_cast<double>(low_steps_));
    if (train_.observer != nullptr) add_all(train_.observer->at_end());
    add("truncated", static_cast<double>(truncated_));
    if (truncated_high_ > 0) {
      add("truncated_high", static_cast<double>(truncated_high_));
      add("dropped", static_cast<double>(dropped_));
    }
    // Without a model it is somebody's own system, and testing on it is not free.
    if (high_.model() == nullptr && test_.episodes > 0)
      add("test_steps", static_cast<double>(test_steps_));
    add("seconds", seconds_);
  }

  Agent& agent_;
  const EpisodeSimulator& high_;
  TrainOptions train_;
  TestOptions test_;
  const std::function<bool()>& keep_going_;

  std::optional<QTable> uniform_;  // the pilot's policy
  Episode episode_;
  std::map<State, std::uint64_t> starts_;  // how many episodes began there
  std::vector<RolloutSummary> summaries_;
  std::vector<Measurement> out_;
  std::vector<double> last_ratios_;  // a ring
  std::uint64_t high_steps_ = 0, low_steps_ = 0, test_steps_ = 0, episodes_since_test_ = 0;
  std::uint64_t truncated_ = 0, truncated_high_ = 0, dropped_ = 0;
  double train_reward_ = 0, train_return_ = 0;  // since the last test
  double ratio_since_test_ = 0;
  double correlation_since_test_ = 0;
  std::uint64_t corrected_since_test_ = 0;
  double seconds_ = 0;  // training alone
  double told_ = 0;     // share of the work that on_progress knows of
};

}  // namespace

std::vector<Measurement> train(Agent& agent, const EpisodeSimulator& high,
                               const TrainOptions& train, const TestOptions& test,
                               const std::function<bool()>& keep_going) {
  return Training(agent, high, train, test, keep_going).run();
}

}  // namespace hilo
