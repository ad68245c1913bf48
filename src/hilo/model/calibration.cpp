#include "hilo/model/calibration.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "hilo/core/cma.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/portable_math.hpp"

namespace hilo {
namespace {

constexpr std::size_t kMostSteps = 600;  // that are looked at
constexpr std::size_t kMostTuned = 4;
constexpr std::size_t kPopulation = 10;
constexpr std::uint32_t kGenerations = 40;
constexpr double kLeftOut = 0.05;     // of the errors of a coordinate, the largest
constexpr double kLeastError = 1e-7;  // of a coordinate's own steps: rounding, and the like
constexpr double kLeastStep = 1e-6, kMostStep = 0.2;  // parts of a range, for differences

// The log likelihood as a function of where the values lie in their ranges, from 0 to 1.
class Fit {
 public:
  // Noise of the simulator is that of `noise`, roll-outs 0, 1, ...: the same for all values.
  Fit(const VectorSteps& cheap, const std::vector<TuneRange>& ranges, const SeenSteps& seen,
      const StreamAddress& noise, std::uint64_t& steps)
      : cheap_(cheap), ranges_(ranges), names_(names_of(ranges)), steps_(steps) {
    const std::size_t all = seen.before.count(), count = std::min(all, kMostSteps);
    before_.resize(seen.before.rows(), count);
    actions_.resize(seen.actions.rows(), count);
    after_.resize(seen.after.rows(), count);
    std::vector<double> point(seen.before.rows()), action(seen.actions.rows());
    for (std::size_t i = 0; i < count; ++i) {
      seen.before.get(i * all / count, point);
      before_.set(i, point);
      seen.after.get(i * all / count, point);
      after_.set(i, point);
      seen.actions.get(i * all / count, action);
      actions_.set(i, action);
    }
    for (std::uint32_t i = 0; i < count; ++i) streams_.push_back(noise.stream(0, i));
    for (std::size_t d = 0; d < before_.rows(); ++d) {
      double squares = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const double step = apart(d, after_.at(d, i), before_.at(d, i));
        squares += step * step;
      }
      least_.push_back(kLeastError * kLeastError * squares / static_cast<double>(count));
    }
  }

  std::vector<double> values_at(std::span<const double> place) const {
    std::vector<double> out;
    for (std::size_t k = 0; k < ranges_.size(); ++k)
      out.push_back(ranges_[k].low +
                    (ranges_[k].high - ranges_[k].low) * std::clamp(place[k], 0.0, 1.0));
    return out;
  }

  double operator()(std::span<const double> place) const {
    const auto simulator = cheap_.tuned(names_, values_at(place));
    Columns states = before_;
    StepResults results;
    results.resize(states.padded());
    simulator->step(states, actions_, streams_, 1, results);
    steps_ += states.count();
    double sum = 0;
    std::vector<double> squares;
    for (std::size_t d = 0; d < states.rows(); ++d) {
      squares.clear();
      const double low = cheap_.state_space().low()[d], high = cheap_.state_space().high()[d];
      for (std::size_t i = 0; i < states.count(); ++i) {
        const double seen = after_.at(d, i);
        if (!is_angle(d) && (seen <= low || seen >= high)) continue;
        const double error = apart(d, seen, states.at(d, i));
        squares.push_back(std::isfinite(error) ? error * error : 1e300);
      }
      const auto kept =
          static_cast<std::size_t>((1 - kLeftOut) * static_cast<double>(squares.size()));
      if (kept == 0) continue;
      std::ranges::sort(squares);
      double total = 0;
      for (std::size_t i = 0; i < kept; ++i) total += squares[i];
      const auto n = static_cast<double>(kept);
      sum -= 0.5 * n * portable_log(std::max(total / n, 1e-300) + least_[d]);
    }
    return sum;
  }

 private:
  bool is_angle(std::size_t d) const { return std::ranges::binary_search(cheap_.angles(), d); }
  double apart(std::size_t d, double a, double b) const {
    const double difference = a - b;
    if (!is_angle(d)) return difference;
    return difference - 2 * std::numbers::pi * std::nearbyint(difference / (2 * std::numbers::pi));
  }

  const VectorSteps& cheap_;
  const std::vector<TuneRange>& ranges_;
  std::vector<std::string> names_;
  std::uint64_t& steps_;
  Columns before_, actions_, after_;
  std::vector<Stream> streams_;
  std::vector<double> least_;  // squared errors that are none
};

// How far a place can be moved along one axis until the log likelihood has fallen by about one. It
// is not smooth on smaller scales, because errors enter and leave those that are left out.
double reach(const Fit& fit, const std::vector<double>& best, std::size_t axis, double top) {
  constexpr double kDrop = 1;
  const double most = std::min({kMostStep, best[axis], 1 - best[axis]});
  double step = kLeastStep;
  for (; step < most; step *= 2) {
    double lost = 0;
    for (const double sign : {-1.0, 1.0}) {
      std::vector<double> place = best;
      place[axis] += sign * step;
      lost += (top - fit(place)) / 2;
    }
    if (lost >= kDrop) break;
  }
  return std::min(step, most);
}

// Standard deviations in units of the ranges, from the curvature at the best place. Those that are
// not determined have the deviation of a uniform distribution.
std::vector<double> deviations_at(const Fit& fit, std::vector<double> best) {
  const auto n = static_cast<Eigen::Index>(best.size());
  // At the end of a range, the curvature is that of a place a little inside.
  constexpr double kInside = 1e-3;
  for (double& x : best) x = std::clamp(x, kInside, 1 - kInside);
  const double top = fit(best);
  std::vector<double> steps;
  for (std::size_t k = 0; k < best.size(); ++k) steps.push_back(reach(fit, best, k, top));
  Eigen::MatrixXd curvature(n, n);
  const auto moved = [&](Eigen::Index i, double a, Eigen::Index j, double b) {
    std::vector<double> place = best;
    place[static_cast<std::size_t>(i)] += a * steps[static_cast<std::size_t>(i)];
    place[static_cast<std::size_t>(j)] += b * steps[static_cast<std::size_t>(j)];
    return fit(place);
  };
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j <= i; ++j) {
      const double area = steps[static_cast<std::size_t>(i)] * steps[static_cast<std::size_t>(j)];
      curvature(i, j) = curvature(j, i) =
          i == j ? (2 * top - moved(i, 1, i, 0) - moved(i, -1, i, 0)) / area
                 : -(moved(i, 1, j, 1) - moved(i, 1, j, -1) - moved(i, -1, j, 1) +
                     moved(i, -1, j, -1)) /
                       (4 * area);
    }
  const double uniform = 1 / std::sqrt(12.0);
  for (Eigen::Index i = 0; i < n; ++i)
    curvature(i, i) = std::max(curvature(i, i), 0.0) + 1 / (uniform * uniform);
  const Eigen::LLT<Eigen::MatrixXd> llt(curvature);
  std::vector<double> out(best.size(), uniform);
  for (Eigen::Index i = 0; i < n; ++i) {
    double& deviation = out[static_cast<std::size_t>(i)];
    if (llt.info() != Eigen::Success)  // not a maximum in all directions
      deviation = 1 / std::sqrt(curvature(i, i));
    else
      deviation = std::min(uniform, std::sqrt(llt.solve(Eigen::VectorXd::Unit(n, i))[i]));
  }
  return out;
}

}  // namespace

std::vector<TuneRange> parse_tune(std::string_view text) {
  const auto wrong = [whole = text] {
    return Error(Errc::spec,
                 fmt::format("tune is \"{}\", but must be a table such as {{mass = [0.5, 2]}} with "
                             "at most {} numbers, each with the ends of its range",
                             whole, kMostTuned));
  };
  std::vector<TuneRange> out;
  if (text == "none") return out;
  if (text.ends_with(',')) throw wrong();
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (part.starts_with(' ')) part.remove_prefix(1);
    TuneRange range;
    const std::size_t space = part.find(' ');
    if (space == std::string_view::npos || space == 0) throw wrong();
    range.name = part.substr(0, space);
    const char* end = part.data() + part.size();
    const auto low = std::from_chars(part.data() + space + 1, end, range.low);
    if (low.ec != std::errc() || low.ptr == end || *low.ptr != ' ') throw wrong();
    const auto high = std::from_chars(low.ptr + 1, end, range.high);
    if (high.ec != std::errc() || high.ptr != end || !(range.low < range.high) ||
        !std::isfinite(range.low) || !std::isfinite(range.high))
      throw wrong();
    if (std::ranges::find(out, range.name, &TuneRange::name) != out.end()) throw wrong();
    out.push_back(std::move(range));
  }
  if (out.empty() || out.size() > kMostTuned) throw wrong();
  return out;
}

std::vector<std::string> names_of(const std::vector<TuneRange>& ranges) {
  std::vector<std::string> out;
  for (const TuneRange& range : ranges) out.push_back(range.name);
  return out;
}

Calibration calibrate(const VectorSteps& cheap, const std::vector<TuneRange>& ranges,
                      const SeenSteps& seen, std::span<const double> start, std::uint64_t seed,
                      std::uint32_t episode, std::uint32_t pair, std::uint64_t& steps) {
  const Fit fit(
      cheap, ranges, seen,
      {.seed = seed, .purpose = Purpose::low_rollout, .episode = episode, .first_pair = pair},
      steps);
  std::vector<double> place;
  for (std::size_t k = 0; k < ranges.size(); ++k)
    place.push_back(
        std::clamp((start[k] - ranges[k].low) / (ranges[k].high - ranges[k].low), 0.0, 1.0));
  Cma cma(place, {.sigma = episode <= 1 ? 0.3 : 0.1, .population = kPopulation}, seed, episode,
          pair);
  std::vector<double> losses(kPopulation);
  for (std::uint32_t g = 0; g < kGenerations && !cma.is_exhausted(); ++g) {
    const Columns& candidates = cma.ask();
    for (std::size_t i = 0; i < kPopulation; ++i) {
      candidates.get(i, place);
      // Beyond its range a value counts as that of the end, and a little worse.
      double beyond = 0;
      for (const double x : place) {
        const double outside = x - std::clamp(x, 0.0, 1.0);
        beyond += outside * outside;
      }
      losses[i] = -fit(place) + 100 * beyond;
    }
    cma.tell(losses);
  }
  place = cma.best();
  for (double& x : place) x = std::clamp(x, 0.0, 1.0);
  Calibration out{.values = fit.values_at(place), .deviations = deviations_at(fit, place)};
  for (std::size_t k = 0; k < ranges.size(); ++k)
    out.deviations[k] *= ranges[k].high - ranges[k].low;
  return out;
}

}  // namespace hilo
