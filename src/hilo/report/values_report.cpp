#include "hilo/report/values_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "hilo/agent/catalogue.hpp"
#include "hilo/report/html.hpp"

namespace hilo {
namespace {

constexpr std::size_t kMostAgents = 6;    // with a picture
constexpr std::size_t kMostActions = 16;  // in a picture
constexpr double kNormal95 = 1.959964;
constexpr std::size_t kMostStates = 5000;  // sampled for the mean probability

double normal_below(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

struct RowView {
  std::span<const double> q, errors;
};

RowView row_of(const StoredPolicy& p, std::uint64_t s) {
  return {std::span(p.q).subspan(s * p.num_actions, p.num_actions),
          std::span(p.standard_errors).subspan(s * p.num_actions, p.num_actions)};
}

bool all_known(const RowView& row) {
  return std::ranges::all_of(row.errors, [](double e) { return std::isfinite(e) && e > 0; });
}

std::optional<StoredPolicy> policy_of(const Store& store, const Results& results,
                                      const std::string& agent) {
  const auto seeds = results.seeds(agent);
  if (seeds.empty()) return std::nullopt;
  auto policy = store.find_policy(results.experiment(), agent, seeds[0]);
  if (policy && policy->standard_errors.empty()) return std::nullopt;
  return policy;
}

// The state that the policy knows best: all its actions have a standard error, and the largest of
// them is the smallest among all such states.
std::optional<std::uint64_t> example_state(const StoredPolicy& policy) {
  std::optional<std::uint64_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint64_t s = 0; s < policy.num_states; ++s) {
    const RowView row = row_of(policy, s);
    if (!all_known(row)) continue;
    const double largest = *std::ranges::max_element(row.errors);
    if (largest < least) {
      least = largest;
      best = s;
    }
  }
  return best;
}

std::string bars(const std::string& agent, const RowView& row, double low, double high) {
  constexpr double kWidth = 320, kRow = 20, kLeft = 26;
  const double height = kRow * static_cast<double>(row.q.size()) + 24;
  const auto x = [&](double v) {
    return kLeft + (kWidth - kLeft - 8) * std::clamp((v - low) / (high - low), 0.0, 1.0);
  };
  const auto greedy = std::ranges::max_element(row.q) - row.q.begin();
  std::string out = fmt::format(
      "<figure class=\"map\"><svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"values of {} "
      "with "
      "error bars\">",
      kWidth, height, escape_html(agent));
  for (std::size_t a = 0; a < row.q.size(); ++a) {
    const double y = kRow * (static_cast<double>(a) + 0.5);
    const double half = std::isfinite(row.errors[a]) ? kNormal95 * row.errors[a] : high - low;
    out += fmt::format(
        "<text x=\"0\" y=\"{1:.0f}\" font-size=\"12\" fill=\"currentColor\">a{0}</text>"
        "<line x1=\"{2:.1f}\" x2=\"{3:.1f}\" y1=\"{4:.0f}\" y2=\"{4:.0f}\" stroke=\"currentColor\" "
        "stroke-width=\"2\"/><circle cx=\"{5:.1f}\" cy=\"{4:.0f}\" r=\"4.5\" fill=\"{6}\" "
        "stroke=\"currentColor\"/>",
        a, y + 4, x(row.q[a] - half), x(row.q[a] + half), y, x(row.q[a]),
        static_cast<std::ptrdiff_t>(a) == greedy ? "var(--accent)" : "var(--ground)");
  }
  out += fmt::format(
      "<text x=\"{0:.0f}\" y=\"{2:.0f}\" font-size=\"12\" fill=\"currentColor\">{3:.3g}</text>"
      "<text x=\"{1:.0f}\" y=\"{2:.0f}\" font-size=\"12\" text-anchor=\"end\" "
      "fill=\"currentColor\">{4:.3g}</text></svg>",
      kLeft, kWidth - 4, height - 6, low, high);
  const bool judged = std::ranges::any_of(row.errors, [](double e) { return std::isfinite(e); });
  const std::string caption = judged ? fmt::format("greedy action right with probability {:.2f}",
                                                   greedy_is_right(row.q, row.errors))
                                     : std::string("it gives no standard errors");
  return out + fmt::format("<figcaption>{}: {}</figcaption></figure>", escape_html(agent), caption);
}

}  // namespace

// The integral of the normal density of the greedy action's value times the probability that all
// other values are below, by Simpson's rule over eight standard errors to either side.
double greedy_is_right(std::span<const double> values, std::span<const double> errors) {
  const auto best = static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
  const auto others_below = [&](double x) {
    double product = 1;
    for (std::size_t a = 0; a < values.size(); ++a) {
      if (a == best) continue;
      if (!std::isfinite(errors[a]))
        product *= 0.5;
      else if (errors[a] > 0)
        product *= normal_below((x - values[a]) / errors[a]);
      else
        product *= x >= values[a] ? 1 : 0;
    }
    return product;
  };
  if (!std::isfinite(errors[best])) return 1 / static_cast<double>(values.size());
  if (!(errors[best] > 0)) return others_below(values[best]);
  constexpr int kSteps = 160;  // even
  constexpr double kReach = 8;
  const double h = 2 * kReach / kSteps;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double z = -kReach + h * i;
    const double weight = i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * std::exp(-z * z / 2) * others_below(values[best] + errors[best] * z);
  }
  return std::clamp(sum * h / 3 / std::sqrt(2 * std::numbers::pi), 0.0, 1.0);
}

Table sureness_table(const Store& store, const Results& results) {
  Table table{
      .title = "How sure the agents are of their greedy actions",
      .rows = {{"agent", "states judged", "mean P(greedy is right)", "greedy is optimal"}},
      .note =
          "First seed. The probability follows from the standard errors that the agent itself "
          "gives "
          "for its values, for independent normal errors, over states where it gives them for all "
          "actions. It speaks of the values of the current policy; the last column is the exact "
          "share of all states whose greedy action is optimal in the end."};
  for (const std::string& agent : results.agents()) {
    const auto policy = policy_of(store, results, agent);
    if (!policy) continue;
    double sum = 0;
    std::size_t judged = 0;
    const std::uint64_t stride = 1 + policy->num_states / kMostStates;
    for (std::uint64_t s = 0; s < policy->num_states; s += stride) {
      const RowView row = row_of(*policy, s);
      if (!all_known(row)) continue;
      sum += greedy_is_right(row.q, row.errors);
      ++judged;
    }
    if (judged == 0) continue;
    const BySeed& optimal = results.final_of(agent, "optimal_actions");
    table.rows.push_back({agent, fmt::format("{}", judged),
                          fmt::format("{:.2f}", sum / static_cast<double>(judged)),
                          optimal.empty() ? "–" : fmt::format("{:.2f}", optimal.front().second)});
  }
  return table;
}

namespace {

bool uses_low_fidelity(const Results& results, const std::string& agent) {
  const std::string kind = results.kind_of(agent);
  return is_agent_kind(kind) && agent_kind(kind).uses_low_fidelity();
}

}  // namespace

std::string value_bars(const Store& store, const Results& results) {
  const std::string baseline = baseline_of(results);
  if (baseline.empty()) return "";
  const auto reference = policy_of(store, results, baseline);
  if (!reference || reference->num_actions > kMostActions) return "";
  const auto state = example_state(*reference);
  if (!state) return "";
  std::vector<std::pair<std::string, StoredPolicy>> shown;
  shown.emplace_back(baseline, *reference);
  // Agents that use the cheap simulator come first: they are the ones of interest.
  for (const bool helped : {true, false})
    for (const std::string& agent : results.agents())
      if (agent != baseline && uses_low_fidelity(results, agent) == helped &&
          shown.size() < kMostAgents)
        if (auto policy = policy_of(store, results, agent))
          shown.emplace_back(agent, std::move(*policy));
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const auto& [agent, policy] : shown) {
    const RowView row = row_of(policy, *state);
    for (std::size_t a = 0; a < row.q.size(); ++a) {
      const double half = std::isfinite(row.errors[a]) ? kNormal95 * row.errors[a] : 0;
      low = std::min(low, row.q[a] - half);
      high = std::max(high, row.q[a] + half);
    }
  }
  if (!(high > low)) return "";
  std::string out = fmt::format(
      "<div class=\"block\"><h3>Values with their errors{}</h3><p class=\"note\">State {}, first "
      "seed: the value of every action as the agent sees it at the end, with 95 % error bars from "
      "its own standard errors; the greedy action is filled.</p><div class=\"maps\">",
      results.is_stand_in() ? " (stand-in data)" : "", *state);
  for (const auto& [agent, policy] : shown) out += bars(agent, row_of(policy, *state), low, high);
  return out + "</div></div>\n";
}

}  // namespace hilo
