#pragma once

#include "hilo/agent/temporal_difference.hpp"
#include "hilo/env/fidelities.hpp"

namespace hilo {

// How long to learn in the low fidelity before the first high-fidelity episode.
struct LowLearning {
  std::uint64_t low_steps = 10'000'000;  // at least this many, in whole episodes
  std::uint32_t max_steps = 10'000;      // of an episode
};

void validate(const LowLearning& learning);

// Q-learning on episodes of the low fidelity from its own start distribution, with the streams
// Purpose::preparation of the seed. Adds the steps and truncated episodes to the report.
TdValues learn_in_low_fidelity(const Simulator& low, const TdOptions& options,
                               const LowLearning& learning, std::uint64_t seed,
                               LearnReport& report);

// The common part of agents that start from values learnt in the low fidelity:
//   Q(s, a) = Q_lo(T(s), a),  as if updated prior_count times if (T(s), a) was updated there.
class LowTaughtAgent : public TdAgent {
 public:
  LearnReport prepare() override;

 protected:
  LowTaughtAgent(Fidelities pair, const TdOptions& options, const LowLearning& learning,
                 double prior_count, std::uint64_t seed);

  std::vector<std::byte> write(std::string_view tag, std::uint32_t version) const;
  void read(std::span<const std::byte> bytes, std::string_view tag, std::uint32_t version);

 private:
  Fidelities pair_;
  LowLearning learning_;
  double prior_count_;
  std::uint64_t seed_;
  bool prepared_ = false;
};

}  // namespace hilo
