#include "hilo/report/variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace hilo {
namespace {

constexpr std::string_view kWritten = " as-written";
constexpr std::string_view kPublished = " as-published";

std::string signed_interval(const Summary& s) {
  return fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", s.mean, s.low, s.high);
}

// "below MCRL by -0.113 [-0.12, -0.10] for MFMCRL -10 dB".
std::string against_baseline(const AgentAnalysis& a, const std::string& baseline) {
  const Summary& d = *a.advantage;
  const char* side = d.high < 0 ? "below" : d.low > 0 ? "above" : "not clear of";
  return fmt::format("{} {} for {} ({})", side, baseline, without_variant(a.agent),
                     signed_interval(d));
}

// The exact bias of an agent's estimator, in words; "" if it is not known.
std::string bias_of(const Results& results, const std::string& agent) {
  const auto mean = [&](const char* metric) {
    return summarise(values_of(results.final_of(agent, metric))).mean;
  };
  if (!results.has_metric(agent, "bias_rms")) return "";
  return fmt::format(
      "{:.2f} against a standard deviation of {:.2f} of a return{}", mean("bias_rms"),
      mean("return_sd"),
      results.has_metric(agent, "bias_break_even")
          ? fmt::format(", so that plain Monte Carlo is the better one beyond {:.0f} "
                        "returns of a pair",
                        mean("bias_break_even"))
          : "");
}

}  // namespace

std::string without_variant(const std::string& agent) {
  for (const std::string_view variant : {kWritten, kPublished})
    if (agent.ends_with(variant)) return agent.substr(0, agent.size() - variant.size());
  return agent;
}

std::vector<std::string> explain_variants(const Results& results, const Analysis& analysis) {
  std::vector<const AgentAnalysis*> written;
  Moments gain;
  for (const AgentAnalysis& a : analysis.agents) {
    if (!a.agent.ends_with(kWritten)) continue;
    const std::string published = without_variant(a.agent) + std::string(kPublished);
    const Summary d = results.paired_difference(published, a.agent, analysis.level_metric);
    if (d.n < 2) continue;
    gain.add(d.mean);
    if (a.advantage && a.advantage->n >= 2) written.push_back(&a);
  }
  if (gain.count() == 0) return {};
  std::vector<std::string> out = {
      "As-published repeats how the paper's curves were made: low-fidelity roll-outs take action 0 "
      "in their greedy branch, and draw from the noisy rows by a binary search; as-written is "
      "Algorithm 1: roll-outs follow the policy, and the rows are projected onto the probability "
      "simplex."};

  const bool has_baseline = analysis.baseline == without_variant(analysis.baseline);
  if (!written.empty() && has_baseline) {
    const auto [worst, best] =
        std::ranges::minmax_element(written, {}, [](const auto* a) { return a->advantage->mean; });
    std::string text =
        fmt::format("As-written ends {}", against_baseline(**worst, analysis.baseline));
    if (*best != *worst)
      text += fmt::format(" and {}", against_baseline(**best, analysis.baseline));
    const std::string low = bias_of(results, (*worst)->agent);
    const std::string high = bias_of(results, (*best)->agent);
    if (!low.empty()) {
      text += fmt::format(
          ": where the dynamics differ, its correction carries a bias that no number of episodes "
          "removes, with an exact root mean square of {}",
          low);
      if (*best != *worst && !high.empty())
        text += fmt::format(" in the first case, and of {} in the second", high);
    }
    out.push_back(text + ".");
  }
  const Summary gains = summarise(gain);
  out.push_back(fmt::format(
      "As-published ends {:.3f} {} on average over {} such pairs of agents, not because it is less "
      "biased: with action 0 in the roll-outs the low-fidelity future hardly depends on the action "
      "at hand, so that Q is almost the immediate reward plus a shared constant, with little "
      "noise; in these random MDPs the immediate reward alone tells the best action, but where the "
      "future matters this misleads.",
      std::abs(gains.mean), gains.mean >= 0 ? "higher" : "lower", gains.n));
  return out;
}

}  // namespace hilo
