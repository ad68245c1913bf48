#include "hilo/env/detail/tabular_simulator.hpp"

#include <algorithm>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

constexpr std::size_t kWorthIt = 4;  // fewer paths are faster one by one
// Recorded steps are kept until all paths of a group have ended, so a group has fewer paths if they
// may be long.
constexpr std::size_t kRecordedAtOnce = 128;
constexpr std::size_t kManyRecords = 1U << 21;

bool in_lockstep(SimdPath path, std::size_t num_paths) {
  return path != SimdPath::scalar && num_paths >= kWorthIt;
}

std::uint32_t pair_and_purpose(const StreamAddress& streams, std::size_t pair) {
  return streams.stream(static_cast<std::uint32_t>(pair)).pair_and_purpose();
}

// Stores the summaries of the paths in slots 0, 1, ...; a path that never started has an empty one.
void store_summaries(const Lockstep& paths, std::span<RolloutSummary> summaries) {
  for (std::size_t slot = 0; slot < summaries.size(); ++slot)
    summaries[slot] = {.discounted_return = paths.totals[slot][0],
                       .reward_sum = paths.totals[slot][1],
                       .steps = static_cast<std::uint32_t>(paths.totals[slot][2]),
                       .truncated = false};
  for (std::size_t i = 0; i < paths.count; ++i)
    summaries[paths.place[i] & 0xffffffffU].truncated = true;
}

// Builds the episode of a path from its steps, which are linked backwards.
void extract(const Lockstep& paths, std::size_t slot, bool truncated, Episode& episode) {
  const auto length = static_cast<std::size_t>(paths.totals[slot][2]);
  episode.states.resize(length + 1);
  episode.actions.resize(length);
  episode.rewards.resize(length);
  episode.states[length] = paths.last_state[slot];
  episode.truncated = truncated;
  std::uint64_t at = paths.last_record[slot];
  for (std::size_t t = length; t-- > 0;) {
    const Lockstep::StepRecord& step = paths.records[at];
    episode.states[t] = step.taken.state;
    episode.actions[t] = step.taken.action;
    episode.rewards[t] = step.reward;
    at = step.previous;
  }
}

}  // namespace

// Takes a spare work space of the simulator and returns it at the end, so that roll-outs allocate
// nothing. A visitor may itself call the simulator, which then uses another work space.
class TabularSimulator::WorkSpace {
 public:
  explicit WorkSpace(const TabularSimulator& simulator) : simulator_(simulator) {
    {
      const std::scoped_lock one_at_a_time(simulator.guard_);
      if (simulator.spare_.empty()) {
        simulator.spare_.reserve(++simulator.work_spaces_);  // space for it when it is returned
      } else {
        paths_ = std::move(simulator.spare_.back());
        simulator.spare_.pop_back();
      }
    }
    if (!paths_) paths_ = std::make_unique<Lockstep>();
  }
  WorkSpace(const WorkSpace&) = delete;
  WorkSpace& operator=(const WorkSpace&) = delete;
  ~WorkSpace() {
    if (paths_->records.capacity() > kManyRecords) paths_->records = {};
    const std::scoped_lock one_at_a_time(simulator_.guard_);
    if (simulator_.spare_.size() < simulator_.spare_.capacity())
      simulator_.spare_.push_back(std::move(paths_));  // allocates nothing, so cannot throw
  }
  Lockstep& operator*() const { return *paths_; }

 private:
  const TabularSimulator& simulator_;
  std::unique_ptr<Lockstep> paths_;
};

TabularSimulator::TabularSimulator(std::shared_ptr<const TabularMdp> mdp, SimdPath path)
    : OnePathSimulator(TabularSampler<std::uint16_t>(std::move(mdp))), path_(path) {
  require_simd_path(path);
}

TabularSimulator::~TabularSimulator() = default;

void TabularSimulator::run_episodes(const Behaviour& policy, const StreamAddress& streams,
                                    const Horizon& horizon,
                                    std::span<RolloutSummary> summaries) const {
  if (!in_lockstep(path_, summaries.size())) {
    OnePathSimulator::run_episodes(policy, streams, horizon, summaries);
    return;
  }
  check(policy, streams, horizon, 1, summaries.size());
  const WorkSpace work_space(*this);
  Lockstep& paths = *work_space;
  for (std::size_t first = 0; first < summaries.size(); first += Lockstep::kMaxPaths) {
    const std::size_t count = std::min(Lockstep::kMaxPaths, summaries.size() - first);
    paths.clear(false);
    for (std::size_t i = 0; i < count; ++i) {
      const auto rollout = static_cast<std::uint32_t>(first + i);
      paths.add(static_cast<std::uint32_t>(i), reset_with(env(), streams.stream(0, rollout)),
                streams.first_rollout + rollout, pair_and_purpose(streams, 0));
    }
    run_lockstep(path_, env().lockstep_tables(), policy, streams, horizon, false, paths);
    store_summaries(paths, summaries.subspan(first, count));
  }
}

void TabularSimulator::roll_out(const Behaviour& policy, const StreamAddress& streams,
                                const Horizon& horizon, std::span<const StateAction> starts,
                                std::uint32_t rollouts, std::span<RolloutSummary> summaries) const {
  if (!in_lockstep(path_, summaries.size())) {
    OnePathSimulator::roll_out(policy, streams, horizon, starts, rollouts, summaries);
    return;
  }
  check(policy, streams, horizon, starts.size(), rollouts);
  check_starts(starts, rollouts, summaries);
  const WorkSpace work_space(*this);
  Lockstep& paths = *work_space;
  std::size_t pair = 0;
  std::uint32_t rollout = 0;
  bool starts_at_end = is_terminal(starts[0].state);
  for (std::size_t first = 0; first < summaries.size(); first += Lockstep::kMaxPaths) {
    const std::size_t count = std::min(Lockstep::kMaxPaths, summaries.size() - first);
    paths.clear(false);
    for (std::uint32_t i = 0; i < count; ++i) {
      const StateAction start = starts[pair];
      paths.first_action[i] = start.action;
      paths.add(i, start.state, streams.first_rollout + rollout, pair_and_purpose(streams, pair));
      if (starts_at_end) --paths.count;  // its summary stays empty
      if (++rollout == rollouts && ++pair < starts.size()) {
        rollout = 0;
        starts_at_end = is_terminal(starts[pair].state);
      }
    }
    run_lockstep(path_, env().lockstep_tables(), policy, streams, horizon, true, paths);
    store_summaries(paths, summaries.subspan(first, count));
  }
}

// Records roll-outs in groups for a visitor that decides after each one how many more it wants. A
// group consists of the roll-outs that are wanted when it is made. Those that are no longer wanted
// when it is their turn are discarded without a trace.
class TabularSimulator::GroupRecorder {
 public:
  GroupRecorder(const TabularSimulator& simulator, const Behaviour& policy,
                const StreamAddress& streams, const Horizon& horizon,
                std::span<const StateAction> starts, PathVisitor& visitor)
      : simulator_(simulator),
        policy_(policy),
        streams_(streams),
        horizon_(horizon),
        starts_(starts),
        visitor_(visitor),
        at_once_(static_cast<std::uint32_t>(
            std::clamp<std::size_t>(kManyRecords / horizon.max_steps, 1, kRecordedAtOnce))),
        work_space_(simulator),
        paths_(*work_space_) {}

  void record_all() {
    while (pair_ < starts_.size()) {
      make_group();
      show_group();
    }
  }

 private:
  // Makes roll-outs of the current pair and the next ones, as many as fit.
  void make_group() {
    paths_.clear(true);
    made_.clear();
    std::uint32_t slots = 0;
    for (std::size_t i = pair_; i < starts_.size() && slots < at_once_; ++i) {
      const std::uint32_t before = i == pair_ ? num_seen_ : 0;
      const bool empty = simulator_.is_terminal(starts_[i].state);
      const std::uint32_t count = empty ? 0 : std::min(visitor_.wanted(i), at_once_ - slots);
      simulator_.check(policy_, streams_, horizon_, starts_.size(), std::size_t{before} + count);
      for (std::uint32_t j = before; j < before + count; ++j, ++slots) {
        paths_.first_action[slots] = starts_[i].action;
        paths_.add(slots, starts_[i].state, streams_.first_rollout + j,
                   pair_and_purpose(streams_, i));
      }
      made_.push_back(count);
    }
    run_lockstep(simulator_.path_, simulator_.env().lockstep_tables(), policy_, streams_, horizon_,
                 true, paths_);
    cut_.assign(slots, false);
    for (std::size_t i = 0; i < paths_.count; ++i) cut_[paths_.place[i] & 0xffffffffU] = true;
  }

  // Shows the group to the visitor. Stops at the first pair for which more roll-outs are wanted
  // than were made: the next group begins with them.
  void show_group() {
    std::uint32_t slot = 0;
    for (const std::uint32_t made : made_) {
      show_slots(slot, slot + made);
      slot += made;
      if (made == 0) record_one_by_one();
      if (visitor_.wanted(pair_) > 0) return;
      ++pair_;
      num_seen_ = 0;
    }
  }

  void show_slots(std::uint32_t slot, std::uint32_t end) {
    for (; slot < end && visitor_.wanted(pair_) > 0; ++slot, ++num_seen_) {
      extract(paths_, slot, cut_[slot], episode_);
      visitor_.see(pair_, episode_);
    }
  }

  // Roll-outs from a terminal state have no steps. They are left to the reference,
  // OnePathSimulator.
  void record_one_by_one() {
    StreamAddress one = streams_;
    one.first_pair = streams_.first_pair + static_cast<std::uint32_t>(pair_);
    for (; visitor_.wanted(pair_) > 0; ++num_seen_) {
      one.first_rollout = streams_.first_rollout + num_seen_;
      simulator_.record(policy_, one, horizon_, starts_[pair_], episode_);
      visitor_.see(pair_, episode_);
    }
  }

  const TabularSimulator& simulator_;
  const Behaviour& policy_;
  const StreamAddress& streams_;
  const Horizon& horizon_;
  std::span<const StateAction> starts_;
  PathVisitor& visitor_;
  std::uint32_t at_once_;  // roll-outs of a group, at most
  WorkSpace work_space_;
  Lockstep& paths_;
  Episode episode_;

  std::size_t pair_ = 0;             // the current pair
  std::uint32_t num_seen_ = 0;       // roll-outs of it that were shown
  std::vector<std::uint32_t> made_;  // of the group: roll-outs by pair, from pair_ on
  std::vector<bool> cut_;            // by slot
};

void TabularSimulator::record_paths(const Behaviour& policy, const StreamAddress& streams,
                                    const Horizon& horizon, std::span<const StateAction> starts,
                                    PathVisitor& visitor) const {
  if (path_ == SimdPath::scalar) {
    OnePathSimulator::record_paths(policy, streams, horizon, starts, visitor);
    return;
  }
  check(policy, streams, horizon, starts.size(), 1);
  for (const StateAction start : starts) check_start(start);
  GroupRecorder(*this, policy, streams, horizon, starts, visitor).record_all();
}

}  // namespace hilo
