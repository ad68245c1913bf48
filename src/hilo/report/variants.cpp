#include "hilo/report/variants.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hilo/agent/catalogue.hpp"

namespace hilo {
namespace {

constexpr const char* kWritten = "as-written";
constexpr const char* kPublished = "as-published";

std::string signed_interval(const Summary& s) {
  return fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", s.mean, s.low, s.high);
}

// The median over seeds of a metric at the end.
double typical(const Results& results, const std::string& agent, const char* metric) {
  return quartiles(values_of(results.final_of(agent, metric))).median;
}

// The average number of high-fidelity visits of a state-action pair.
double visits(const Results& results, const std::string& agent) {
  const Configuration& configuration = results.configuration_of(agent);
  const double pairs =
      configuration.number("problem.states") * configuration.number("problem.actions");
  return pairs > 0 ? typical(results, agent, "high_steps") / pairs : 0;
}

// How an as-written agent ends against the baseline, and how its exact bias explains this.
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

// Whether a key that a variant sets has this value. If the configuration does not have the key, the
// default value counts; a key of the problem that the problem does not have is ignored.
bool has_value(const Configuration& configuration, const AgentKind& kind, const std::string& key,
               const Value& value) {
  const auto info = std::ranges::find(kind.parameters, key, &ParameterInfo::name);
  const bool of_agent = info != kind.parameters.end();
  const std::string stored = configuration.value((of_agent ? "agent." : "problem.") + key);
  if (!stored.empty()) return stored == plain_text(value);
  return !of_agent || info->default_value == value;
}

// A label without the name of its variant at the end.
std::string without_variant(const std::string& agent, const std::string& variant) {
  return agent.ends_with(" " + variant) ? agent.substr(0, agent.size() - variant.size() - 1)
                                        : agent;
}

// The as-published variant of an as-written agent; "" if the experiment does not have it.
std::string published_form_of(const Results& results, const std::string& agent) {
  const std::string common = common_to_variants(results.configuration_of(agent));
  const auto found = std::ranges::find_if(results.agents(), [&](const std::string& other) {
    const Configuration& configuration = results.configuration_of(other);
    return paper_variant(configuration) == kPublished &&
           common_to_variants(configuration) == common;
  });
  return found == results.agents().end() ? "" : *found;
}

}  // namespace

std::string paper_variant(const Configuration& configuration) {
  const std::string kind = configuration.value("agent.kind");
  if (!is_agent_kind(kind)) return "";
  for (const Shorthand& variant : agent_kind(kind).variants)
    if ((variant.name == kWritten || variant.name == kPublished) &&
        std::ranges::all_of(variant.values, [&](const auto& entry) {
          return has_value(configuration, agent_kind(kind), entry.first, entry.second);
        }))
      return variant.name;
  return "";
}

std::string common_to_variants(const Configuration& configuration) {
  if (paper_variant(configuration).empty()) return configuration.text();
  const AgentKind& kind = agent_kind(configuration.value("agent.kind"));
  Configuration common;
  for (const auto& [key, value] : configuration.entries()) {
    const std::string name = key.substr(key.find('.') + 1);
    if (std::ranges::none_of(
            kind.variants, [&](const Shorthand& variant) { return variant.values.contains(name); }))
      common.add(key, value);
  }
  return common.text();
}

std::vector<std::string> explain_variants(const Results& results, const Analysis& analysis) {
  std::vector<const AgentAnalysis*> written;
  std::vector<std::string> gains;
  for (const AgentAnalysis& a : analysis.agents) {
    const Configuration& configuration = results.configuration_of(a.agent);
    if (paper_variant(configuration) != kWritten ||
        configuration.value("problem.kind") != "random-mdp")
      continue;
    const std::string published = published_form_of(results, a.agent);
    const Summary d = results.paired_difference(published, a.agent, analysis.level_metric);
    if (d.n < 2) continue;
    std::string gain =
        fmt::format("{} for {}", signed_interval(d), without_variant(a.agent, kWritten));
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
  if (!written.empty() && paper_variant(results.configuration_of(analysis.baseline)).empty()) {
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
