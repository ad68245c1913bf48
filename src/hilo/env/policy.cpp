#include "hilo/env/policy.hpp"

#include "hilo/core/error.hpp"

namespace hilo {

void Policy::act_columns(const Columns& observations, std::span<const ActionWords> words,
                         Columns& actions) const {
  Points seen(observations_), chosen(actions_);
  std::vector<double> point(observations.rows());
  for (std::size_t i = 0; i < observations.count(); ++i) {
    observations.get(i, point);
    if (observations_.is_discrete())
      seen.push_back(static_cast<std::uint64_t>(point[0]));
    else
      seen.push_back(std::span<const double>(point));
  }
  act(seen, words, chosen);
  if (chosen.size() != observations.count())
    throw Error(Errc::usage, "a policy must give one action for each observation");
  for (std::size_t i = 0; i < observations.count(); ++i) {
    if (actions_.is_discrete())
      actions.at(0, i) = static_cast<double>(chosen[i].index());
    else
      actions.set(i, chosen[i].coordinates());
  }
}

}  // namespace hilo
