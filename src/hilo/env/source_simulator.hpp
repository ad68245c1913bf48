#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hilo/env/simulator.hpp"
#include "hilo/env/step_source.hpp"

namespace hilo {

// Runs paths of a step source whose spaces are discrete. This is the only loop that calls the
// source, and everything that the source returns is checked. A step into a state of `terminal` ends
// the path, whatever the source says.
class SourcePaths {
 public:
  // Messages begin with `role`, such as "high fidelity". A path that fails is tried again with the
  // same seed, up to `retries` times.
  SourcePaths(std::shared_ptr<StepSource> source, const std::vector<State>& terminal,
              std::string role, std::uint64_t retries = 0);

  const std::shared_ptr<StepSource>& source() const { return source_; }
  bool is_terminal(State s) const { return !terminal_.empty() && terminal_[s] != 0; }
  std::vector<State> terminal() const;

  // If `start` is null, the path is a whole episode.
  void record(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
              const StateAction* start, Episode& episode) const;
  RolloutSummary summarise(const Behaviour& policy, const StreamAddress& streams,
                           const Horizon& horizon, std::uint32_t pair, std::uint32_t rollout,
                           const StateAction* start) const;
  // Whole episodes with the roll-outs 0, 1, ... of the address.
  void summarise_episodes(const Behaviour& policy, const StreamAddress& streams,
                          const Horizon& horizon, std::span<RolloutSummary> summaries) const;

  State reset(const StreamAddress& streams) const;
  Step step(StateAction at, const StreamAddress& streams) const;
  double reward(State s, Action a, State next) const;
  bool tells_rewards() const;

 private:
  struct Taken {
    State next;
    double reward;
    bool ended, cut;
    std::optional<double> cost;
  };
  struct Begun {
    State state;
    bool ended;
  };
  template <class Attempt>
  auto with_retries(Attempt&& attempt) const;
  // These may only be called while a SourceEntry is held.
  Begun begin(const Stream& stream, std::uint32_t first_step, const State* at) const;
  Taken take(State s, Action a) const;
  double tried_reward(State s, Action a, State next) const;
  template <class Begin, class Visit>
  bool run(const Behaviour& policy, const Stream& stream, const StreamAddress& streams,
           const Horizon& horizon, const StateAction* start, Begin&& begin, Visit&& visit) const;

  std::shared_ptr<StepSource> source_;
  std::vector<std::uint8_t> terminal_;  // by state; empty: none is known
  std::string role_;
  std::uint64_t retries_;
  // Rewards that were found by trying; guarded by the entry to the source.
  struct Tried;
  std::shared_ptr<Tried> tried_;
};

// A source that only provides whole episodes, as a high fidelity.
class SourceEpisodes final : public EpisodeSimulator {
 public:
  explicit SourceEpisodes(SourcePaths paths);
  const SourcePaths& paths() const { return paths_; }

  void run_episode(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                   Episode& episode) const override;
  void run_episodes(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                    std::span<RolloutSummary> summaries) const override;

 private:
  SourcePaths paths_;
};

// A source that can be started in any state.
class SourceSimulator final : public Simulator {
 public:
  explicit SourceSimulator(SourcePaths paths);
  const SourcePaths& paths() const { return paths_; }

  bool is_terminal(State s) const override { return paths_.is_terminal(s); }
  State reset(const StreamAddress& streams) const override { return paths_.reset(streams); }
  Step step(StateAction at, const StreamAddress& streams) const override;
  double reward(State s, Action a, State next) const override { return paths_.reward(s, a, next); }
  bool tells_rewards() const override { return paths_.tells_rewards(); }
  void run_episode(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                   Episode& episode) const override;
  void run_episodes(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                    std::span<RolloutSummary> summaries) const override;
  void roll_out(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                std::span<const StateAction> starts, std::uint32_t rollouts,
                std::span<RolloutSummary> summaries) const override;
  void record(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
              StateAction start, Episode& episode) const override;

 private:
  SourcePaths paths_;
};

// Hides everything of a simulator except its episodes and its model. For example, it hides which
// states are terminal, for the case that a coarse map merges them with other states.
class EpisodesOnly final : public EpisodeSimulator {
 public:
  explicit EpisodesOnly(std::shared_ptr<const EpisodeSimulator> whole)
      : EpisodeSimulator(whole->num_states(), whole->num_actions()), whole_(std::move(whole)) {}

  const Model* model() const override { return whole_->model(); }
  void run_episode(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                   Episode& episode) const override {
    whole_->run_episode(policy, streams, horizon, episode);
  }
  void run_episodes(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                    std::span<RolloutSummary> summaries) const override {
    whole_->run_episodes(policy, streams, horizon, summaries);
  }

 private:
  std::shared_ptr<const EpisodeSimulator> whole_;
};

}  // namespace hilo
