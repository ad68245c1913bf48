#include "hilo/driver/evaluation_outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/core/student.hpp"

namespace hilo {

bool EvaluationOutcome::helped() const {
  return std::ranges::any_of(simulators,
                             [](const SimulatorUse& s) { return s.verdict && s.verdict->used; });
}

namespace {

// Better than all others, by intervals that hold together.
std::optional<std::size_t> best_of(const EvaluationOutcome& outcome) {
  if (outcome.policies.size() < 2) return std::nullopt;
  for (std::size_t p = 0; p < outcome.policies.size(); ++p) {
    const bool beats_all = std::ranges::all_of(outcome.comparisons, [&](const PolicyComparison& c) {
      if (c.a != p && c.b != p) return true;
      const ValueEstimate& e = c.difference.best;
      return e.has_interval && (c.a == p ? e.low > 0 : e.high < 0);
    });
    if (beats_all) return p;
  }
  return std::nullopt;
}

double plain_half_width(const EvaluatedValue& value, double n, double equal, double alpha) {
  if (!value.plain.has_interval || equal < 2) return 0;
  return value.plain.standard_error * std::sqrt(n / equal) *
         student_t_quantile(1 - alpha / 2, equal - 1);
}

}  // namespace

EvaluationOutcome outcome_of(const Evaluator& evaluator, const std::string& coupling,
                             const std::vector<std::string>& notes) {
  const Evaluation& evaluation = evaluator.evaluation();
  const EvaluationSubject& subject = evaluator.subject();
  if (evaluation.num_pairs() < 2)
    throw Error(Errc::simulator,
                fmt::format("{} {}, but at least 2 are needed",
                            evaluation.num_pairs() == 0 ? "no" : "only one",
                            evaluation.skipped() > 0 ? "expensive episode succeeded"
                                                     : "expensive episode fits into the budget"));
  EvaluationOutcome out{.name = subject.name,
                        .quantity = subject.quantity,
                        .coupling = subject.simulators.size() > 1 ? coupling : "",
                        .level = 1 - subject.rules.alpha,
                        .policies = {},
                        .comparisons = {},
                        .best = {},
                        .simulators = {},
                        .correlations = evaluation.correlations(),
                        .stages = evaluation.stages(),
                        .until = subject.rules.until,
                        .spent = evaluation.actual_cost(),
                        .equal_episodes = evaluation.equal_rounds(),
                        .unit = evaluator.unit(),
                        .skipped = evaluation.skipped(),
                        .failed = evaluator.failed_attempts(),
                        .replayed = evaluator.replayed(),
                        .paid = evaluator.paid(),
                        .notes = notes};
  out.notes.insert(out.notes.end(), evaluator.notes().begin(), evaluator.notes().end());
  if (out.skipped > 0)
    out.notes.push_back(fmt::format(
        "{} episodes were left out because all attempts at them failed; if failures are "
        "more likely in good or in bad episodes, the values are biased",
        out.skipped));
  const std::size_t policies = subject.policies.size();
  const auto n = static_cast<double>(evaluation.num_pairs());
  for (std::size_t p = 0; p < policies; ++p) {
    PolicyResult result{.name = subject.policies[p], .value = evaluation.value(p)};
    result.plain_half_width =
        plain_half_width(result.value, n, out.equal_episodes, evaluation.alpha());
    out.policies.push_back(std::move(result));
  }
  for (std::size_t a = 0; a < policies; ++a)
    for (std::size_t b = a + 1; b < policies; ++b)
      out.comparisons.push_back(
          {.a = a,
           .b = b,
           .difference = evaluation.difference(a, b, policies * (policies - 1) / 2)});
  out.best = best_of(out);
  const std::vector<CheapVerdict> verdicts = evaluation.verdicts();
  for (std::size_t s = 0; s < subject.simulators.size(); ++s) {
    SimulatorUse use{.name = subject.simulators[s],
                     .episodes = evaluation.num_episodes(s),
                     .free = evaluation.num_free(s),
                     .steps = evaluator.steps(s)};
    const double cost = evaluation.actual_cost(s);
    if (use.episodes > 0) use.mean_cost = cost / static_cast<double>(use.episodes * policies);
    use.share = out.spent > 0 ? cost / out.spent : 0;
    if (s > 0) use.verdict = verdicts[s - 1];
    out.simulators.push_back(std::move(use));
  }
  return out;
}

}  // namespace hilo
