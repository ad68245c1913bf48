#pragma once

#include <Random123/philox.h>

#include <array>
#include <cstdint>
#include <random>

#include "hilo/core/error.hpp"
#include "hilo/core/portable_math.hpp"

namespace hilo {

// Random numbers are a function, not a state: Philox4x32-10 (Salmon et al., SC 2011) maps a key
// and a counter to a block of four 32-bit words. The key is the seed. The counter says what the
// block is for; docs/streams.md publishes this layout, and no run, thread or clock enters it:
//
//   word 0   step (24 bits) | block within the step (8 bits)
//   word 1   roll-out (32 bits)
//   word 2   pair (24 bits) | purpose (8 bits)
//   word 3   episode (32 bits)
enum class Purpose : std::uint8_t {
  high_episode = 1,  // episodes in the high fidelity; equal for all agents
  low_rollout = 2,   // roll-outs in the low fidelity
  test = 3,          // test episodes in the high fidelity; equal for all agents
  uncoupled = 4,     // independent low-fidelity roll-outs in place of coupled ones
  preparation = 5,   // low-fidelity work before the first episode
  choice = 6,        // random choices of an agent other than its actions
  evaluation = 7,    // episodes that evaluate a policy, in all fidelities; equal for all policies
  evaluation_free = 8,  // further ones in the low fidelities alone
  search = 9,           // policy search: candidates, scenarios and samples of models

  // Problem generation: "episode" is the row s * num_actions + a, and word 0 counts blocks.
  problem_mask = 16,
  problem_weight = 17,
  problem_reward = 18,
  problem_transition_noise = 19,
  problem_reward_noise = 20,
  problem_actions = 21,  // the order of actions: word 0 counts blocks

  nas_stand_in = 24,  // made-up accuracies: "episode" is the architecture
  nas_search = 25,    // searches to compare with: "episode" 0 random, 1 evolution

  bootstrap = 32,  // intervals in reports: "episode" is the resample

  user = 255,  // free for programs that use the library
};

inline constexpr std::uint32_t kMaxSteps = (1U << 24) - 2;  // step 0 is the reset
inline constexpr std::uint32_t kMaxPairs = 1U << 24;        // distinct pairs of one episode

using Block = std::array<std::uint32_t, 4>;

// All blocks that belong to one episode or one roll-out, addressed by step.
class Stream {
 public:
  Stream(std::uint64_t seed, Purpose purpose, std::uint32_t episode = 0, std::uint32_t pair = 0,
         std::uint32_t rollout = 0)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        rollout_(rollout),
        pair_and_purpose_(pair << 8 | static_cast<std::uint32_t>(purpose)),
        episode_(episode) {}

  // The key, and words 1 to 3 of the counter.
  std::uint64_t seed() const { return std::uint64_t{key_[1]} << 32 | key_[0]; }
  std::uint32_t rollout() const { return rollout_; }
  std::uint32_t pair_and_purpose() const { return pair_and_purpose_; }
  std::uint32_t episode() const { return episode_; }

  // `position` is word 0 of the counter.
  Block block(std::uint32_t position) const {
    const r123::Philox4x32::ctr_type counter = {{position, rollout_, pair_and_purpose_, episode_}};
    const r123::Philox4x32::key_type key = {{key_[0], key_[1]}};
    const auto out = r123::Philox4x32()(counter, key);
    return {out.v[0], out.v[1], out.v[2], out.v[3]};
  }

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint32_t rollout_;
  std::uint32_t pair_and_purpose_;
  std::uint32_t episode_;
};

// floor(bits * n / 2^32): a number below n from 32 random bits.
inline std::uint32_t scale_below(std::uint32_t bits, std::uint32_t n) {
  return static_cast<std::uint32_t>(std::uint64_t{bits} * n >> 32);
}

// The words of a stream, one after the other: from the blocks of one step (a simulator draws from
// this), or from the whole stream. It meets the standard library's requirements of a uniform random
// bit generator, so that std::poisson_distribution, std::shuffle and others accept it. What they
// draw differs between standard libraries, while the functions below draw the same everywhere.
class Rng {
 public:
  using result_type = std::uint32_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return 0xffffffffU; }
  result_type operator()() { return u32(); }

  // The words of step `step`: at most 256 blocks of four.
  static Rng of_step(const Stream& stream, std::uint32_t step) {
    return Rng(stream, step << 8, (step << 8) + 255);
  }

  explicit Rng(const Stream& stream) : Rng(stream, 0, 0xffffffffU) {}

  std::uint32_t u32() {
    if (used_ == block_.size()) refill();
    return block_[used_++];
  }

  std::uint64_t u64() {
    const std::uint64_t high = u32();
    return high << 32 | u32();
  }

  // Uniform on the open interval (0, 1), in steps of 2^-32.
  double uniform() { return (static_cast<double>(u32()) + 0.5) * 0x1p-32; }

  // Uniform on 0, ..., n - 1.
  std::uint32_t below(std::uint32_t n) { return scale_below(u32(), n); }

  // Standard normal.
  double normal() { return normal_quantile(uniform()); }

 private:
  Rng(const Stream& stream, std::uint32_t first, std::uint32_t last)
      : stream_(stream), block_(stream.block(first)), position_(first), last_(last) {}

  void refill() {
    if (position_ == last_)
      throw Error(Errc::simulator,
                  "a stream is used up: a step of a simulator may draw 1024 random words");
    block_ = stream_.block(++position_);
    used_ = 0;
  }

  Stream stream_;
  Block block_;
  std::uint32_t position_;
  std::uint32_t last_;
  std::uint32_t used_ = 0;
};

static_assert(std::uniform_random_bit_generator<Rng>);

}  // namespace hilo
