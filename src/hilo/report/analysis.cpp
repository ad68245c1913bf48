#include "hilo/report/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hilo {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kShares[] = {0.7, 0.8, 0.9, 0.95};

using Places = std::span<const std::uint32_t>;

// The values of the given seeds, in their order; empty if one of the seeds has no value.
std::vector<double> pick(const BySeed& values, const std::vector<std::uint64_t>& seeds) {
  std::vector<double> out;
  for (const std::uint64_t seed : seeds) {
    const auto found =
        std::ranges::lower_bound(values, seed, {}, [](const auto& v) { return v.first; });
    if (found == values.end() || found->first != seed) return {};
    out.push_back(found->second);
  }
  return out;
}

std::vector<double> at_places(const std::vector<double>& values, Places places) {
  std::vector<double> out;
  out.reserve(places.size());
  for (const std::uint32_t place : places) out.push_back(values[place]);
  return out;
}

// The curves of all seeds, at the episodes that all of them have.
struct Curves {
  std::vector<std::uint64_t> episodes;
  std::vector<std::vector<double>> by_episode;  // [episode][seed]

  std::vector<double> mean(Places places) const {
    std::vector<double> out;
    out.reserve(by_episode.size());
    for (const auto& values : by_episode) {
      double sum = 0;
      for (const std::uint32_t place : places) sum += values[place];
      out.push_back(sum / static_cast<double>(places.size()));
    }
    return out;
  }
};

Curves curves_of(const Results& results, const std::string& agent, const std::string& metric,
                 const std::vector<std::uint64_t>& seeds) {
  Curves curves;
  for (const std::uint64_t episode : results.episodes(agent, metric)) {
    std::vector<double> values = pick(results.at_seeds(agent, metric, episode), seeds);
    if (values.empty()) continue;
    curves.episodes.push_back(episode);
    curves.by_episode.push_back(std::move(values));
  }
  return curves;
}

// policy_value / optimal_value. Empty without exact values, or where a share means nothing because
// the optimum is not positive.
Curves share_curves(const Results& results, const std::string& agent,
                    const std::vector<std::uint64_t>& seeds) {
  const std::vector<double> optimum = pick(results.final_of(agent, "optimal_value"), seeds);
  if (optimum.empty() || *std::ranges::min_element(optimum) <= 0) return {};
  Curves curves = curves_of(results, agent, "policy_value", seeds);
  for (auto& values : curves.by_episode)
    for (std::size_t i = 0; i < values.size(); ++i) values[i] /= optimum[i];
  return curves;
}

double reach(const Curves& curves, const std::vector<double>& mean, double level) {
  return first_reach(curves.episodes, mean, level).value_or(kNever);
}

class Analyser {
 public:
  Analyser(const Results& results, Analysis& analysis)
      : results_(results),
        analysis_(analysis),
        bootstrap_(analysis.seeds.size()),
        all_(analysis.seeds.size()) {
    for (std::uint32_t i = 0; i < all_.size(); ++i) all_[i] = i;
    baseline_level_ =
        pick(results.final_of(analysis.baseline, analysis.level_metric), analysis.seeds);
    baseline_share_ = share_curves(results, analysis.baseline, analysis.seeds);
  }

  AgentAnalysis analyse(const std::string& agent) const {
    AgentAnalysis out{
        .agent = agent,
        .seeds = results_.num_seeds(agent),
        .final_reward = summarise(values_of(results_.final_of(agent, results_.reward_metric()))),
        .level = summarise(values_of(results_.final_of(agent, analysis_.level_metric))),
        .exact = {},
        .share = {},
        .advantage = {},
        .iqm = {},
        .area = {},
        .improvement = {},
        .needs = {}};
    if (results_.has_metric(agent, "policy_reward"))
      out.exact = summarise(values_of(results_.final_of(
          agent, analysis_.level_metric == "policy_value" ? "policy_value" : "policy_reward")));
    if (agent != analysis_.baseline)
      out.advantage = results_.paired_difference(agent, analysis_.baseline, analysis_.level_metric);
    if (all_.empty()) return out;

    const auto level = pick(results_.final_of(agent, analysis_.level_metric), analysis_.seeds);
    if (!level.empty()) add_levels(agent, level, out);
    add_area(agent, out);
    add_needs(agent, out);
    return out;
  }

 private:
  void add_levels(const std::string& agent, const std::vector<double>& level,
                  AgentAnalysis& out) const {
    const auto iqm = [&](Places places) { return interquartile_mean(at_places(level, places)); };
    out.iqm = {iqm(all_), bootstrap_.interval(iqm)};
    if (agent == analysis_.baseline || baseline_level_.empty()) return;
    const double share = probability_of_improvement(level, baseline_level_);
    out.improvement = {share, wilson_interval(share, level.size())};
  }

  // The area under a mean curve is the mean of the areas.
  void add_area(const std::string& agent, AgentAnalysis& out) const {
    const Curves curves = curves_of(results_, agent, results_.reward_metric(), analysis_.seeds);
    if (curves.episodes.empty()) return;
    std::vector<double> areas;
    std::vector<double> curve(curves.episodes.size());
    for (std::size_t i = 0; i < all_.size(); ++i) {
      for (std::size_t k = 0; k < curve.size(); ++k) curve[k] = curves.by_episode[k][i];
      areas.push_back(area_under_curve(curves.episodes, curve));
    }
    const auto mean = [&](Places places) {
      double sum = 0;
      for (const std::uint32_t place : places) sum += areas[place];
      return sum / static_cast<double>(places.size());
    };
    out.area = {mean(all_), bootstrap_.interval(mean)};
  }

  void add_needs(const std::string& agent, AgentAnalysis& out) const {
    const Curves curves = share_curves(results_, agent, analysis_.seeds);
    if (curves.episodes.empty() || baseline_share_.episodes.empty()) return;
    out.share = summarise(curves.by_episode.back());
    const std::size_t num_levels = analysis_.levels.size();
    out.needs.resize(num_levels);

    // The episodes that the agent and the baseline need for each level, for a selection of seeds.
    const auto both = [&](Places places) {
      const std::vector<double> ours = curves.mean(places);
      const std::vector<double> theirs = baseline_share_.mean(places);
      std::vector<std::pair<double, double>> needs;
      for (std::size_t i = 0; i < num_levels; ++i) {
        // The last level is the baseline's final level, which differs between resamples.
        const double level = i + 1 == num_levels ? theirs.back() : analysis_.levels[i].share;
        needs.emplace_back(reach(curves, ours, level), reach(baseline_share_, theirs, level));
      }
      return needs;
    };
    const Ends ends = {static_cast<double>(curves.episodes.back()),
                       static_cast<double>(baseline_share_.episodes.back())};
    const auto needs = both(all_);
    std::vector<std::vector<double>> episodes(num_levels);
    std::vector<std::vector<Saving>> savings(num_levels);
    for (std::size_t b = 0; b < bootstrap_.resamples(); ++b) {
      const auto resampled = both(bootstrap_.resample(b));
      for (std::size_t i = 0; i < num_levels; ++i) {
        episodes[i].push_back(resampled[i].first);
        savings[i].push_back(saving_of(resampled[i].first, resampled[i].second, ends));
      }
    }
    for (std::size_t i = 0; i < num_levels; ++i) {
      Need& need = out.needs[i];
      const auto [ours, theirs] = needs[i];
      need.episodes = {ours, percentile_interval(std::move(episodes[i]))};
      need.saving = saving_of(ours, theirs, ends);
      need.saving_interval = saving_interval(std::move(savings[i]));
    }
  }

  // The last episodes with exact values, of the agent and of the baseline.
  struct Ends {
    double ours, theirs;
  };

  static Saving saving_of(double ours, double theirs, const Ends& ends) {
    using Bound = Saving::Bound;
    if (ours == 0 || (ours == kNever && theirs == kNever)) return {};
    if (theirs == kNever) return {Bound::at_least, ends.theirs / ours};
    if (ours == kNever) return {Bound::at_most, theirs / ends.ours};
    return {Bound::exact, theirs / ours};
  }

  static std::optional<std::pair<Saving, Saving>> saving_interval(std::vector<Saving> savings) {
    const std::size_t all = savings.size();
    std::erase_if(savings, [](const Saving& s) { return s.bound == Saving::Bound::none; });
    if (savings.empty() ||
        static_cast<double>(all - savings.size()) > 0.025 * static_cast<double>(all))
      return std::nullopt;
    std::ranges::sort(savings, {}, &Saving::value);
    const auto last = static_cast<double>(savings.size() - 1);
    return std::pair(savings[static_cast<std::size_t>(std::floor(0.025 * last))],
                     savings[static_cast<std::size_t>(std::ceil(0.975 * last))]);
  }

  const Results& results_;
  Analysis& analysis_;
  Bootstrap bootstrap_;
  std::vector<std::uint32_t> all_;
  std::vector<double> baseline_level_;
  Curves baseline_share_;
};

// The seeds that all given agents have.
std::vector<std::uint64_t> common_seeds(const Results& results,
                                        const std::vector<std::string>& agents) {
  std::vector<std::uint64_t> common;
  for (const std::string& agent : agents) {
    const std::vector<std::uint64_t> seeds = results.seeds(agent);
    if (agent == agents.front()) {
      common = seeds;
      continue;
    }
    std::vector<std::uint64_t> both;
    std::ranges::set_intersection(common, seeds, std::back_inserter(both));
    common = std::move(both);
  }
  return common;
}

}  // namespace

const AgentAnalysis* Analysis::find(const std::string& agent) const {
  const auto found = std::ranges::find(agents, agent, &AgentAnalysis::agent);
  return found == agents.end() ? nullptr : &*found;
}

namespace {

std::vector<std::string> agents_with_results(const Results& results) {
  std::vector<std::string> agents;
  for (const std::string& agent : results.agents())
    if (results.num_seeds(agent) > 0) agents.push_back(agent);
  return agents;
}

}  // namespace

std::string level_metric_of(const Results& results) {
  const std::vector<std::string> agents = agents_with_results(results);
  const bool exact = !agents.empty() && std::ranges::all_of(agents, [&](const std::string& agent) {
    return results.has_metric(agent, "policy_reward");
  });
  if (!exact) return results.reward_metric();
  return results.is_judged_by_mean_reward() ? "policy_reward" : "policy_value";
}

Analysis analyse(const Results& results) {
  const std::vector<std::string> agents = agents_with_results(results);
  Analysis analysis{.baseline = baseline_of(results),
                    .level_metric = level_metric_of(results),
                    .reward_metric = results.reward_metric(),
                    .seeds = common_seeds(results, agents),
                    .last_episode = 0,
                    .levels = {},
                    .agents = {}};
  const Curves baseline = share_curves(results, analysis.baseline, analysis.seeds);
  if (!baseline.episodes.empty()) {
    for (const double share : kShares)
      analysis.levels.push_back({fmt::format("{:.0f} %", 100 * share), share});
    analysis.levels.push_back({fmt::format("{}'s final level", analysis.baseline),
                               summarise(baseline.by_episode.back()).mean});
    analysis.last_episode = baseline.episodes.back();
  }
  const Analyser analyser(results, analysis);
  for (const std::string& agent : agents) analysis.agents.push_back(analyser.analyse(agent));
  return analysis;
}

}  // namespace hilo
