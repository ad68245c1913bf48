#include "hilo/env/detail/lockstep.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

// Compiled once for each target. SSSE3 and AVX3_DL would add nothing.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hilo/env/detail/lockstep.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hilo/core/detail/philox-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilo::HWY_NAMESPACE {

// Takes one step of up to kBlock paths, in stages. Vector instructions do the arithmetic. Loads
// from tables are plain loops of independent loads: the CPU executes many of them at once, which
// gather instructions do not achieve where security mitigations slow them down. No stage branches
// on random data, and none selects by subtracting with borrow, which would make a path wait for the
// one before it.
class Stepper {
 public:
  Stepper(const LockstepTables& tables, const Behaviour& policy, const StreamAddress& streams,
          const Horizon& horizon, Lockstep& paths)
      : tables_(tables),
        policy_(policy),
        streams_(streams),
        horizon_(horizon),
        paths_(paths),
        keys_(streams.seed),
        explore_below_(static_cast<std::uint64_t>(std::ceil(policy.epsilon * 0x1p32))) {}

  // Inlined for each value of `recorded`. (As a template it would be compiled at the end of the
  // file, where vectors of this target are no longer known to fit into registers.)
  HWY_INLINE void run(bool first_actions_given, bool recorded) {
    Lockstep& p = paths_;
    pad(p.count);
    for (std::uint32_t t = 0; p.count > 0 && t < horizon_.max_steps;) {
      if (t == 0 && first_actions_given) {
        step_once(t++, true, recorded);
      } else if (p.count > kFew) {
        step_once(t++, false, recorded);
      } else {
        t += step_often(t, recorded);
      }
      pad(p.count);
    }
  }

 private:
  static constexpr std::size_t kFew = 24;    // up to this many paths are faster without vectors
  static constexpr std::size_t kRounds = 6;  // steps they take at once; some paths end earlier

  // Lanes beyond the last path are in state 0, and their results go to the slot kNobody.
  HWY_INLINE void pad(std::size_t from) {
    const Words d;
    for (std::size_t i = from; i < from + Lockstep::kPad; i += hn::Lanes(d)) {
      hn::StoreU(hn::Zero(d), d, &paths_.address[i]);
      hn::StoreU(hn::Set(d, Lockstep::kNobody), d, &paths_.place[i]);
    }
  }
  static std::size_t padded(std::size_t size) {
    return (size + Lockstep::kPad - 1) & ~(Lockstep::kPad - 1);
  }

  // One step of all paths.
  HWY_INLINE void step_once(std::uint32_t t, bool actions_given, bool recorded) {
    std::size_t kept = 0;
    for (std::size_t base = 0; base < paths_.count; base += Lockstep::kBlock) {
      const std::size_t size = std::min(Lockstep::kBlock, paths_.count - base);
      const std::size_t lanes = padded(size);
      draw_words(base, lanes, t, 0);
      look_up_rows(base, lanes, discount_, actions_given, recorded);
      choose_columns(lanes);
      load_entries(lanes);
      choose_outcomes(base, lanes);
      if (recorded) record_block(base, size);
      kept = advance(base, size, kept);
    }
    discount_ *= horizon_.gamma;
    paths_.count = kept;
  }

  // Takes several steps of few paths, whose random words are drawn at once. The steps need no
  // vectors: few lanes are done before vectors would have been loaded and stored. Returns the
  // number of steps.
  HWY_INLINE std::uint32_t step_often(std::uint32_t t, bool recorded) {
    const GreedyHead* HWY_RESTRICT heads = policy_.heads.data();
    const Action* HWY_RESTRICT ties = policy_.ties.data();
    const TabularMdp::Row* HWY_RESTRICT rows = tables_.rows;
    const AliasEntry<std::uint16_t>* HWY_RESTRICT alias = tables_.alias;
    const std::uint8_t* HWY_RESTRICT goes_on = tables_.goes_on;
    const std::uint64_t num_actions = tables_.num_actions;
    Lockstep& p = paths_;

    const std::size_t count = p.count;
    const std::size_t lanes = padded(count);
    const auto rounds = static_cast<std::uint32_t>(
        std::min<std::size_t>({Lockstep::kBlock / lanes, kRounds, horizon_.max_steps - t}));
    for (std::uint32_t r = 0; r < rounds; ++r) draw_words(0, lanes, t + r, r * lanes);
    for (std::uint32_t r = 0; r < rounds; ++r) {
      const Lockstep::Totals factor = {discount_, 1, 0, 0};
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t w = r * lanes + i;
        const std::uint64_t place = p.place[i];
        const std::uint64_t slot = place & 0xffffffffU;
        const std::uint64_t s = place >> 32;
        const GreedyHead head = heads[s];
        std::uint64_t a = head.first;
        if (head.count != 1) [[unlikely]]
          a = ties[s * num_actions + (p.action_word[w] * head.count >> 32)];
        a = (a & p.not_exploring[w]) | p.explored_action[w];
        const TabularMdp::Row* row = rows + (s * num_actions + a);
        const std::uint64_t size = row->size;

        const std::uint64_t scaled =
            (p.high_word[w] & 0xffffffffU) * size + ((p.low_word[w] & 0xffffffffU) * size >> 32);
        std::uint64_t entry;
        std::memcpy(&entry, alias + row->offset + (scaled >> 32), sizeof entry);
        const std::uint64_t takes_own = less_mask(scaled & 0xffffffffU, entry & 0xffffffffU);
        const std::uint64_t next = (entry >> (48 - (takes_own & 16))) & 0xffffU;

        const std::size_t is_alive = goes_on[s];
        p.totals[slot] += row->reward * factor + kSteps[is_alive];
        if (recorded && is_alive)
          record(slot, {static_cast<State>(s), static_cast<Action>(a)}, row->reward,
                 static_cast<State>(next));
        p.place[i] = next << 32 | slot;
      }
      discount_ *= horizon_.gamma;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t place = p.place[i];
      const std::uint64_t address = p.address[i];
      p.place[kept] = place;
      p.address[kept] = address;
      kept += goes_on[place >> 32];
    }
    p.count = kept;
    return rounds;
  }
  static constexpr Lockstep::Totals kOneStep = {0, 0, 1, 0};
  static constexpr std::array<Lockstep::Totals, 2> kSteps = {{{0, 0, 0, 0}, kOneStep}};

  // Draws the four random words of step t and stores them, with what the first two say about the
  // action (docs/streams.md), from index `to` on.
  HWY_INLINE void draw_words(std::size_t base, std::size_t count, std::uint32_t t, std::size_t to) {
    const Words d;
    const std::size_t lanes = hn::Lanes(d);
    const WordUse use{.explore_below = hn::Set(d, explore_below_),
                      .num_actions = hn::Set(d, tables_.num_actions),
                      .low_half = hn::Set(d, 0xffffffffU)};
    const Word position = hn::Set(d, std::uint64_t{streams_.first_step + t + 1} << 8);
    const Word episode = hn::Set(d, streams_.episode);
    std::size_t i = 0;
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      const Word first = hn::LoadU(d, &paths_.address[base + i]);
      const Word second = hn::LoadU(d, &paths_.address[base + i + lanes]);
      Counters a{position, first, hn::ShiftRight<32>(first), episode};
      Counters b{position, second, hn::ShiftRight<32>(second), episode};
      philox(keys_, a, b);
      store_words(use, a, to + i);
      store_words(use, b, to + i + lanes);
    }
    for (; i < count; i += lanes) {
      const Word last = hn::LoadU(d, &paths_.address[base + i]);
      Counters a{position, last, hn::ShiftRight<32>(last), episode};
      philox(keys_, a);
      store_words(use, a, to + i);
    }
  }

  struct WordUse {
    Word explore_below, num_actions, low_half;
  };
  HWY_INLINE void store_words(const WordUse& use, const Counters& words, std::size_t to) {
    const Words d;
    const hn::RebindToSigned<Words> s;
    const Word explores =
        hn::VecFromMask(d, hn::RebindMask(d, hn::Lt(hn::BitCast(s, hn::And(words.x0, use.low_half)),
                                                    hn::BitCast(s, use.explore_below))));
    const Word uniform = hn::ShiftRight<32>(multiply_low_halves(words.x1, use.num_actions));
    hn::Store(hn::And(uniform, explores), d, &paths_.explored_action[to]);
    hn::Store(hn::Not(explores), d, &paths_.not_exploring[to]);
    hn::Store(hn::And(words.x1, use.low_half), d, &paths_.action_word[to]);
    hn::Store(hn::And(words.x2, use.low_half), d, &paths_.high_word[to]);
    hn::Store(hn::And(words.x3, use.low_half), d, &paths_.low_word[to]);
  }

  // Looks up the action that Behaviour::choose would take, the row of (s, a), and its reward.
  HWY_INLINE void look_up_rows(std::size_t base, std::size_t lanes, double discount,
                               bool actions_given, bool recorded) {
    const GreedyHead* HWY_RESTRICT heads = policy_.heads.data();
    const Action* HWY_RESTRICT ties = policy_.ties.data();
    const TabularMdp::Row* HWY_RESTRICT rows = tables_.rows;
    const std::uint64_t num_actions = tables_.num_actions;
    const std::uint64_t* HWY_RESTRICT place = &paths_.place[base];
    const std::uint64_t* HWY_RESTRICT given = paths_.first_action.data();
    const Lockstep::Totals factor = {discount, 1, 0, 0};
    Lockstep& HWY_RESTRICT p = paths_;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::uint64_t s = place[i] >> 32;
      std::uint64_t a;
      if (actions_given) {
        a = given[place[i] & 0xffffffffU];
      } else {
        const GreedyHead head = heads[s];
        a = head.first;
        if (head.count != 1) [[unlikely]]
          a = ties[s * num_actions + (p.action_word[i] * head.count >> 32)];
        a = (a & p.not_exploring[i]) | p.explored_action[i];
      }
      const TabularMdp::Row* row = rows + (s * num_actions + a);
      std::memcpy(&p.row_head[i], row, sizeof p.row_head[i]);  // offset and size
      p.totals[place[i] & 0xffffffffU] += row->reward * factor + kOneStep;
      if (recorded) {
        p.action[i] = a;
        p.reward[i] = row->reward;
      }
    }
  }

  // draw_alias up to its load: column and fraction from bits * size / 2^32.
  HWY_INLINE void choose_columns(std::size_t lanes) {
    const Words d;
    const Word low_half = hn::Set(d, 0xffffffffU);
    for (std::size_t i = 0; i < lanes; i += hn::Lanes(d)) {
      const Word head = hn::Load(d, &paths_.row_head[i]);
      const Word size = hn::ShiftRight<32>(head);
      const Word scaled =
          hn::Add(multiply_low_halves(hn::Load(d, &paths_.high_word[i]), size),
                  hn::ShiftRight<32>(multiply_low_halves(hn::Load(d, &paths_.low_word[i]), size)));
      hn::Store(hn::Add(hn::And(head, low_half), hn::ShiftRight<32>(scaled)), d, &paths_.column[i]);
      hn::Store(hn::And(scaled, low_half), d, &paths_.fraction[i]);
    }
  }

  HWY_INLINE void load_entries(std::size_t lanes) {
    const AliasEntry<std::uint16_t>* HWY_RESTRICT alias = tables_.alias;
    Lockstep& HWY_RESTRICT p = paths_;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < lanes; ++i)
      std::memcpy(&p.entry[i], alias + p.column[i], sizeof p.entry[i]);
  }

  // Takes the column's own outcome if the fraction is below the threshold, otherwise its other one.
  HWY_INLINE void choose_outcomes(std::size_t base, std::size_t lanes) {
    const Words d;
    const hn::RebindToSigned<Words> s;
    const Word low_half = hn::Set(d, 0xffffffffU);
    const Word low_quarter = hn::Set(d, 0xffffU);
    for (std::size_t i = 0; i < lanes; i += hn::Lanes(d)) {
      const Word entry = hn::Load(d, &paths_.entry[i]);
      const auto takes_own =
          hn::RebindMask(d, hn::Lt(hn::BitCast(s, hn::Load(d, &paths_.fraction[i])),
                                   hn::BitCast(s, hn::And(entry, low_half))));
      const Word own = hn::And(hn::ShiftRight<32>(entry), low_quarter);
      const Word other = hn::ShiftRight<48>(entry);
      const Word next = hn::IfThenElse(takes_own, own, other);
      const Word slot = hn::And(hn::LoadU(d, &paths_.place[base + i]), low_half);
      hn::Store(hn::Or(hn::ShiftLeft<32>(next), slot), d, &paths_.next_place[i]);
    }
  }

  void record(std::size_t slot, StateAction taken, double reward, State next) {
    Lockstep& p = paths_;
    p.records.push_back({.taken = taken, .previous = p.last_record[slot], .reward = reward});
    p.last_record[slot] = p.records.size() - 1;
    p.last_state[slot] = next;
  }

  void record_block(std::size_t base, std::size_t size) {
    const Lockstep& p = paths_;
    for (std::size_t i = 0; i < size; ++i)
      record(p.place[base + i] & 0xffffffffU,
             {static_cast<State>(p.place[base + i] >> 32), static_cast<Action>(p.action[i])},
             p.reward[i], static_cast<State>(p.next_place[i] >> 32));
  }

  // Moves the paths that have not ended to the front. Returns their number so far.
  HWY_INLINE std::size_t advance(std::size_t base, std::size_t size, std::size_t kept) {
    const std::uint8_t* HWY_RESTRICT goes_on = tables_.goes_on;
    Lockstep& p = paths_;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t address = p.address[base + i];
      const std::uint64_t place = p.next_place[i];
      p.address[kept] = address;
      p.place[kept] = place;
      kept += goes_on[place >> 32];
    }
    return kept;
  }

  // All ones if a < b, both below 2^63.
  static HWY_INLINE std::uint64_t less_mask(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(a - b) >> 63);
  }

  const LockstepTables tables_;
  const Behaviour& policy_;
  const StreamAddress& streams_;
  const Horizon& horizon_;
  Lockstep& paths_;
  RoundKeys keys_;
  std::uint64_t explore_below_;
  double discount_ = 1;
};

void run_lockstep(const LockstepTables& tables, const Behaviour& policy,
                  const StreamAddress& streams, const Horizon& horizon, bool first_actions_given,
                  Lockstep& paths) {
  Stepper stepper(tables, policy, streams, horizon, paths);
  if (paths.is_recorded)
    stepper.run(first_actions_given, true);
  else
    stepper.run(first_actions_given, false);
}

}  // namespace hilo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hilo {

static_assert(std::endian::native == std::endian::little, "table rows are read as 64-bit numbers");

void run_lockstep(SimdPath path, const LockstepTables& tables, const Behaviour& policy,
                  const StreamAddress& streams, const Horizon& horizon, bool first_actions_given,
                  Lockstep& paths) {
  switch (path) {
#if HWY_TARGETS & HWY_AVX3
    case SimdPath::avx512:
      return N_AVX3::run_lockstep(tables, policy, streams, horizon, first_actions_given, paths);
#endif
#if HWY_TARGETS & HWY_AVX2
    case SimdPath::avx2:
      return N_AVX2::run_lockstep(tables, policy, streams, horizon, first_actions_given, paths);
#endif
#if HWY_TARGETS & HWY_SSE4
    case SimdPath::sse4:
      return N_SSE4::run_lockstep(tables, policy, streams, horizon, first_actions_given, paths);
#endif
    default:
      return HWY_STATIC_DISPATCH(run_lockstep)(tables, policy, streams, horizon,
                                               first_actions_given, paths);
  }
}

}  // namespace hilo
#endif  // HWY_ONCE
