#include "hilo/env/inverse_cdf.hpp"

#include <algorithm>

namespace hilo {
namespace {

// Uniform on [0, 1) in steps of 2^-53.
double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// The first column whose cumulated probability exceeds u; the last one if rounding leaves none.
std::size_t column_of(std::span<const double> cumulative, double u) {
  const auto found = std::upper_bound(cumulative.begin(), cumulative.end() - 1, u);
  return static_cast<std::size_t>(found - cumulative.begin());
}

}  // namespace

InverseCdfSampler::InverseCdfSampler(std::shared_ptr<const TabularMdp> mdp)
    : mdp_(std::move(mdp)), cumulative_(mdp_->probabilities_.size()) {
  for (const TabularMdp::Row& row : mdp_->rows_) {
    double sum = 0;
    for (std::size_t i = row.offset; i < row.offset + row.size; ++i)
      cumulative_[i] = sum += mdp_->probabilities_[i];
  }
  double sum = 0;
  for (const StartProbability& start : mdp_->start_)
    start_cumulative_.push_back(sum += start.probability);
}

State InverseCdfSampler::reset(Rng& rng) const {
  return mdp_->start_[column_of(start_cumulative_, unit(rng.u64()))].state;
}

Step InverseCdfSampler::step(State s, Action a, Rng& rng) const {
  const TabularMdp::Row& row = mdp_->row(s, a);
  const auto cumulative = std::span(cumulative_).subspan(row.offset, row.size);
  const std::size_t i = row.offset + column_of(cumulative, unit(rng.u64()));
  const State next = mdp_->successor(i);
  return {.next = next,
          .reward = mdp_->rewards_depend_on_next() ? mdp_->transition_rewards_[i] : row.reward,
          .done = mdp_->is_terminal(next)};
}

}  // namespace hilo
