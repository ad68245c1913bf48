#include "hilo/report/docking_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "hilo/env/docking.hpp"
#include "hilo/exact/solve.hpp"
#include "hilo/policy/q_table.hpp"
#include "hilo/report/html.hpp"

namespace hilo {
namespace {

constexpr std::size_t kMostStates = 20'000;  // exact values are computed for every map
constexpr int kMostSteps = 60;
constexpr double kSize = 220;  // of a map

DockingOptions options_of(const Configuration& configuration) {
  return {.cells = static_cast<std::size_t>(configuration.number("problem.cells")),
          .speeds = static_cast<std::size_t>(configuration.number("problem.speeds")),
          .drag = configuration.number("problem.drag"),
          .wind = configuration.number("problem.wind"),
          .gusts = configuration.number("problem.gusts")};
}

// From vermilion at -1 through the background to blue at +1. Colour-blind readers can distinguish
// the two.
std::string colour(double value) {
  const double share = std::clamp(std::abs(value), 0.0, 1.0);
  return fmt::format("fill=\"{}\" fill-opacity=\"{:.2f}\"", value < 0 ? "#D55E00" : "#0072B2",
                     share);
}

// The course of the greedy policy if the likeliest outcome happens at every step. The outcome that
// the mission is over is left out.
std::string course(const Docking& docking, const std::vector<Action>& policy, State s) {
  const double scale = kSize / Docking::kSide;
  std::string points;
  std::vector<Outcome> outcomes;
  for (int t = 0; t < kMostSteps && !docking.is_terminal(s); ++t) {
    const Docking::Motion m = docking.motion(s);
    points += fmt::format("{:.1f},{:.1f} ", docking.centre(m.ix) * scale,
                          kSize - docking.centre(m.iy) * scale);
    docking.outcomes(s, policy[s], outcomes);
    std::erase_if(outcomes, [&](const Outcome& o) { return o.next == docking.over(); });
    s = std::ranges::max_element(outcomes, {}, &Outcome::probability)->next;
  }
  if (s == docking.docked())
    points +=
        fmt::format("{:.1f},{:.1f}", Docking::kDockX * scale, kSize - Docking::kDockY * scale);
  const std::string end = s == docking.docked() ? "docks"
                          : s == docking.lost() ? "is lost"
                                                : "does not arrive";
  return fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"2.5\" "
      "stroke-linejoin=\"round\"><title>likeliest course: {}</title></polyline>",
      points, end);
}

std::string map_of(const Docking& docking, const std::string& name,
                   const std::vector<Action>& policy, double gamma) {
  const Values values =
      evaluate_policy(docking, deterministic_policy(policy, Docking::kNumActions), gamma);
  const auto cells = static_cast<std::uint32_t>(docking.cells());
  const State example = docking.start_distribution().front().state;
  const Docking::Motion rest = docking.motion(example);
  const double cell = kSize / cells;
  const double scale = kSize / Docking::kSide;
  std::string out = fmt::format(
      "<figure class=\"map\"><svg viewBox=\"-2 -2 {0} {0}\" role=\"img\" aria-label=\"values and "
      "course of {1}\">",
      kSize + 4, escape_html(name));
  for (std::uint32_t iy = 0; iy < cells; ++iy)
    for (std::uint32_t ix = 0; ix < cells; ++ix) {
      const double v = values.v[docking.state({ix, iy, rest.jx, rest.jy})];
      out += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" {}/>",
                         ix * cell, kSize - (iy + 1) * cell, cell, cell, colour(v));
    }
  out += fmt::format(
      "<rect x=\"0\" y=\"0\" width=\"{0}\" height=\"{0}\" fill=\"none\" stroke=\"currentColor\"/>"
      "<circle cx=\"{1:.1f}\" cy=\"{2:.1f}\" r=\"{3:.1f}\" fill=\"none\" stroke=\"currentColor\" "
      "stroke-width=\"2\" stroke-dasharray=\"4 3\"/>",
      kSize, Docking::kDockX * scale, kSize - Docking::kDockY * scale,
      Docking::kDockRadius * scale);
  out += course(docking, policy, example);
  out += fmt::format("</svg><figcaption>{}: {:.3f} from the start</figcaption></figure>",
                     escape_html(name), start_value(docking, values.v));
  return out;
}

std::string signed_interval(const Summary& s) {
  return fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", s.mean, s.low, s.high);
}

double median_of(const Results& results, const std::string& agent, const char* metric) {
  return quartiles(values_of(results.final_of(agent, metric))).median;
}

std::vector<std::string> explain(const Results& results, const Analysis& analysis) {
  std::vector<std::string> out;
  for (const AgentAnalysis& a : analysis.agents) {
    if (!a.advantage || a.advantage->n < 2) continue;
    const Configuration& configuration = results.configuration_of(a.agent);
    if (configuration.value("agent.kind") != "mfmcrl") continue;
    const std::string estimator = configuration.value("agent.estimator");
    const bool action_0 = configuration.value("agent.low_policy") == "action-0";
    std::string text = fmt::format("{} ends {} from {}. ", a.agent, signed_interval(*a.advantage),
                                   analysis.baseline);
    if (action_0) {
      text +=
          "Its low-fidelity roll-outs take action 0 instead of the greedy action, so the "
          "population mean is the value of thrusting, or coasting, on and on, and every value is "
          "corrected towards that: a way to the dock that needs one action now and another later "
          "is not seen.";
    } else if (estimator.empty()) {
      text +=
          "Both fidelities pay alike, so along one path their returns are the same: the "
          "correlation is 1, and the correction replaces every value by that of a world without "
          "air.";
    } else if (estimator == "finite-m") {
      text +=
          "With many free returns it, too, puts the low fidelity's value in the place of every "
          "value; that its returns fade and count whole roll-outs only makes it quicker.";
    } else if (estimator == "bias-aware") {
      text +=
          "It takes all of the low fidelity's bias, shared or not, for noise, and trusts it less "
          "the more returns a pair has of its own.";
    } else if (results.has_metric(a.agent, "bias_spread")) {
      text += fmt::format(
          "It found that low-fidelity values lie {:+.2f} standard deviations off on the average, "
          "took that out, and met the rest, a spread of {:.2f}, with as much distrust: with few "
          "returns of a pair the low fidelity counts, with many the pair's own returns do.",
          median_of(results, a.agent, "bias_offset"), median_of(results, a.agent, "bias_spread"));
    }
    if (results.has_metric(a.agent, "bias_rms"))
      text += fmt::format(
          " The bias this leaves is {:.2f} (exact, root mean square), where a return has a "
          "standard deviation of {:.2f}.",
          median_of(results, a.agent, "bias_rms"), median_of(results, a.agent, "return_sd"));
    out.push_back(std::move(text));
  }
  return out;
}

std::string maps_of(const Store& store, const Results& results) {
  const Configuration& configuration = results.configuration_of(results.agents()[0]);
  const double gamma = configuration.number("train.gamma");
  const auto seeds = results.seeds(results.agents()[0]);
  if (seeds.empty() || !(gamma < 1)) return "";
  const std::uint64_t seed = seeds[0];
  const Docking docking(options_of(configuration), Docking::shuffled_actions(seed));
  if (docking.num_states() > kMostStates) return "";

  std::string maps =
      map_of(docking, "optimal policy", policy_iteration(docking, gamma).policy, gamma);
  for (const std::string& agent : results.agents()) {
    const auto of_agent = results.seeds(agent);
    if (std::ranges::find(of_agent, seed) == of_agent.end()) continue;
    const auto stored = store.find_policy(results.experiment(), agent, seed);
    if (!stored || stored->num_states != docking.num_states() ||
        stored->num_actions != Docking::kNumActions)
      continue;
    QTable q(docking.num_states(), Docking::kNumActions);
    q.assign(stored->q);
    std::vector<Action> policy(docking.num_states());
    for (State s = 0; s < docking.num_states(); ++s) policy[s] = q.greedy_actions(s)[0];
    maps += map_of(docking, agent, policy, gamma);
  }
  return fmt::format(
      "<div class=\"block\"><h3>What the policies are worth, and where they go</h3><p "
      "class=\"note\">Seed {}. Colour: exact value of the greedy policy from a cell at rest, blue "
      "+1, orange −1. Line: the likeliest course from the first start cell; dashed: the dock.</p>"
      "<div class=\"maps\">{}</div></div>\n",
      seed, maps);
}

}  // namespace

ProblemView docking_view() {
  return {.kind = "docking", .explanation = explain, .policies = maps_of};
}

}  // namespace hilo
