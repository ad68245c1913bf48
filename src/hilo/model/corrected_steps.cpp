#include "hilo/model/corrected_steps.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

void wrap_row(double* row, std::size_t padded) {
  constexpr double kTurn = 2 * std::numbers::pi;
  for (std::size_t i = 0; i < padded; ++i) {
    row[i] -= kTurn * std::nearbyint(row[i] / kTurn);
    row[i] = std::clamp(row[i], -std::numbers::pi, std::numbers::pi);
  }
}

// What is not a number stays one. Where there is no bound, simulations that explode stop at the
// largest states that make sense to anyone.
void clamp_row(double* row, std::size_t padded, double low, double high) {
  constexpr double kHuge = 1e9;
  const double least = std::isfinite(low) ? low : std::min(-kHuge, high);
  const double most = std::isfinite(high) ? high : std::max(kHuge, low);
  for (std::size_t i = 0; i < padded; ++i)
    row[i] = row[i] < least ? least : row[i] > most ? most : row[i];
}

}  // namespace

void Correction::apply(const VectorSteps& cheap, const Columns& before, const Columns& actions,
                       Columns& next, StepResults& out) const {
  if (has_residual()) residual_->correct(sample_, before, actions, next, out.rewards);
  const Space& space = cheap.state_space();
  for (std::size_t d = 0; d < next.rows(); ++d) {
    if (std::ranges::binary_search(cheap.angles(), d))
      wrap_row(next.row(d), next.padded());
    else
      clamp_row(next.row(d), next.padded(), space.low()[d], space.high()[d]);
  }
  if (!takes_ends_of_cheap_) std::ranges::fill(out.done, std::uint8_t{0});
  ends_.mark(next, out.done);
}

void CorrectedSteps::step(Columns& states, const Columns& actions, std::span<const Stream> streams,
                          std::uint32_t step, StepResults& out) const {
  // One for all instances: those inside of this one see the same states.
  thread_local Columns before;
  if (correction_.has_residual()) before = states;
  cheap_->step(states, actions, streams, step, out);
  correction_.apply(*cheap_, before, actions, states, out);
}

void NoSimulator::start(const StreamAddress& streams, Columns& states) const {
  if (starts_ != nullptr) return starts_->start(streams, states);
  throw Error(Errc::usage, "without a simulator there are no start states");
}

void NoSimulator::step(Columns&, const Columns&, std::span<const Stream>, std::uint32_t,
                       StepResults& out) const {
  std::ranges::fill(out.rewards, 0.0);
  std::ranges::fill(out.done, std::uint8_t{0});
}

}  // namespace hilo
