#include "hilo/env/source_vectors.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/env/source_steps.hpp"

namespace hilo {

class SourceVectors::Loan {
 public:
  explicit Loan(const SourceVectors& pool) : pool_(pool) {
    std::unique_lock lock(pool_.mutex_);
    pool_.returned_.wait(lock, [&] { return !pool_.free_.empty(); });
    source_ = pool_.free_.back();
    pool_.free_.pop_back();
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() {
    {
      const std::scoped_lock lock(pool_.mutex_);
      pool_.free_.push_back(source_);
    }
    pool_.returned_.notify_one();
  }
  StepSource& source() const { return *source_; }

 private:
  const SourceVectors& pool_;
  StepSource* source_;
};

SourceVectors::SourceVectors(std::vector<std::shared_ptr<StepSource>> instances, std::string role,
                             std::vector<std::size_t> angles)
    : VectorSimulator(instances.at(0)->observation_space(), instances.at(0)->action_space()),
      instances_(std::move(instances)),
      role_(std::move(role)),
      angles_(std::move(angles)) {
  check_angles(observation_space(), angles_);
  for (auto it = instances_.rbegin(); it != instances_.rend(); ++it) free_.push_back(it->get());
}

SourceVectors::~SourceVectors() {
  for (const auto& source : instances_) source->begin_to_end();
}

void SourceVectors::run_path(const Point* start, const Policy& policy, const StreamAddress& streams,
                             const Horizon& horizon, const Stream& stream,
                             VectorEpisode& episode) const {
  const Loan loan(*this);
  StepSource& source = loan.source();
  const SourceEntry entry(source);
  const std::uint32_t seed = seed_of(stream, streams.first_step);
  episode.clear();
  const PolicyPath path(policy, seed);
  if (start != nullptr) {
    const bool is_terminal = source.put(*start, seed);
    episode.observations.push_back(*start);
    if (is_terminal) return;
  } else {
    source.reset(seed, episode.observations);
  }
  if (episode.observations.size() != 1)
    throw Error(Errc::simulator, fmt::format("{}: a reset must give one observation", role_));
  check_step(episode);
  Points seen(observation_space()), chosen(action_space());
  for (std::uint32_t t = 0; t < horizon.max_steps; ++t) {
    Rng rng = Rng::of_step(stream, streams.first_step + t + 1);
    const ActionWords words = draw_action_words(rng);
    seen.clear();
    seen.push_back(episode.observations[t]);
    policy.act(seen, {&words, 1}, chosen);
    if (chosen.size() != 1)
      throw Error(Errc::usage, "a policy must give one action for each observation");
    require_in_space(action_space(), chosen[0], "the action of the policy");
    episode.actions.push_back(chosen[0]);
    const SourceStep step = source.step(chosen[0], episode.observations);
    episode.rewards.push_back(step.reward);
    if (episode.observations.size() != t + 2)
      throw Error(Errc::simulator, fmt::format("{}: a step must give one observation", role_));
    try {
      check_step(episode);
    } catch (const Error& e) {
      throw Error(e.code(), fmt::format("{}, step {}: {}", role_, t, e.what()));
    }
    if (step.cost) episode.cost = episode.cost.value_or(0) + *step.cost;
    if (step.ended) return;
    if (step.cut) break;
  }
  episode.truncated = true;
}

void SourceVectors::run_episode(const Policy& policy, const StreamAddress& streams,
                                const Horizon& horizon, VectorEpisode& episode) const {
  check(policy, streams, horizon, 1);
  run_path(nullptr, policy, streams, horizon, streams.stream(), episode);
}

void SourceVectors::run_episodes(const Policy& policy, const StreamAddress& streams,
                                 const Horizon& horizon,
                                 std::span<RolloutSummary> summaries) const {
  check(policy, streams, horizon, summaries.size());
  VectorEpisode episode(*this);
  std::uint32_t rollout = 0;
  for (RolloutSummary& summary : summaries) {
    run_path(nullptr, policy, streams, horizon, streams.stream(0, rollout++), episode);
    summary = summarise(episode, horizon.gamma);
  }
}

void SourceVectors::run_from(const Point& start, const Policy& policy, const StreamAddress& streams,
                             const Horizon& horizon, VectorEpisode& episode) const {
  check(policy, streams, horizon, 1);
  run_path(&start, policy, streams, horizon, streams.stream(), episode);
}

void SourceVectors::reset(const StreamAddress& streams, Points& out) const {
  const Loan loan(*this);
  const SourceEntry entry(loan.source());
  loan.source().reset(seed_of(streams.stream(), streams.first_step), out);
  if (out.size() != 1)
    throw Error(Errc::simulator, fmt::format("{}: a reset must give one observation", role_));
  require_in_space(observation_space(), out[0], (role_ + ", the start state").c_str());
}

}  // namespace hilo
