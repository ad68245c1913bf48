#include "hilo/report/diagnosis_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "hilo/core/error.hpp"
#include "hilo/report/table.hpp"

namespace hilo {
namespace {

using Json = nlohmann::json;

constexpr double kLittle = 0.05;  // a change of the error that hardly matters

Json to_json(const WithInterval& x) {
  return {{"value", x.value}, {"low", x.low}, {"high", x.high}};
}

Json finite_or_null(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

std::string percent(double x) { return fmt::format("{:+.1f} %", 100 * x); }

// Rounded up to one significant digit: "300", "20 000".
std::string roughly(double x) {
  const double power = std::pow(10.0, std::floor(std::log10(std::max(x, 1.0))));
  return group_digits(std::ceil(x / power) * power);
}

bool does_not_pay(const Diagnosis& d) {
  return d.cost_ratio > 0 && !d.cost_measured && d.error_at_equal_cost >= 1;
}

std::string describe_costs(const Diagnosis& d) {
  if (std::isinf(d.break_even_cost_ratio)) return "No price of the low fidelity would make it pay";
  const std::string pays =
      fmt::format("It pays where a high-fidelity return costs more than {:.3g} low-fidelity ones",
                  d.break_even_cost_ratio);
  if (d.cost_measured)
    return fmt::format(
        "{}; here it took the time of {:.3g} (--cost-high and --cost-low say what "
        "yours cost)",
        pays, d.cost_ratio);
  return fmt::format(
      "{}; by the costs given it costs {:.3g}. Best: {:.0f} roll-out{} for each pair, which makes "
      "the "
      "squared error {:.2f} times that of spending the same on the high fidelity alone",
      pays, d.cost_ratio, d.best_low_rollouts, d.best_low_rollouts == 1 ? "" : "s",
      d.error_at_equal_cost);
}

}  // namespace

std::vector<std::string> explain(const Diagnosis& d) {
  std::vector<std::string> out;
  std::string verdict = fmt::format("{}: {}.", name_of(d.advice), d.reason);
  if (d.advice == Advice::cannot_tell)
    verdict +=
        d.more_episodes > static_cast<double>(d.train_episodes)
            ? fmt::format(
                  " Roughly {} more episodes would tell, more than the training itself has{}.",
                  roughly(d.more_episodes),
                  std::max(-d.change.low, d.change.high) < kLittle
                      ? ": little is at stake either way"
                      : "")
            : fmt::format(" Roughly {} more episodes would tell.", roughly(d.more_episodes));
  if (d.advice == Advice::use && does_not_pay(d))
    verdict +=
        " But that is for the same expensive episodes: at the costs given, more of these alone are "
        "the better buy.";
  out.push_back(std::move(verdict));
  if (d.pairs_seen == 0) return out;
  out.push_back(fmt::format(
      "Predicted change of the mean squared error by MFMCRL+ against plain Monte Carlo with the "
      "same "
      "weights, for a training of {} episodes, with {:.3g} high-fidelity returns for each pair: {} "
      "[{}, {}].",
      group_digits(static_cast<double>(d.train_episodes)), d.planned_returns,
      percent(d.change.value), percent(d.change.low), percent(d.change.high)));
  out.push_back(fmt::format(
      "The pilot: {} episodes, {} returns of {} pairs of state and action, {} of them seen more "
      "than once.",
      d.episodes, group_digits(static_cast<double>(d.returns)), d.pairs_seen, d.pairs_used));
  std::string correlation =
      fmt::format("Correlation of the returns within a pair, pooled: {:.3f}", d.correlation);
  if (d.correlated_pairs > 0) {
    const double* q = d.correlation_quantiles;
    correlation += fmt::format(
        "; over the {} pairs with enough returns: {:.2f} to {:.2f}, quartiles {:.2f}, {:.2f}, "
        "{:.2f}. Lowest:",
        d.correlated_pairs, q[0], q[4], q[1], q[2], q[3]);
    for (const auto& p : d.least_correlated)
      correlation += fmt::format(" ({}, {}) {:.2f},", p.state, p.action, p.correlation);
    correlation.back() = '.';
  } else {
    correlation += "; no pair has enough returns for one of its own.";
  }
  out.push_back(std::move(correlation));
  // Pairs share episodes, so that many of them may differ without this being significant.
  const bool many =
      static_cast<double>(d.pairs_different) > 0.1 * static_cast<double>(d.pairs_tested);
  out.push_back(fmt::format(
      "{}: {} of {} pairs differ by more than 1.96 standard errors ({:.0f} would by chance, if "
      "they "
      "shared no episodes); bias "
      "in standard deviations of a return: mean {:+.3f} [{:+.3f}, {:+.3f}], spread {:.3f}.",
      d.dynamics_differ ? "The dynamics differ"
      : many            ? "The dynamics may differ, which this pilot cannot tell for sure"
                        : "No difference of the dynamics is seen",
      d.pairs_different, d.pairs_tested, 0.05 * static_cast<double>(d.pairs_tested),
      d.bias_offset.value, d.bias_offset.low, d.bias_offset.high, d.bias_spread));
  if (d.cost_ratio > 0) out.push_back(describe_costs(d) + ".");
  return out;
}

std::string to_json_text(const Diagnosis& d, const DiagnosisSource& source) {
  Json least = Json::array();
  for (const auto& p : d.least_correlated)
    least.push_back({{"state", p.state},
                     {"action", p.action},
                     {"returns", p.returns},
                     {"correlation", p.correlation}});
  const Json out = {
      {"experiment", source.experiment},
      {"problem", source.problem},
      {"seed", source.seed},
      {"policy", source.policy},
      {"agent", source.agent},
      {"verdict", name_of(d.advice)},
      {"reason", d.reason},
      {"more_episodes", d.more_episodes},
      {"text", explain(d)},
      {"pilot",
       {{"episodes", d.episodes},
        {"returns", d.returns},
        {"pairs_seen", d.pairs_seen},
        {"pairs_seen_twice", d.pairs_used}}},
      {"planned_returns", d.planned_returns},
      {"free_per_coupled", d.free_per_coupled},
      {"change_of_squared_error", to_json(d.change)},
      {"correlation",
       {{"pooled", d.correlation},
        {"alpha", d.alpha},
        {"pairs", d.correlated_pairs},
        {"quantiles", d.correlation_quantiles},
        {"lowest", least}}},
      {"return_sd", d.return_sd},
      {"dynamics",
       {{"differ", d.dynamics_differ},
        {"pairs_tested", d.pairs_tested},
        {"pairs_different", d.pairs_different},
        {"bias_offset", to_json(d.bias_offset)},
        {"bias_spread", d.bias_spread},
        {"bias_square", to_json(d.bias_square)}}},
      {"cost",
       {{"ratio", d.cost_ratio},
        {"measured", d.cost_measured},
        {"best_low_rollouts", d.best_low_rollouts},
        {"error_at_equal_cost", d.error_at_equal_cost},
        {"break_even_ratio", finite_or_null(d.break_even_cost_ratio)}}},
  };
  return out.dump(2);
}

StoredDiagnosis read_diagnosis(const std::string& json) {
  try {
    const Json found = Json::parse(json);
    StoredDiagnosis out{
        .verdict = found.at("verdict").get<std::string>(), .title = {}, .sentences = {}};
    out.title =
        fmt::format("{}, seed {}, policy: {}", found.at("problem").get<std::string>(),
                    found.at("seed").get<std::uint64_t>(), found.at("policy").get<std::string>());
    for (const Json& line : found.at("text")) out.sentences.push_back(line.get<std::string>());
    return out;
  } catch (const Json::exception& e) {
    throw Error(Errc::data,
                fmt::format("the store is damaged: a diagnosis cannot be read: {}", e.what()));
  }
}

}  // namespace hilo
