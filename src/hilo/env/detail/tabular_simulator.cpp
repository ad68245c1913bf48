#include "hilo/env/detail/tabular_simulator.hpp"

#include <algorithm>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

constexpr std::size_t kWorthIt = 4;             // paths below that are quicker one by one
constexpr std::size_t kRecordedAtOnce = 128;    // their steps are kept until all have ended,
constexpr std::size_t kManyRecords = 1U << 21;  // so there are fewer where they may be long

bool in_lockstep(SimdPath path, std::size_t num_paths) {
  return path != SimdPath::scalar && num_paths >= kWorthIt;
}

std::uint32_t pair_and_purpose(const StreamAddress& streams, std::size_t pair) {
  return streams.stream(static_cast<std::uint32_t>(pair)).pair_and_purpose();
}

// Of the paths in slots 0, 1, ...; those that never started keep an empty one.
void store_summaries(const Lockstep& paths, std::span<RolloutSummary> summaries) {
  for (std::size_t slot = 0; slot < summaries.size(); ++slot)
    summaries[slot] = {.discounted_return = paths.totals[slot][0],
                       .reward_sum = paths.totals[slot][1],
                       .steps = static_cast<std::uint32_t>(paths.totals[slot][2]),
                       .truncated = false};
  for (std::size_t i = 0; i < paths.count; ++i)
    summaries[paths.place[i] & 0xffffffffU].truncated = true;
}

// A path from its steps, which are linked backwards.
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

// A work space, and back to the simulator's spare ones at the end, so that roll-outs allocate
// nothing. A visitor may itself call the simulator: then there is another one.
class TabularSimulator::WorkSpace {
 public:
  explicit WorkSpace(const TabularSimulator& simulator) : simulator_(simulator) {
    {
      const std::scoped_lock one_at_a_time(simulator.guard_);
      if (simulator.spare_.empty()) {
        simulator.spare_.reserve(++simulator.work_spaces_);  // room for it when it comes back
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

void TabularSimulator::record_paths(const Behaviour& policy, const StreamAddress& streams,
                                    const Horizon& horizon, std::span<const StateAction> starts,
                                    PathVisitor& visitor) const {
  if (path_ == SimdPath::scalar) {
    OnePathSimulator::record_paths(policy, streams, horizon, starts, visitor);
    return;
  }
  check(policy, streams, horizon, starts.size(), 1);
  for (const StateAction start : starts) check_start(start);
  const auto at_once = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(kManyRecords / horizon.max_steps, 1, kRecordedAtOnce));
  const WorkSpace work_space(*this);
  Lockstep& paths = *work_space;
  Episode episode;
  std::vector<std::uint32_t> made;  // by pair of the group
  std::vector<bool> cut;            // by slot
  std::uint32_t num_seen = 0;       // of starts[first]
  for (std::size_t first = 0; first < starts.size();) {
    // Roll-outs of the next pairs that are wanted as things stand. Some of them may turn out not to
    // be wanted when their turn has come; these leave no trace.
    paths.clear(true);
    made.clear();
    std::uint32_t slots = 0;
    for (std::size_t i = first; i < starts.size() && slots < at_once; ++i) {
      const std::uint32_t before = i == first ? num_seen : 0;
      const bool empty = is_terminal(starts[i].state);
      const std::uint32_t count = empty ? 0 : std::min(visitor.wanted(i), at_once - slots);
      check(policy, streams, horizon, starts.size(), std::size_t{before} + count);
      for (std::uint32_t j = before; j < before + count; ++j, ++slots) {
        paths.first_action[slots] = starts[i].action;
        paths.add(slots, starts[i].state, streams.first_rollout + j, pair_and_purpose(streams, i));
      }
      made.push_back(count);
    }
    run_lockstep(path_, env().lockstep_tables(), policy, streams, horizon, true, paths);
    cut.assign(slots, false);
    for (std::size_t i = 0; i < paths.count; ++i) cut[paths.place[i] & 0xffffffffU] = true;

    std::uint32_t slot = 0;
    bool is_complete = true;
    for (std::size_t g = 0; g < made.size() && is_complete; ++g) {
      const std::uint32_t end = slot + made[g];
      for (; slot < end && visitor.wanted(first) > 0; ++slot, ++num_seen) {
        extract(paths, slot, cut[slot], episode);
        visitor.see(first, episode);
      }
      slot = end;
      // More than were made: the next group begins with them. Where a roll-out has no steps, it is
      // the reference's to say so.
      is_complete = visitor.wanted(first) == 0;
      if (!is_complete && made[g] == 0) {
        StreamAddress one = streams;
        one.first_pair = streams.first_pair + static_cast<std::uint32_t>(first);
        for (; visitor.wanted(first) > 0; ++num_seen) {
          one.first_rollout = streams.first_rollout + num_seen;
          record(policy, one, horizon, starts[first], episode);
          visitor.see(first, episode);
        }
        is_complete = true;
      }
      if (is_complete) {
        ++first;
        num_seen = 0;
      }
    }
  }
}

}  // namespace hilo
