#include "hilo/report/variants.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace hilo {
namespace {

constexpr std::string_view kWritten = " as-written";
constexpr std::string_view kPublished = " as-published";

std::string signed_interval(const Summary& s) {
  return fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", s.mean, s.low, s.high);
}

// The median over seeds of a metric at the end.
double typical(const Results& results, const std::string& agent, const char* metric) {
  return quartiles(values_of(results.final_of(agent, metric))).median;
}

// High-fidelity visits of a pair of state and action, on average.
double visits(const Results& results, const std::string& agent) {
  const std::string canonical = results.canonical_of(agent);
  const auto number = [&](const char* key) {
    return std::strtod(canonical_value(canonical, key).c_str(), nullptr);
  };
  const double pairs = number("problem.states") * number("problem.actions");
  return pairs > 0 ? typical(results, agent, "high_steps") / pairs : 0;
}

// Where an as-written agent ends, and what its exact bias has to do with it.
std::string place_and_bias(const Results& results, const Analysis& analysis,
                           const AgentAnalysis& a) {
  const Summary& d = *a.advantage;
  const char* side = d.high < 0 ? "below" : d.low > 0 ? "above" : "not clear of";
  std::string text =
      fmt::format("{} ends {} {} ({})", a.agent, side, analysis.baseline, signed_interval(d));
  if (!results.has_metric(a.agent, "bias_rms")) return text;
  const double limit = typical(results, a.agent, "bias_break_even");
  const double seen = visits(results, a.agent);
  text += fmt::format(
      ": its correction carries a bias of {:.2f} (exact, root mean square; a return has a standard "
      "deviation of {:.2f}), with which plain Monte Carlo is the better estimator beyond {:.1f} "
      "returns of a pair",
      typical(results, a.agent, "bias_rms"), typical(results, a.agent, "return_sd"), limit);
  if (seen > 0)
    text += fmt::format(
        "{}{:.0f}",
        limit < seen ? ", and a pair had about " : ", which were not reached: a pair had about ",
        seen);
  return text;
}

}  // namespace

std::string without_variant(const std::string& agent) {
  for (const std::string_view variant : {kWritten, kPublished})
    if (agent.ends_with(variant)) return agent.substr(0, agent.size() - variant.size());
  return agent;
}

std::vector<std::string> explain_variants(const Results& results, const Analysis& analysis) {
  std::vector<const AgentAnalysis*> written;
  std::vector<std::string> gains;
  for (const AgentAnalysis& a : analysis.agents) {
    if (!a.agent.ends_with(kWritten) ||
        canonical_value(results.canonical_of(a.agent), "problem.kind") != "random-mdp")
      continue;
    const std::string published = without_variant(a.agent) + std::string(kPublished);
    const Summary d = results.paired_difference(published, a.agent, analysis.level_metric);
    if (d.n < 2) continue;
    std::string gain = fmt::format("{} for {}", signed_interval(d), without_variant(a.agent));
    if (results.has_metric(a.agent, "bias_rms"))
      gain +=
          fmt::format(" (bias {:.2f} instead of {:.2f})", typical(results, published, "bias_rms"),
                      typical(results, a.agent, "bias_rms"));
    gains.push_back(std::move(gain));
    if (a.advantage && a.advantage->n >= 2) written.push_back(&a);
  }
  if (gains.empty()) return {};
  std::vector<std::string> out = {
      "As-published repeats how the paper's curves were made: low-fidelity roll-outs take action 0 "
      "in their greedy branch, draw from the noisy rows by a binary search, and uniform actions "
      "come with probability epsilon (1 - 1/A); as-written is Algorithm 1: roll-outs follow the "
      "policy, and the rows are projected onto the probability simplex."};
  if (!written.empty() && analysis.baseline == without_variant(analysis.baseline)) {
    const auto [worst, best] =
        std::ranges::minmax_element(written, {}, [](const auto* a) { return a->advantage->mean; });
    std::string text = place_and_bias(results, analysis, **worst);
    if (*best != *worst) text += "; " + place_and_bias(results, analysis, **best);
    out.push_back(text + ".");
  }
  out.push_back(fmt::format(
      "As-published ends otherwise: {}; the size of the bias alone does not explain it, because an "
      "error that all actions of a state share does not change which one is greedy, and with "
      "action 0 in the roll-outs the low-fidelity future hardly depends on the action at hand.",
      fmt::join(gains, ", ")));
  return out;
}

}  // namespace hilo
