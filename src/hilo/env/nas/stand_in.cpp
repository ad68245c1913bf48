#include "hilo/env/nas/stand_in.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "hilo/core/error.hpp"
#include "hilo/core/moments.hpp"
#include "hilo/core/parameters.hpp"
#include "hilo/core/portable_math.hpp"
#include "hilo/core/random.hpp"

namespace hilo {
namespace {

// A data set: the accuracy of random guessing, and the best accuracies of long and short training.
struct DataSet {
  std::string_view prefix;
  double chance, best_long, best_short;
  std::uint64_t noise_seed;
};
constexpr DataSet kDataSets[] = {
    {"c10", 10, 92, 85, 10}, {"c100", 1, 74, 61, 100}, {"in16", 0.83, 47, 39, 16}};
constexpr std::string_view kLong = "_valid200_s888";
constexpr std::string_view kShort = "_valid12";
constexpr double kNoise = 0.02;  // sd for long training, as a share of the range

// What an operation adds to the strength of a path: skip_connect, none, nor_conv_3x3, nor_conv_1x1,
// avg_pool_3x3.
constexpr double kStrength[] = {0.05, 0, 1, 0.6, 0.15};
// The four paths from the cell's input to its output, as lists of edges.
const std::vector<std::uint32_t> kPaths[4] = {{2}, {0, 4}, {1, 5}, {0, 3, 5}};

// How much a cell can learn: the sum of the strengths of all paths that no edge `none` cuts, plus
// 0.5 if one of these paths has only skip connections. 0 if all paths are cut.
double capacity(const NasSpace& space, Architecture a) {
  double sum = 0;
  bool through = false;
  bool unchanged = false;
  for (const auto& path : kPaths) {
    bool cut = false;
    bool skips = true;
    double strength = 0;
    for (const std::uint32_t edge : path) {
      const std::uint32_t operation = space.operation(a, edge);
      cut = cut || operation == nasbench201::kNone;
      skips = skips && operation == 0;
      strength += kStrength[operation];
    }
    if (cut) continue;
    through = true;
    unchanged = unchanged || skips;
    sum += strength;
  }
  return through ? sum + (unchanged ? 0.5 : 0) : 0;
}

// chance + (best - chance) (1 - exp(-capacity / 1.5)), plus a little noise for each architecture.
std::vector<double> long_training(const DataSet& set) {
  const NasSpace space;
  std::vector<double> out(space.size());
  for (Architecture a = 0; a < space.size(); ++a) {
    const double range = set.best_long - set.chance;
    const double c = capacity(space, a);
    const double z = Rng(Stream(set.noise_seed, Purpose::nas_stand_in, a)).normal();
    const double accuracy =
        c == 0 ? set.chance : set.chance + range * (1 - portable_exp(-c / 1.5) + kNoise * z);
    out[a] = std::clamp(accuracy, set.chance, 100.0);
  }
  return out;
}

// Long training, standardised to z and mixed with noise z': r z + sqrt(1 - r^2) z', then rescaled.
std::vector<double> short_training(const DataSet& set, double correlation) {
  std::vector<double> values = long_training(set);
  Moments moments;
  for (const double value : values) moments.add(value);
  const double sd = std::sqrt(moments.variance());
  const double scale = (set.best_short - set.chance) / (set.best_long - set.chance);
  for (Architecture a = 0; a < values.size(); ++a) {
    const double z = (values[a] - moments.mean()) / sd;
    const double noise = Rng(Stream(set.noise_seed, Purpose::nas_stand_in, a, 1)).normal();
    const double mixed = correlation * z + std::sqrt(1 - correlation * correlation) * noise;
    const double centre = set.chance + scale * (moments.mean() - set.chance);
    values[a] = std::clamp(centre + scale * sd * mixed, set.chance, 100.0);
  }
  return values;
}

}  // namespace

std::vector<std::string_view> stand_in_columns() {
  return {"c10_valid200_s888", "c10_valid12",        "c100_valid200_s888",
          "c100_valid12",      "in16_valid200_s888", "in16_valid12"};
}

Accuracies stand_in_accuracies(std::string_view column, double correlation) {
  require_within("stand_in_correlation", correlation, 0, 1);
  for (const DataSet& set : kDataSets) {
    if (column == std::string(set.prefix) + std::string(kLong))
      return std::make_shared<const std::vector<double>>(long_training(set));
    if (column == std::string(set.prefix) + std::string(kShort))
      return std::make_shared<const std::vector<double>>(short_training(set, correlation));
  }
  const auto views = stand_in_columns();
  const std::vector<std::string> known(views.begin(), views.end());
  throw Error(Errc::spec, fmt::format("the stand-in has no column '{}'{}; it has {}", column,
                                      did_you_mean(column, known), fmt::join(known, ", ")));
}

}  // namespace hilo
