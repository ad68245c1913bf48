#include "hilo/env/tabular_simulator.hpp"

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

// A work space, kept by the thread for the next call, so that roll-outs allocate nothing. Taken
// while in use: a visitor may itself call a simulator.
class WorkSpace {
 public:
  WorkSpace() : paths_(std::move(spare())) {
    if (!paths_) paths_ = std::make_unique<Lockstep>();
  }
  WorkSpace(const WorkSpace&) = delete;
  WorkSpace& operator=(const WorkSpace&) = delete;
  ~WorkSpace() {
    if (paths_->records.capacity() > kManyRecords) paths_->records = {};
    spare() = std::move(paths_);
  }
  Lockstep& operator*() const { return *paths_; }

 private:
  static std::unique_ptr<Lockstep>& spare() {
    thread_local std::unique_ptr<Lockstep> kept;
    return kept;
  }
  std::unique_ptr<Lockstep> paths_;
};

std::uint32_t pair_and_purpose(const RolloutBatch& batch, std::size_t pair) {
  return (batch.first_pair + static_cast<std::uint32_t>(pair)) << 8 |
         static_cast<std::uint32_t>(batch.purpose);
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

void TabularSimulator::run_episodes(const RolloutBatch& batch,
                                    std::span<RolloutSummary> summaries) const {
  const SimdPath path = simd_path();
  if (!in_lockstep(path, summaries.size())) {
    BulkSimulator::run_episodes(batch, summaries);
    return;
  }
  check(batch, 1, summaries.size());
  const WorkSpace work_space;
  Lockstep& paths = *work_space;
  for (std::size_t first = 0; first < summaries.size(); first += Lockstep::kMaxPaths) {
    const std::size_t count = std::min(Lockstep::kMaxPaths, summaries.size() - first);
    paths.clear(false);
    for (std::size_t i = 0; i < count; ++i) {
      const auto rollout = static_cast<std::uint32_t>(first + i);
      paths.add(static_cast<std::uint32_t>(i), reset_with(env(), stream_of(batch, 0, rollout)),
                batch.first_rollout + rollout, pair_and_purpose(batch, 0));
    }
    run_lockstep(path, env().lockstep_tables(), batch, false, paths);
    store_summaries(paths, summaries.subspan(first, count));
  }
}

void TabularSimulator::roll_out(const RolloutBatch& batch, std::span<const StateAction> starts,
                                std::uint32_t rollouts, std::span<RolloutSummary> summaries) const {
  const SimdPath path = simd_path();
  if (!in_lockstep(path, summaries.size())) {
    BulkSimulator::roll_out(batch, starts, rollouts, summaries);
    return;
  }
  check_roll_out(batch, starts, rollouts, summaries);
  const WorkSpace work_space;
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
      paths.add(i, start.state, batch.first_rollout + rollout, pair_and_purpose(batch, pair));
      if (starts_at_end) --paths.count;  // its summary stays empty
      if (++rollout == rollouts && ++pair < starts.size()) {
        rollout = 0;
        starts_at_end = is_terminal(starts[pair].state);
      }
    }
    run_lockstep(path, env().lockstep_tables(), batch, true, paths);
    store_summaries(paths, summaries.subspan(first, count));
  }
}

void TabularSimulator::record_paths(const RolloutBatch& batch, std::span<const StateAction> starts,
                                    PathVisitor& visitor) const {
  const SimdPath path = simd_path();
  if (path == SimdPath::scalar) {
    BulkSimulator::record_paths(batch, starts, visitor);
    return;
  }
  check(batch, starts.size(), 1);
  for (const StateAction start : starts) check_start(start);
  const auto at_once = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(kManyRecords / batch.max_steps, 1, kRecordedAtOnce));
  const WorkSpace work_space;
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
      check(batch, starts.size(), std::size_t{before} + count);
      for (std::uint32_t j = before; j < before + count; ++j, ++slots) {
        paths.first_action[slots] = starts[i].action;
        paths.add(slots, starts[i].state, batch.first_rollout + j, pair_and_purpose(batch, i));
      }
      made.push_back(count);
    }
    run_lockstep(path, env().lockstep_tables(), batch, true, paths);
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
        RolloutBatch one = batch;
        one.first_pair = batch.first_pair + static_cast<std::uint32_t>(first);
        for (; visitor.wanted(first) > 0; ++num_seen) {
          one.first_rollout = batch.first_rollout + num_seen;
          record(one, starts[first], episode);
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
