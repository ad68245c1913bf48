#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hilo/evaluate/evaluation.hpp"

// What the episodes of an evaluation say; evaluation.cpp decides which of them are run.
namespace hilo {
namespace {

constexpr std::size_t kFewValues = 20;
constexpr double kSkewed = 1;
constexpr std::uint64_t kEnoughConstants = 10;

ValueEstimate estimate_of(const ControlledMean& mean, double alpha, bool controlled) {
  ValueEstimate out{.value = mean.value,
                    .standard_error = std::sqrt(mean.variance),
                    .low = mean.value,
                    .high = mean.value,
                    .has_interval = mean.variance > 0 && mean.degrees_of_freedom > 0,
                    .controlled = controlled};
  if (!out.has_interval) return out;
  const Bounds bounds = interval_of(mean, alpha);
  out.low = bounds.low;
  out.high = bounds.high;
  return out;
}

}  // namespace

std::vector<std::uint64_t> Evaluation::pairs_of(const Cheap& cheap) const {
  std::vector<std::uint64_t> out;
  for (std::uint64_t index = 0; index < paired_[0].known.size(); ++index) {
    const auto has = [&](std::size_t s) {
      return index < paired_[s].known.size() && paired_[s].known[index];
    };
    if (has(0) && std::ranges::all_of(cheap, has)) out.push_back(index);
  }
  return out;
}

PairedSample Evaluation::sample(const Cheap& cheap, const std::vector<double>& contrast,
                                bool without_far) const {
  const auto value = [&](const Returns& returns, std::uint64_t index) {
    double sum = 0;
    for (std::size_t p = 0; p < contrast.size(); ++p)
      if (contrast[p] != 0) sum += contrast[p] * returns.values[p][index];
    return sum;
  };
  PairedSample out;
  out.low.resize(cheap.size());
  out.free.resize(cheap.size());
  for (const std::uint64_t index : pairs_of(cheap)) {
    out.high.push_back(value(paired_[0], index));
    for (std::size_t k = 0; k < cheap.size(); ++k)
      out.low[k].push_back(value(paired_[cheap[k]], index));
  }
  for (std::size_t k = 0; k < cheap.size(); ++k)
    for (std::uint64_t index = 0; index < free_[cheap[k]].count; ++index)
      out.free[k].push_back(value(free_[cheap[k]], index));
  if (without_far) replace_far_values(out);
  return out;
}

std::vector<PairedSample> Evaluation::targets(const Cheap& cheap, bool without_far) const {
  std::vector<PairedSample> out;
  std::vector<double> contrast(rules_.num_policies, 0);
  if (rules_.num_policies == 1) contrast[0] = 1;
  if (rules_.num_policies == 1) out.push_back(sample(cheap, contrast, without_far));
  for (std::size_t a = 0; a < rules_.num_policies; ++a)
    for (std::size_t b = a + 1; b < rules_.num_policies; ++b) {
      contrast.assign(rules_.num_policies, 0);
      contrast[a] = 1;
      contrast[b] = -1;
      out.push_back(sample(cheap, contrast, without_far));
    }
  return out;
}

EvaluatedValue Evaluation::evaluate(const std::vector<double>& contrast, double alpha) const {
  const PairedSample all = sample({}, contrast);
  const ControlledMean plain = plain_mean(all.high);
  EvaluatedValue out;
  out.plain = out.best = estimate_of(plain, alpha, false);
  out.skewness = plain.skewness_of_y;
  const auto n = static_cast<double>(all.high.size());
  out.worth_episodes = n;
  if (!chosen_.empty()) {
    const ControlledMean controlled = controlled_mean(sample(chosen_, contrast, without_far_));
    if (controlled.variance < plain.variance) {
      out.best = estimate_of(controlled, alpha, true);
      out.skewness = controlled.skewness_of_y;
      out.worth_episodes = controlled.variance > 0 ? n * plain.variance / controlled.variance : n;
    }
  }
  if (!out.best.has_interval)
    out.caution = n < 2 ? "one episode has no interval"
                        : fmt::format(
                              "all {} values are equal, so that nothing is known about how "
                              "they vary",
                              n);
  else if (all.high.size() < kFewValues || std::abs(out.skewness) > kSkewed)
    out.caution = fmt::format(
        "{}{}: the interval may hold the true value less often than it says",
        all.high.size() < kFewValues ? fmt::format("only {} expensive episodes", n) : "",
        std::abs(out.skewness) > kSkewed
            ? fmt::format("{}single values are skewed ({:+.1f}{})",
                          all.high.size() < kFewValues ? ", and " : "", out.skewness,
                          out.best.controlled ? " after the correction" : "")
            : "");
  return out;
}

EvaluatedValue Evaluation::value(std::size_t policy) const {
  std::vector<double> contrast(rules_.num_policies, 0);
  contrast.at(policy) = 1;
  return evaluate(contrast, alpha());
}

EvaluatedValue Evaluation::difference(std::size_t a, std::size_t b, std::size_t comparisons) const {
  std::vector<double> contrast(rules_.num_policies, 0);
  contrast.at(a) = 1;
  contrast.at(b) = -1;
  return evaluate(contrast, alpha() / static_cast<double>(comparisons));
}

double Evaluation::largest_half_width(double alpha) const {
  const std::size_t policies = rules_.num_policies;
  const auto half = [&](const std::vector<double>& contrast, double level) {
    const ValueEstimate e = evaluate(contrast, level).best;
    if (e.has_interval) return std::max(e.high - e.value, e.value - e.low);
    return num_pairs() >= kEnoughConstants ? 0 : std::numeric_limits<double>::infinity();
  };
  if (policies == 1) return half({1}, alpha);
  double out = 0;
  const double comparisons = static_cast<double>(policies * (policies - 1)) / 2;
  for (std::size_t a = 0; a < policies; ++a)
    for (std::size_t b = a + 1; b < policies; ++b) {
      std::vector<double> contrast(policies, 0);
      contrast[a] = 1;
      contrast[b] = -1;
      out = std::max(out, half(contrast, alpha / comparisons));
    }
  return out;
}

std::vector<std::vector<double>> Evaluation::correlations() const {
  const std::size_t size = rules_.num_cheap + 1;
  if (size == 1) return {};
  std::vector<std::vector<double>> out(size, std::vector<double>(size, 1));
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t k = i + 1; k < size; ++k) {
      // Of these two alone, because not all simulators may have run as often.
      const Cheap cheap = i == 0 ? Cheap{k} : Cheap{i, k};
      const Covariances c = covariances_of(targets(cheap));
      out[i][k] = out[k][i] = i == 0 ? c.correlation(0, 1) : c.correlation(1, 2);
    }
  return out;
}

std::vector<CheapVerdict> Evaluation::verdicts() const {
  std::vector<CheapVerdict> out;
  for (std::size_t l = 1; l <= rules_.num_cheap; ++l) {
    CheapVerdict verdict{.reason = reasons_[l - 1]};
    const std::vector<PairedSample> samples = targets({l});
    verdict.pairs = samples.front().high.size();
    const Covariances c = covariances_of(samples);
    if (verdict.pairs > 3 && c.variance(0) > 0 && c.variance(1) > 0) {
      verdict.correlation = c.correlation(0, 1);
      const double z = std::atanh(std::clamp(verdict.correlation, -1 + 1e-12, 1 - 1e-12));
      const double half = 1.96 / std::sqrt(static_cast<double>(verdict.pairs) - 3);
      verdict.low = std::tanh(z - half);
      verdict.high = std::tanh(z + half);
    } else {
      verdict.pairs = 0;  // of which nothing can be said
      verdict.low = -1;
      verdict.high = 1;
    }
    const auto place = std::ranges::find(chosen_, l);
    verdict.used = place != chosen_.end();
    if (verdict.used) {
      std::vector<double> contrast(rules_.num_policies, 0);
      contrast[0] = 1;
      if (rules_.num_policies > 1) contrast[1] = -1;
      const ControlledMean mean = controlled_mean(sample(chosen_, contrast, without_far_));
      verdict.coefficient = mean.coefficients[static_cast<std::size_t>(place - chosen_.begin())];
    }
    out.push_back(std::move(verdict));
  }
  return out;
}

}  // namespace hilo
