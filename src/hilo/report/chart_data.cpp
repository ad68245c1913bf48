#include "hilo/report/chart_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "hilo/report/analysis.hpp"
#include "hilo/report/colours.hpp"
#include "hilo/report/published.hpp"

namespace hilo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxPoints = 400;  // of a curve; more would not be visible

const std::vector<ChartSpec>& all_charts() {
  static const std::vector<ChartSpec> kCharts = {
      {.title = "Learning curves",
       .note = "Mean over seeds. Circles, where there are any, are published means.",
       .small = false,
       .metrics =
           {{"test_reward", "Mean reward per step, test episodes", "mean reward per step",
             "optimal_reward",
             "mean reward per step of a policy that is optimal for the discounted return, exact"},
            {"policy_reward", "Mean reward per step, exact", "mean reward per step",
             "optimal_reward",
             "mean reward per step of a policy that is optimal for the discounted return, exact"},
            {"test_return", "Discounted return, test episodes", "discounted return",
             "optimal_value", "optimal discounted value, exact"},
            {"policy_value", "Discounted value, exact", "discounted value", "optimal_value",
             "optimal discounted value, exact"},
            {"train_reward", "Mean reward per step, training episodes", "mean reward per step", "",
             ""},
            {"train_return", "Discounted return, training episodes", "discounted return", "", ""}}},
      {.title = "What the search found",
       .note =
           "The highest high-fidelity accuracy among the architectures trained so far, mean over "
           "seeds. Random search and regularised evolution train as many distinct "
           "architectures as the baseline, without learning a policy.",
       .small = false,
       .metrics = {{"best_accuracy", "Best accuracy over architectures trained", "accuracy, %", "",
                    "", "architectures_high", "distinct architectures trained, high fidelity"},
                   {"best_accuracy", "Best accuracy over training epochs", "accuracy, %", "", "",
                    "training_epochs", "training epochs of both fidelities"},
                   {"best_accuracy", "Best accuracy over episodes", "accuracy, %", "", ""}}},
      {.title = "What the low-fidelity returns tell",
       .note = "The correlation ρ between high- and low-fidelity returns of a pair of state and "
               "action, as the estimator sees it along the same paths: mean over the pairs updated "
               "since the last test that have at least two returns. With so few returns it is "
               "close to ±1 by chance, so the start of the curve says little. The variance ratio "
               "is the mean of 1 − ρ², 1 where no correction was made.",
       .small = true,
       .learning = false,
       .metrics = {{"correlation", "Correlation ρ", "correlation", "", ""},
                   {"variance_ratio", "Variance ratio 1 − ρ²", "variance ratio", "", ""}}},
      {.title = "How often the greedy action is an optimal one",
       .note =
           "Over all non-terminal states alike, visited or not; ties of the greedy action count "
           "by their share.",
       .small = true,
       .metrics = {{"optimal_actions", "Share of states whose greedy action is optimal, exact",
                    "share of states", "", ""}}},
  };
  return kCharts;
}

// Rounded to five digits: enough to draw, and short in JSON.
Json shortened(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr);
}

// Every k-th of the episodes that all seeds have, including the first and the last.
std::vector<std::uint64_t> thinned(const Results& results, const std::string& agent,
                                   const std::string& metric) {
  const std::vector<std::uint64_t> episodes = results.common_episodes(agent, metric);
  const std::size_t stride = (episodes.size() + kMaxPoints - 1) / kMaxPoints;
  if (stride <= 1) return episodes;
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < episodes.size(); i += stride) out.push_back(episodes[i]);
  if (out.back() != episodes.back()) out.push_back(episodes.back());
  return out;
}

Json curve_of(const Results& results, const std::string& agent, std::size_t index,
              const std::string& metric, const std::vector<std::uint64_t>& episodes) {
  Json mean = Json::array();
  Json half = Json::array();
  Json sd = Json::array();
  for (const std::uint64_t episode : episodes) {
    const Summary s = results.at(agent, metric, episode);
    mean.push_back(shortened(s.mean));
    half.push_back(s.n < 2 ? Json(nullptr) : shortened(s.high - s.mean));
    sd.push_back(s.n < 2 ? Json(nullptr) : shortened(s.sd));
  }
  return {{"agent", index}, {"mean", mean}, {"half", half}, {"sd", sd}};
}

// Searches without learning. Their curves are taken from the runs of the baseline.
struct Reference {
  const char* label;
  const char* metric;
};
constexpr Reference kReferences[] = {{"random search", "random_search_best"},
                                     {"regularised evolution", "evolution_best"}};

// The curve of a metric over the mean of x_metric, or over episodes if x_metric is empty.
Json curve_over(const Results& results, const std::string& agent, std::size_t index,
                const std::string& metric, const std::string& x_metric) {
  const auto episodes = thinned(results, agent, metric);
  Json curve = curve_of(results, agent, index, metric, episodes);
  if (x_metric.empty()) return curve;
  // The reference searches use no low fidelity, so that all their epochs are high-fidelity ones.
  const bool reference = index >= results.agents().size();
  const bool own_epochs = reference && x_metric == "training_epochs";
  const double epochs =
      own_epochs ? results.configuration_of(agent).number("problem.high_epochs") : 1;
  Json x = Json::array();
  for (const std::uint64_t episode : episodes)
    x.push_back(std::round(
        epochs * results.at(agent, own_epochs ? "architectures_high" : x_metric, episode).mean));
  curve["x"] = std::move(x);
  return curve;
}

Json marks_of(const Results& results, const std::vector<Comparison>& comparisons,
              const std::string& metric) {
  Json marks = Json::array();
  for (const Comparison& c : comparisons) {
    const PublishedPoint& p = c.published;
    if (p.metric != metric || p.statistic != Statistic::mean) continue;
    const auto agent = std::ranges::find(results.agents(), p.agent);
    marks.push_back({{"agent", agent - results.agents().begin()},
                     {"x", p.episode},
                     {"y", p.value},
                     {"sd", p.sd}});
  }
  return marks;
}

Json metric_of(const Results& results, const std::vector<Comparison>& comparisons,
               const ChartMetric& chart) {
  Json out = {{"id", chart.metric}, {"name", chart.name}, {"axis", chart.axis}};
  Json curves = Json::array();
  std::vector<std::uint64_t> common;
  for (std::size_t i = 0; i < results.agents().size(); ++i) {
    const std::string& agent = results.agents()[i];
    // The variance ratio of an agent without a cheap simulator is always 1.
    if (chart.metric == "variance_ratio" && !results.has_metric(agent, "correlation")) continue;
    const auto episodes = thinned(results, agent, chart.metric);
    if (episodes.empty()) continue;
    if (common.empty()) common = episodes;
    curves.push_back(curve_over(results, agent, i, chart.metric, chart.x_metric));
    if (chart.x_metric.empty() && episodes != common) curves.back()["x"] = episodes;
  }
  if (chart.metric == "best_accuracy")
    for (std::size_t i = 0; i < std::size(kReferences); ++i)
      if (const std::string baseline = baseline_of(results);
          results.has_metric(baseline, kReferences[i].metric))
        curves.push_back(curve_over(results, baseline, results.agents().size() + i,
                                    kReferences[i].metric, chart.x_metric));
  if (!chart.x_axis.empty()) out["xaxis"] = chart.x_axis;
  out["x"] = common;
  out["curves"] = std::move(curves);
  if (const auto level = mean_of_problem(results, chart.level_metric))
    out["level"] = {{"value", shortened(*level)}, {"label", chart.level_name}};
  Json marks = marks_of(results, comparisons, chart.metric);
  if (!marks.empty()) out["marks"] = std::move(marks);
  return out;
}

}  // namespace

std::vector<ChartSpec> charts_of(const Results& results, bool with_learning) {
  std::vector<ChartSpec> out;
  for (const ChartSpec& chart : all_charts()) {
    ChartSpec filled = chart;
    std::erase_if(filled.metrics, [&](const ChartMetric& m) {
      // Without correlations no agent lowers the variance ratio, so it is not shown.
      return !results.has_metric(m.metric == "variance_ratio" ? "correlation" : m.metric);
    });
    // The chart first shows the metric that findings and tables use.
    if (results.is_of_user())
      std::ranges::stable_partition(filled.metrics, [&](const ChartMetric& m) {
        return m.metric == level_metric_of(results);
      });
    if (!filled.metrics.empty() && (with_learning || !chart.learning))
      out.push_back(std::move(filled));
  }
  return out;
}

std::string chart_data(const Results& results, const std::vector<ChartSpec>& charts) {
  const auto comparisons = compare_with_published(results);
  const AgentColours colours(results);
  Json agents = Json::array();
  for (const std::string& agent : results.agents())
    agents.push_back(
        {{"label", agent}, {"colour", colours.place(agent)}, {"dashed", colours.is_dashed(agent)}});
  if (results.has_metric("best_accuracy")) {
    std::size_t colour = colours.first_free();
    for (const Reference& reference : kReferences)
      agents.push_back({{"label", reference.label}, {"colour", colour++}, {"dashed", true}});
  }
  Json filled = Json::array();
  for (const ChartSpec& chart : charts) {
    Json metrics = Json::array();
    for (const ChartMetric& metric : chart.metrics)
      metrics.push_back(metric_of(results, comparisons, metric));
    filled.push_back({{"title", chart.title}, {"metrics", metrics}});
  }
  Json out = {{"name", results.experiment()},
              {"standIn", results.is_stand_in()},
              {"agents", agents},
              {"charts", filled}};
  if (results.has_vectors()) out["beforeFirst"] = kBeforeFirst;
  // Text from a store must not be able to close the script element that contains it.
  std::string text;
  for (const char c : out.dump(-1, ' ', false, Json::error_handler_t::replace))
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

}  // namespace hilo
