#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hilo/core/simd.hpp"
#include "hilo/env/tabular_mdp.hpp"

namespace hilo {

// Many paths through one MDP, whose rewards do not depend on the successor, that take their t-th
// step together. So all share the step's discount and stream position, and while one waits for
// memory the others go on. Paths that have ended are squeezed out after every step. This is the
// work space; a run of paths is
//
//   clear(), add() for each path, run_lockstep(), and then what is kept by slot.
//
// 64-bit numbers throughout, so that a lane is a lane in every vector.
class Lockstep {
 public:
  static constexpr std::size_t kMaxPaths = 512;
  static constexpr std::size_t kBlock = 64;  // paths whose step is taken stage by stage
  static constexpr std::size_t kPad = 8;     // stages work on so many paths at least

  static constexpr std::uint64_t kNobody = kMaxPaths;  // a slot for what is thrown away

  void clear(bool recorded) {
    count = 0;
    is_recorded = recorded;
    records.clear();
    first_action[kNobody] = 0;
  }

  // The path is known by its slot, below kMaxPaths, from now on.
  void add(std::uint32_t slot, State s, std::uint32_t rollout, std::uint32_t pair_and_purpose) {
    address[count] = std::uint64_t{pair_and_purpose} << 32 | rollout;
    place[count] = std::uint64_t{s} << 32 | slot;
    ++count;
    totals[slot] = Totals{};
    if (is_recorded) {
      last_record[slot] = kNone;
      last_state[slot] = s;
    }
  }

  // A step of a recorded path. They stand in no particular order and are linked backwards.
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct StepRecord {
    StateAction taken;
    std::uint64_t previous;  // kNone: it was the first
    double reward;
  };

  // Arrays that are read and written together must not lie a multiple of 4096 bytes apart, or loads
  // would be taken to depend on stores.
  template <class T>
  using ByPath = std::array<T, kMaxPaths + kPad + 56>;
  template <class T>
  using ByBlock = std::array<T, kBlock>;

  // Of a path so far: discounted return, sum of rewards, number of steps, nothing. Four numbers
  // that are loaded, added to and stored as one.
  typedef double Totals __attribute__((vector_size(32)));

  // Paths under way, and after the run those that were cut.
  std::size_t count = 0;
  alignas(
      64) ByPath<std::uint64_t> address;    // roll-out | (pair, purpose) << 32: words of a counter
  alignas(64) ByPath<std::uint64_t> place;  // slot | state << 32

  // By slot.
  alignas(64) ByPath<Totals> totals;
  alignas(64) ByPath<std::uint64_t> first_action;  // where they are given
  ByPath<std::uint64_t> last_record;               // in `records`
  ByPath<State> last_state;                        // of recorded paths

  bool is_recorded = false;
  std::vector<StepRecord> records;

  // What the stages of a step hand to each other.
  alignas(64) ByBlock<std::uint64_t> explored_action, not_exploring,
      action_word, high_word, low_word, action, row_head, column, fraction, entry, next_place;
  alignas(64) ByBlock<double> reward;
};

// Runs all paths to their ends or to max_steps, with their streams. Where actions are given,
// first_action holds those of step 0. The path must not be `scalar`, which is OnePathSimulator.
void run_lockstep(SimdPath path, const LockstepTables& tables, const Behaviour& policy,
                  const StreamAddress& streams, const Horizon& horizon, bool first_actions_given,
                  Lockstep& paths);

}  // namespace hilo
