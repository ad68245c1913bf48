#include "hilo/env/vector_fidelities.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hilo/core/error.hpp"

namespace hilo {

VectorFidelities::VectorFidelities(std::shared_ptr<const VectorSimulator> high,
                                   std::shared_ptr<const VectorSteps> low)
    : high_(std::move(high)), low_(std::move(low)) {
  if (high_ == nullptr) throw Error(Errc::usage, "a problem needs an expensive simulator");
  if (low_ == nullptr) return;
  if (low_->state_space() != high_->observation_space() ||
      low_->control_space() != high_->action_space())
    throw Error(
        Errc::usage,
        fmt::format("the cheap simulator has states {} and actions {}, but the expensive one "
                    "{} and {}: they must be the same",
                    low_->state_space().describe(), low_->control_space().describe(),
                    high_->observation_space().describe(), high_->action_space().describe()));
  if (!high_->angles().empty() && !std::ranges::equal(high_->angles(), low_->angles()))
    throw Error(Errc::usage,
                fmt::format("the angles of the cheap simulator are the coordinates [{}], but those "
                            "of the expensive one [{}]: they must be the same",
                            fmt::join(low_->angles(), ", "), fmt::join(high_->angles(), ", ")));
}

std::vector<std::size_t> VectorFidelities::angles() const {
  const std::span<const std::size_t> of_low =
      low_ != nullptr ? low_->angles() : std::span<const std::size_t>();
  const std::span<const std::size_t> used = of_low.empty() ? high_->angles() : of_low;
  return {used.begin(), used.end()};
}

bool VectorFidelities::draw_starts(const StreamAddress& streams, Columns& states) const {
  if (high_->draw_starts(streams, states)) return true;
  if (low_ == nullptr) return false;
  low_->start(streams, states);
  return true;
}

}  // namespace hilo
