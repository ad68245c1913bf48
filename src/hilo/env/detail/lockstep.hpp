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
// memory the others go on. Paths that have ended are removed after every step, or after every few
// steps once few paths are left. This is the work space; a run of paths is
//
//   clear(), add() for each path, run_lockstep(), and then reading the results by slot.
//
// The stages compute with 64-bit numbers, so that all vectors have the same number of lanes.
class Lockstep {
 public:
  static constexpr std::size_t kMaxPaths = 512;
  static constexpr std::size_t kBlock = 64;  // paths whose step is taken stage by stage
  static constexpr std::size_t kPad = 8;     // stages work on multiples of this many paths

  static constexpr std::uint64_t kNobody = kMaxPaths;  // a slot for results that are discarded

  void clear(bool recorded) {
    count = 0;
    is_recorded = recorded;
    records.clear();
    first_action[kNobody] = 0;
  }

  // Adds a path, whose results are stored under its slot. Slots are below kMaxPaths.
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

  // A step of a recorded path. Steps are stored in no particular order and linked backwards.
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

  // Sums of a path so far: discounted return, sum of rewards, number of steps, and an unused
  // number. The four are loaded, added to and stored as one vector.
  typedef double Totals __attribute__((vector_size(32)));

  // Number of paths under way; after the run, number of paths that were cut.
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

  // Values that the stages of a step pass to each other.
  alignas(64) ByBlock<std::uint64_t> explored_action, not_exploring,
      action_word, high_word, low_word, action, row_head, column, fraction, entry, next_place;
  alignas(64) ByBlock<double> reward;
};

// Runs all paths, each with its stream, to their ends or to max_steps. If first_actions_given, the
// actions of step 0 are taken from first_action. `path` selects the instructions and must not be
// `scalar`, which OnePathSimulator implements.
void run_lockstep(SimdPath path, const LockstepTables& tables, const Behaviour& policy,
                  const StreamAddress& streams, const Horizon& horizon, bool first_actions_given,
                  Lockstep& paths);

}  // namespace hilo
