#include "hilo/rollout/walker.hpp"

#include "hilo/core/error.hpp"

namespace hilo {

Walker::Walker(std::shared_ptr<const Simulator> simulator, std::uint64_t seed)
    : simulator_(std::move(simulator)), seed_(seed) {
  if (!simulator_) throw Error(Errc::usage, "a walker needs a simulator");
}

void Walker::set_seed(std::uint64_t seed) {
  seed_ = seed;
  next_episode_ = 0;
  running_ = false;
}

void Walker::begin(State s) {
  state_ = s;
  steps_ = 0;
  running_ = !simulator_->is_terminal(s);
  ++next_episode_;
}

State Walker::reset() {
  begin(simulator_->reset(streams(next_episode_)));
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
  StreamAddress at = streams(next_episode_ - 1);
  at.first_step = steps_;
  const Step step = simulator_->step({state_, a}, at);
  ++steps_;
  state_ = step.next;
  running_ = !step.done;
  return step;
}

}  // namespace hilo
