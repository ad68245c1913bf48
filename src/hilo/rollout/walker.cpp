#include "hilo/rollout/walker.hpp"

#include "hilo/core/error.hpp"

namespace hilo {

Walker::Walker(std::shared_ptr<const Simulator> simulator, std::uint64_t seed)
    : simulator_(std::move(simulator)), seed_(seed) {
  if (!simulator_) throw Error(Errc::usage, "a walker needs a simulator");
  heads_ =
      std::make_shared<const std::vector<GreedyHead>>(simulator_->num_states(), GreedyHead{1, 0});
}

void Walker::set_seed(std::uint64_t seed) {
  seed_ = seed;
  next_episode_ = 0;
  running_ = false;
}

RolloutBatch Walker::batch() const {
  return {.behaviour = {.heads = *heads_,
                        .ties = {&no_tie_, 1},
                        .num_actions = static_cast<std::uint32_t>(simulator_->num_actions()),
                        .epsilon = 0},
          .seed = seed_,
          .purpose = Purpose::user,
          .episode = next_episode_,
          .max_steps = 1};
}

void Walker::begin(State s) {
  state_ = s;
  steps_ = 0;
  running_ = !simulator_->is_terminal(s);
  ++next_episode_;
}

// A simulator tells where an episode starts only by running one.
State Walker::reset() {
  simulator_->run_episode(batch(), path_);
  begin(path_.states.at(0));
  return state_;
}

void Walker::reset_to(State s) {
  require_within("state", std::uint64_t{s}, 0, simulator_->num_states() - 1, Errc::usage);
  begin(s);
}

Step Walker::step(Action a) {
  if (!running_)
    throw Error(Errc::usage, "the episode is over or has not begun; call reset before step");
  require_within("action", std::uint64_t{a}, 0, simulator_->num_actions() - 1, Errc::usage);
  if (steps_ >= kMaxSteps - 1) throw Error(Errc::usage, "the episode has no random streams left");
  RolloutBatch one = batch();
  one.episode = next_episode_ - 1;
  one.first_step = steps_;
  simulator_->record(one, {state_, a}, path_);
  if (path_.length() != 1) throw Error(Errc::simulator, "a single step was asked for");
  ++steps_;
  state_ = path_.states[1];
  running_ = path_.truncated;
  return {.next = state_, .reward = path_.rewards[0], .done = !path_.truncated};
}

}  // namespace hilo
