#include "hilo/report/learn_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/core/version.hpp"
#include "hilo/report/detail/assets.hpp"
#include "hilo/report/detail/control_pictures.hpp"
#include "hilo/report/detail/learn_pictures.hpp"
#include "hilo/report/diagnosis_report.hpp"
#include "hilo/report/html.hpp"
#include "hilo/report/table.hpp"

namespace hilo {
namespace {

constexpr std::size_t kMostShownStates = 100;

constexpr const char* kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
)";

std::string caption(const LearnOutcome& outcome, const LearnReference& reference) {
  std::string text =
      "Dots: the return of every expensive episode that was learnt from, while it explored. Line: "
      "their "
      "running mean. ";
  if (outcome.value.returns.n > 1)
    text +=
        "Green: the mean return of the final policy in episodes that were not learnt from, with "
        "its "
        "95 % interval. ";
  if (reference.cheap_alone)
    text += "Dashed: the exact value of the policy that is learnt in the cheap simulator alone. ";
  if (reference.optimum) text += "Dotted: the exact optimum.";
  if (!reference.optimum)
    text +=
        "What the cheap simulator's own policy and the best policy are worth is not known: the "
        "expensive simulator has no model, and to test them would cost episodes.";
  return text;
}

std::string answer(const Learner& learner, const LearnOutcome& outcome,
                   const LearnReference& reference) {
  const Summary& tested = outcome.value.returns;
  std::string text;
  if (tested.n > 1)
    text = fmt::format(
        "The policy is worth {:.4g} [{:.4g}, {:.4g}] on the expensive simulator: the mean "
        "discounted return of {} test episodes, with a 95 % interval.",
        tested.mean, tested.low, tested.high, tested.n);
  else if (tested.n == 1)
    text = fmt::format("One test episode of the policy returned {:.4g}.", tested.mean);
  else
    text = "The policy was not tested.";
  if (const auto& helped = outcome.value.controlled)
    text += fmt::format(
        " With the cheap simulator as a control variate it is {:.4g} [{:.4g}, {:.4g}], as sharp as "
        "{:.0f} test episodes.",
        helped->value, helped->low, helped->high, helped->worth_episodes);
  if (!outcome.value.caution.empty()) text += fmt::format(" Caution: {}.", outcome.value.caution);
  if (outcome.believed)
    text += fmt::format(" The agent itself expects {:.4g}.", outcome.believed->value);
  if (reference.policy) text += fmt::format(" The exact value is {:.4g}.", *reference.policy);
  const Bill bill = learner.bill();
  return text + fmt::format(" It took {} expensive episodes.", bill.episodes);
}

Table bill_table(const Bill& bill) {
  Table table{.title = "The bill", .rows = {{"", "number", "cost"}}, .note = {}};
  const auto count = [](std::uint64_t n) { return group_digits(static_cast<double>(n)); };
  table.rows.push_back({"expensive episodes, to learn from", count(bill.training), ""});
  if (bill.pilot > 0) table.rows.push_back({"of these in the pilot", count(bill.pilot), ""});
  if (bill.reused > 0)
    table.rows.push_back({"episodes that other runs paid for", count(bill.reused), "0"});
  table.rows.push_back({"expensive episodes, to test the policy", count(bill.testing), ""});
  table.rows.push_back({"attempts that failed", count(bill.failed), ""});
  table.rows.push_back({"episodes that were skipped", count(bill.skipped), ""});
  table.rows.push_back({"steps of the expensive simulator", count(bill.steps),
                        fmt::format("{:.6g}", bill.high_cost)});
  table.rows.push_back({"steps of the cheap simulator", count(bill.low_steps),
                        fmt::format("{:.6g}", bill.low_cost)});
  if (bill.test_low_steps > 0)
    table.rows.push_back({"of these to sharpen the test", count(bill.test_low_steps), ""});
  table.rows.push_back({"together", "", fmt::format("{:.6g}", bill.cost())});
  table.note = fmt::format(
      "The cheap simulator's share of the cost is {:.1f} %. Costs are {}. {:.1f} s "
      "of wall time.",
      100 * bill.low_share(),
      bill.unit == CostUnit::seconds    ? "seconds, measured in the first episodes"
      : bill.unit == CostUnit::reported ? "what the simulator reported"
                                        : "declared",
      bill.clock);
  return table;
}

Table failures_table(const FailureReport& report) {
  if (report.regions.empty()) return {};
  Table table{
      .title = "Where attempts failed",
      .rows = {{"state", "attempts that came there", "failed there", "share"}},
      .note = report.is_concentrated
                  ? "Failures are not spread evenly. Episodes that were skipped are missing "
                    "from these states, which biases what is learnt."
                  : "Nothing says that some states fail more often than others."};
  for (const FailureReport::Region& region : report.regions)
    table.rows.push_back({fmt::format("{}", region.state), fmt::format("{}", region.visits),
                          fmt::format("{}", region.failed),
                          fmt::format("{:.1f} %", 100 * static_cast<double>(region.failed) /
                                                      static_cast<double>(region.visits))});
  return table;
}

std::string pilot_section(const Learner& learner) {
  const auto pilot = learner.pilot();
  if (!pilot) return "";
  std::string out = fmt::format(
      "<section class=\"pilot\"><h2>The pilot: {}</h2><p>{} learnt from then on.</p><ul>",
      escape_html(name_of(pilot->advice)), escape_html(pilot->goes_on_with));
  for (const std::string& sentence : explain(pilot->diagnosis))
    out += fmt::format("<li>{}</li>", escape_html(sentence));
  const RunConfig& config = learner.spec().config();
  if (!config.agent->pilot(config.agent_parameters, 0, 1).is_what_is_judged)
    out += "<li>The pilot judges MFMCRL+ (variant = \"plus\"), not the estimator of this run.</li>";
  return out + "</ul></section>\n";
}

Table findings_table(const Learner& learner) {
  std::vector<std::string> names;
  std::map<std::uint64_t, std::map<std::string, double>> by_episode;
  for (const Measurement& m : learner.findings()) {
    if (std::ranges::find(names, m.metric) == names.end()) names.push_back(m.metric);
    by_episode[m.episode][m.metric] = m.value;
  }
  Table table{.title = "What the agent found out about the cheap simulator",
              .rows = {{"after episodes"}},
              .note = {}};
  for (const std::string& name : names) table.rows[0].push_back(name);
  for (const auto& [episode, values] : by_episode) {
    std::vector<std::string> row = {group_digits(static_cast<double>(episode))};
    for (const std::string& name : names)
      row.push_back(values.contains(name) ? fmt::format("{:.3g}", values.at(name)) : "–");
    table.rows.push_back(std::move(row));
  }
  std::vector<std::string> notes;
  for (const FactInfo& info : learner.spec().config().agent->findings)
    if (std::ranges::find(names, info.name) != names.end())
      notes.push_back(fmt::format("{}: {}", info.name, info.description));
  table.note = fmt::format("{}.", fmt::join(notes, "; "));
  return table;
}

Table policy_table(const Learner& learner) {
  if (learner.table_agent() == nullptr) return {};
  const TabularAgent& agent = *learner.table_agent();
  const Behaviour policy = agent.greedy();
  Table table{.title = "The policy",
              .rows = {{"state", "best action", "value of it"}},
              .note = "The value is what the agent expects of the best action."};
  if (policy.heads.size() > kMostShownStates) return {};
  for (State s = 0; s < policy.heads.size(); ++s) {
    const std::span<const Action> best = agent.q().greedy_actions(s);
    table.rows.push_back({fmt::format("{}", s), fmt::format("{}", fmt::join(best, ", ")),
                          fmt::format("{:.4g}", agent.q()(s, best[0]))});
  }
  return table;
}

std::string fact(const std::string& name, const std::string& value) {
  return value.empty()
             ? ""
             : fmt::format("<dt>{}</dt><dd>{}</dd>", escape_html(name), escape_html(value));
}

}  // namespace

std::string make_learn_page(const Learner& learner, const std::string& command) {
  const LearnOutcome outcome = learner.outcome();
  const LearnReference reference = learner.reference();
  const LearnSpec& spec = learner.spec();
  std::string out = kHead;
  out += fmt::format("<title>{} · hilo</title>\n<style>\n{}</style>\n</head>\n<body>\n",
                     escape_html(spec.spec.name), page_css());
  out += fmt::format(
      "<header class=\"top\"><h1>{}: what did the money buy?</h1><p "
      "class=\"lead\">{}</p></header>\n"
      "<main id=\"main\">\n",
      escape_html(spec.spec.name), escape_html(answer(learner, outcome, reference)));
  out += fmt::format("<figure>{}<p class=\"note\">{}</p></figure>\n",
                     returns_picture(learner, outcome, reference),
                     escape_html(caption(outcome, reference)));
  const ControlPictures pictures = make_control_pictures(learner);
  out += pictures.episode + pictures.policy;
  const auto block = [&](const Table& table) {
    if (!table.empty()) out += html_table(table);
  };
  block(bill_table(learner.bill()));
  const FailureReport failures = learner.failures();
  block(failures_table(failures));
  if (!failures.last_error.empty())
    out += fmt::format("<p class=\"note\">The last failure: {}</p>\n",
                       escape_html(failures.last_error));
  out += pilot_section(learner);
  out += pictures.residuals;
  if (!learner.findings().empty())
    out += fmt::format("<figure>{}</figure>\n", findings_picture(learner.findings()));
  block(findings_table(learner));
  block(policy_table(learner));
  for (const std::string& note : learner.notes())
    out += fmt::format("<p class=\"missing\">{}</p>\n", escape_html(note));
  out += fmt::format(
      "</main>\n<footer><h2>About this page</h2><dl "
      "class=\"facts\">{}{}{}{}{}{}</dl><details><summary>"
      "The spec</summary><pre>{}</pre></details><p>Nothing on this page is loaded from "
      "anywhere.</p>"
      "</footer>\n</body>\n</html>\n",
      fact("agent", learner.agent_label()), fact("chosen", spec.choice),
      fact("stopped by the budget of", outcome.stopped_by),
      fact("journal", learner.journal().file().filename().string()), fact("command", command),
      fact("made by", program_name()), escape_html(spec.spec.text));
  return out;
}

}  // namespace hilo
