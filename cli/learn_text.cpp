#include "cli/learn_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/json_text.hpp"
#include "hilo/report/table.hpp"

namespace hilo::cli {
namespace {

const char* name_of(CostUnit unit) {
  return unit == CostUnit::declared   ? "declared"
         : unit == CostUnit::reported ? "reported"
                                      : "seconds";
}

std::string describe_value(const LearnOutcome& outcome) {
  const Summary& returns = outcome.value.returns;
  std::string text;
  if (returns.n == 0)
    text = "not tested";
  else if (returns.n == 1)
    text = fmt::format("{:.4g}, the return of one test episode: no interval", returns.mean);
  else
    text = fmt::format("{:.4g} [{:.4g}, {:.4g}], mean return of {} test episodes, 95 % interval",
                       returns.mean, returns.low, returns.high, returns.n);
  if (const auto& helped = outcome.value.controlled)
    text += fmt::format(
        "\n           with the cheap simulator's help {:.4g} [{:.4g}, {:.4g}], as sharp as {:.0f} "
        "test "
        "episodes",
        helped->value, helped->low, helped->high, helped->worth_episodes);
  if (!outcome.value.caution.empty())
    text += fmt::format("\n           caution: {}", outcome.value.caution);
  if (outcome.believed)
    text +=
        fmt::format("\n           the agent itself expects {:.4g}{}", outcome.believed->value,
                    std::isfinite(outcome.believed->standard_error)
                        ? fmt::format(" (standard error {:.2g})", outcome.believed->standard_error)
                        : "");
  return text;
}

}  // namespace

std::string minutes(double seconds) {
  const auto whole = static_cast<long>(seconds);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

nlohmann::json to_json(const Bill& bill) {
  return {{"episodes", bill.episodes},
          {"training", bill.training},
          {"testing", bill.testing},
          {"pilot", bill.pilot},
          {"reused", bill.reused},
          {"attempts", bill.attempts},
          {"failed", bill.failed},
          {"skipped", bill.skipped},
          {"steps", bill.steps},
          {"low_steps", bill.low_steps},
          {"test_low_steps", bill.test_low_steps},
          {"cost", bill.cost()},
          {"high_cost", bill.high_cost},
          {"low_cost", bill.low_cost},
          {"low_share", bill.low_share()},
          {"cost_unit", name_of(bill.unit)},
          {"attempt_seconds", bill.attempt_seconds},
          {"seconds", bill.clock}};
}

nlohmann::json to_json(const Learner& learner, const LearnOutputs& files) {
  const LearnOutcome outcome = learner.outcome();
  const Summary& returns = outcome.value.returns;
  nlohmann::json out = {{"name", learner.spec().spec.name}, {"done", true},
                        {"agent", learner.agent_label()},   {"stopped_by", outcome.stopped_by},
                        {"bill", to_json(learner.bill())},  {"policy", files.policy.string()},
                        {"page", files.page.string()},      {"journal", files.journal.string()},
                        {"notes", learner.notes()}};
  if (const auto pilot = learner.pilot())
    out["pilot"] = {{"advice", name_of(pilot->advice)},
                    {"reason", pilot->diagnosis.reason},
                    {"episodes", pilot->diagnosis.episodes},
                    {"change", pilot->diagnosis.change.value},
                    {"goes_on_with", pilot->goes_on_with}};
  if (returns.n > 0)
    out["value"] = {{"mean", returns.mean},
                    {"low", returns.low},
                    {"high", returns.high},
                    {"standard_error", returns.standard_error},
                    {"episodes", returns.n},
                    {"skewness", outcome.value.skewness},
                    {"caution", outcome.value.caution}};
  if (const auto& helped = outcome.value.controlled)
    out["value"]["controlled"] = {{"value", helped->value},
                                  {"low", helped->low},
                                  {"high", helped->high},
                                  {"standard_error", helped->standard_error},
                                  {"correlation", helped->correlation},
                                  {"free_episodes", helped->free_episodes},
                                  {"worth_episodes", helped->worth_episodes}};
  if (outcome.believed)
    out["believed"] = {{"value", outcome.believed->value},
                       {"standard_error", std::isfinite(outcome.believed->standard_error)
                                              ? nlohmann::json(outcome.believed->standard_error)
                                              : nlohmann::json()}};
  return out;
}

std::string describe(const Learner& learner, const LearnOutputs& files) {
  const LearnOutcome outcome = learner.outcome();
  const Bill bill = learner.bill();
  std::string text;
  for (const std::string& note : learner.notes()) text += fmt::format("note: {}\n", note);
  text +=
      fmt::format("{}: learnt by {}{}\n", learner.spec().spec.name, learner.agent_label(),
                  learner.spec().choice.empty() ? "" : " (chosen: " + learner.spec().choice + ")");
  text += fmt::format("  value    {}\n", describe_value(outcome));
  if (const auto pilot = learner.pilot())
    text += fmt::format("  pilot    {} episodes about the cheap simulator: {}, because {}; {}\n",
                        pilot->diagnosis.episodes, name_of(pilot->advice), pilot->diagnosis.reason,
                        pilot->advice == Advice::drop ? "learnt without it" : "learnt with it");
  text += fmt::format("  bill     {} expensive episodes: {} to learn from{}, {} to test",
                      bill.episodes, bill.training,
                      bill.pilot > 0 ? fmt::format(" ({} of them in the pilot)", bill.pilot) : "",
                      bill.testing);
  if (bill.reused > 0)
    text += fmt::format("; learnt from {} more that other runs paid for", bill.reused);
  if (bill.failed > 0)
    text +=
        fmt::format("; {} attempts failed, {} episodes were skipped", bill.failed, bill.skipped);
  if (const FailureReport failures = learner.failures(); !failures.last_error.empty())
    text += fmt::format("\n           the last failure: {}", failures.last_error);
  text += fmt::format(
      "\n           {} steps, {} cheap steps, cost {:.6g}{} (cheap simulator: {:.1f} %), {:.1f} "
      "s\n",
      group_digits(static_cast<double>(bill.steps)),
      group_digits(static_cast<double>(bill.low_steps)), bill.cost(),
      bill.unit == CostUnit::seconds ? " s, measured" : "", 100 * bill.low_share(), bill.clock);
  if (const auto lag = learner.spec().config().train.integer("lag"); lag > 1)
    text += fmt::format(
        "  lag      {}: each episode acted on what was learnt so many episodes before; one after "
        "the "
        "other they would have taken {:.1f} s\n",
        lag, bill.attempt_seconds);
  text += fmt::format("  policy   {}\n  page     {}\n  journal  {}\n", files.policy.string(),
                      files.page.string(), files.journal.string());
  return text;
}

namespace {

// What an agent for vectors will do with the steps of the cheap simulator. A slow one, such as a
// program, is not started for that.
std::string plan_for_low(const LearnSpec& spec) {
  const RunConfig& config = spec.config();
  if (!config.agent->plan_for_low || !config.problem_kind->has_vectors(config.problem)) return "";
  AgentSetting setting{.max_steps = static_cast<std::uint32_t>(config.train.integer("max_steps"))};
  const bool is_slow = config.problem_kind->low_is_slow;
  if (!is_slow)
    setting.max_steps = std::min(
        setting.max_steps, build_vector_problem(*config.problem_kind, config.problem, spec.seed)
                               .pair.high()
                               .time_limit());
  return config.agent->plan_for_low(config.agent_parameters, setting, is_slow);
}

}  // namespace

void dry_run(const LearnSpec& spec, const LearnOutputs& files, bool json) {
  const Budget& budget = spec.budget;
  const auto reserve = spec.reserved_episodes();
  const Parameters& train = spec.config().train;
  const auto max_steps = static_cast<double>(train.integer("max_steps"));
  const double dearest =
      spec.costs.high_episode.value_or(0) + spec.costs.high_step.value_or(0) * max_steps;
  std::optional<double> most_cost;
  if (budget.cost > 0)
    most_cost = budget.cost + dearest;
  else if (budget.episodes > 0 && spec.costs.any())
    most_cost = dearest * static_cast<double>(budget.episodes);
  Spent spent;
  if (std::filesystem::exists(files.journal)) {
    const Journal journal = Journal::open_to_read(files.journal);
    for (const JournalledRun& run : journal.runs())
      if (run.name == spec.spec.name && run.seed == spec.seed) spent = journal.spent(run.id);
  }
  if (json) {
    nlohmann::json out = {{"name", spec.spec.name},
                          {"agent", spec.config().label},
                          {"choice", spec.choice},
                          {"paid", spent.training + spent.testing},
                          {"journal", files.journal.string()}};
    if (budget.episodes > 0) out["episodes"] = budget.episodes;
    if (budget.steps > 0) out["steps"] = budget.steps;
    if (budget.wall > 0) out["seconds"] = budget.wall;
    if (most_cost) out["cost"] = *most_cost;
    if (reserve) out["reserve"] = *reserve;
    fmt::print("{}\n", json_text(out));
    return;
  }
  fmt::print("{}: dry run, nothing is spent\n", spec.spec.name);
  fmt::print("  agent    {}{}\n", spec.config().label,
             spec.choice.empty() ? "" : "; chosen: " + spec.choice);
  if (budget.episodes > 0)
    fmt::print("  episodes at most {}: {} to learn from, {} to test the policy\n", budget.episodes,
               budget.episodes - reserve.value_or(0), reserve.value_or(0));
  else
    fmt::print("  episodes no limit; {} for the final test\n",
               reserve ? fmt::format("{}", *reserve) : "a tenth of the budget");
  if (const std::string plan = plan_for_low(spec); !plan.empty())
    fmt::print("  search   {}\n", plan);
  if (spec.pilot_episodes > 0)
    fmt::print("  pilot    the first {} of them judge the cheap simulator\n", spec.pilot_episodes);
  if (budget.steps > 0)
    fmt::print("  steps    at most {}, and the rest of one episode\n",
               group_digits(static_cast<double>(budget.steps)));
  if (most_cost)
    fmt::print("  cost     of the expensive simulator at most {:.6g}{}\n", *most_cost,
               budget.cost > 0             ? ", the budget and one episode"
               : spec.failures.retries > 0 ? ", without retries of attempts that fail"
                                           : "");
  else if (!spec.costs.any())
    fmt::print("  cost     not declared; measured in seconds in the first episodes\n");
  if (budget.wall > 0)
    fmt::print("  time     at most {}, and the rest of one episode\n", minutes(budget.wall));
  else
    fmt::print("  time     not known before the first episodes\n");
  if (spent.attempts > 0)
    fmt::print("  journal  {}: {} episodes are paid for already\n", files.journal.string(),
               spent.training + spent.testing);
}

}  // namespace hilo::cli
