#include "hilo/policy/policy_score.hpp"

#include <algorithm>

#include "hilo/core/error.hpp"
#include "hilo/core/portable_math.hpp"

namespace hilo {
namespace {

void softmax_score(const Columns& outputs, const Columns& actions, Columns& score) {
  const std::size_t choices = outputs.rows();
  std::vector<double> chances(choices);
  for (std::size_t i = 0; i < outputs.count(); ++i) {
    double largest = outputs.at(0, i);
    for (std::size_t u = 1; u < choices; ++u) largest = std::max(largest, outputs.at(u, i));
    double sum = 0;
    for (std::size_t u = 0; u < choices; ++u)
      sum += chances[u] = portable_exp(std::max(outputs.at(u, i) - largest, -700.0));
    const auto taken = static_cast<std::size_t>(actions.at(0, i));
    for (std::size_t u = 0; u < choices; ++u)
      score.at(u, i) = (u == taken ? 1.0 : 0.0) - chances[u] / sum;
  }
}

void normal_score(const Space& box, double noise, const Columns& outputs, const Columns& actions,
                  Columns& score) {
  for (std::size_t d = 0; d < outputs.rows(); ++d) {
    const double low = box.low()[d], high = box.high()[d];
    if (!(high > low)) {  // nothing to choose
      std::fill_n(score.row(d), score.count(), 0.0);
      continue;
    }
    const double inverse = 1 / (noise * (high - low) / 2);
    for (std::size_t i = 0; i < outputs.count(); ++i) {
      const double mean = outputs.at(d, i), action = actions.at(d, i);
      double z = (action - mean) * inverse;
      if (action >= high)
        z = normal_hazard((high - mean) * inverse);
      else if (action <= low)
        z = -normal_hazard((mean - low) * inverse);
      score.at(d, i) = z * inverse;
    }
  }
}

}  // namespace

void policy_score(const NetworkShape& shape, double noise, const Columns& outputs,
                  const Columns& actions, Columns& score) {
  const bool is_discrete = shape.actions.is_discrete();
  if (outputs.rows() != shape.num_outputs() || score.rows() != outputs.rows() ||
      score.count() != outputs.count() || actions.count() != outputs.count() ||
      actions.rows() != (is_discrete ? 1 : outputs.rows()))
    throw Error(Errc::usage, "outputs, actions and scores of a policy do not fit each other");
  if (is_discrete) return softmax_score(outputs, actions, score);
  if (!(noise > 0)) throw Error(Errc::usage, "a policy without noise has no score");
  normal_score(shape.actions, noise, outputs, actions, score);
}

}  // namespace hilo
