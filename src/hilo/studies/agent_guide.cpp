#include "hilo/studies/agent_guide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/report/table.hpp"
#include "hilo/studies/contest.hpp"

namespace hilo {
namespace {

constexpr double kLowCost = 0.001;  // of a low-fidelity step, in steps of the high fidelity
constexpr const char* kLevels[] = {"80 %", "90 %", "95 %"};

// What the guide says about an agent besides its numbers.
struct Remark {
  const char* agent;  // its label
  const char* kind;   // its name in specs
  const char* grade;
  const char* checks;
  const char* when;
};

constexpr const char* kPaper = "checked against its paper";
constexpr const char* kExact = "checked against exact values";
constexpr const char* kExperimental = "experimental";

constexpr Remark kRemarks[] = {
    {"Bayes", "`bayes`", kExact,
     "beliefs by hand, optimum of a 5-state problem, unmoved by a simulator of pure noise",
     "The one to take where a model of all pairs fits into memory and planning time is cheaper "
     "than episodes. It weighs the cheap simulator by how well that foretells."},
    {"Bayes-high", "`bayes-high`", kExact, "beliefs by hand, optimum of a 5-state problem",
     "There is no cheap simulator, or to see what it adds."},
    {"MFMCRL+", "`mfmcrl`, `variant = \"plus\"`", kExact,
     "bias, variance and coverage against exact values (docs/estimators.md)",
     "No model is wanted: memory and time are those of Monte Carlo control, and the simulator may "
     "be wrong."},
    {"MFMCRL as-published", "`mfmcrl`, `variant = \"as-published\"`", kPaper,
     "published curves reproduced (docs/results.md)", "To reproduce the paper's curves."},
    {"MFMCRL as-written", "`mfmcrl`", kPaper, "Algorithm 1 by hand (docs/results.md)",
     "To reproduce Algorithm 1 as the paper has it."},
    {"MCRL", "`mcrl`", kPaper, "published curves reproduced (docs/results.md)",
     "The paper's baseline."},
    {"Q-learning", "`q-learning`", kExact, "updates by hand, optimum of a 5-state problem",
     "There is no cheap simulator and no room for a model."},
    {"expected Sarsa", "`expected-sarsa`", kExact, "updates by hand, optimum of a 5-state problem",
     "As Q-learning; often a little better, because it knows that it explores."},
    {"MFRL", "`mfrl`", kExperimental,
     "plans by hand, optimum of a 5-state problem; its paper's robots are not at hand, and two "
     "departures are named in agent/mfrl.hpp",
     "The cheap simulator is optimistic everywhere, by a known tolerance, and small."},
    {"R-max", "`rmax`", kExact, "plans by hand, optimum of a 5-state problem",
     "The single-fidelity form of MFRL, to compare it with."},
    {"transfer", "`transfer`", kExact, "updates by hand, optimum of a 5-state problem",
     "The cheap simulator is nearly right."},
    {"Dyna-Q", "`dyna-q`", kExperimental, "updates by hand",
     "Only with a simulator that is right: it never asks."},
    {"low only", "`low-only`", kExact, "values of a deterministic problem",
     "Not one expensive episode can be had."},
};

// The agents were not tuned with the same care, which the reader must know.
constexpr const char* kHowDefaultsWereChosen =
    "**How the defaults were chosen.** They were the same for all problems and seeds of the "
    "contest, but not chosen blindly, and not with the same care for each agent. `bayes` was "
    "developed on random MDPs and docking, the very kinds of problems it is judged on here, though "
    "on other seeds (100 and up): six values of `optimism` and about ten forms of its prior and of "
    "its answer were compared, and errors that showed in first runs of the contest were mended "
    "before these. Its versions 2 and 3 were developed on the sequential problems of "
    "[misleading.md](misleading.md) and then checked on random MDPs and docking. `known_after` and "
    "`known_steps` of `rmax` and `mfrl` were chosen on docking, "
    "other seeds. The step exponent of `q-learning`, which the other step-by-step agents share, is "
    "the best of five tried on the random MDPs of this contest itself, which favours them. "
    "`dyna-q`, `transfer` and `low-only` were not tuned beyond that, nor was `mfmcrl` here. So "
    "the gap between `bayes` and the untuned agents is partly one of effort; architecture search, "
    "on which only its speed was worked on, is its fairest test.\n\n";

std::string number(double x) {
  if (!std::isfinite(x)) return "not reached";
  return group_digits(x < 1000 ? std::round(x) : 10 * std::round(x / 10));
}

std::string number_in(double x, const Interval& i) {
  if (!std::isfinite(x) && !std::isfinite(i.low)) return "not reached";
  return fmt::format("{} [{}, {}]", number(x), number(i.low),
                     std::isfinite(i.high) ? number(i.high) : "–");
}

std::string summary_cell(const Summary& s, int digits) {
  return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", s.mean, digits, s.low, digits, s.high, digits);
}

std::string row(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) out += fmt::format(" {} |", cell);
  return out + "\n";
}

std::string head(const std::vector<std::string>& cells) {
  std::string out = row(cells) + "| --- |";
  for (std::size_t i = 1; i < cells.size(); ++i) out += " ---: |";
  return out + "\n";
}

const Need* need_of(const ContestTable& table, const ContestEntry& entry, std::string_view level) {
  for (std::size_t i = 0; i < entry.analysis.needs.size(); ++i)
    if (table.analysis.levels[i].name == level) return &entry.analysis.needs[i];
  return nullptr;
}

// Sorted by the area under the curve, largest first: it rewards fast learning and a high end level.
std::vector<const ContestEntry*> ranked(const ContestTable& table) {
  std::vector<const ContestEntry*> entries;
  for (const ContestEntry& entry : table.entries) entries.push_back(&entry);
  std::ranges::sort(entries, [](const ContestEntry* a, const ContestEntry* b) {
    return summarise(a->areas).mean > summarise(b->areas).mean;
  });
  return entries;
}

// "90 % of the optimum after 110 (random MDP, -10 dB), ..."
std::string episodes_to_90(const std::vector<ContestTable>& tables, const std::string& agent) {
  std::string out;
  for (const ContestTable& table : tables) {
    const ContestEntry* entry = table.find(agent);
    const Need* need = entry != nullptr ? need_of(table, *entry, "90 %") : nullptr;
    if (need == nullptr) continue;
    if (!out.empty()) out += ", ";
    out += fmt::format("{} ({})", number(need->episodes.value), table.problem->title);
  }
  return out;
}

std::string advice(const std::vector<ContestTable>& tables) {
  std::string out = "## Which to take when\n\n";
  for (const Remark& remark : kRemarks) {
    const std::string needs = episodes_to_90(tables, remark.agent);
    if (needs.empty()) continue;
    out += fmt::format("- **{}** ({}). {} Expensive episodes until 90 % of the optimum: {}.\n",
                       remark.agent, remark.kind, remark.when, needs);
  }
  return out;
}

// Comparisons in which an agent is worse: the interval of the paired difference lies below 0.
std::string failures(const std::vector<ContestTable>& tables) {
  std::string out =
      "\n## What fails\n\nDifferences of the level at the end, paired by seed, where "
      "they are worse for sure.\n\n";
  const auto compare = [&](const char* agent, const char* other, const char* text) {
    std::string where;
    for (const ContestTable& table : tables) {
      const ContestEntry* x = table.find(agent);
      const ContestEntry* y = table.find(other);
      if (x == nullptr || y == nullptr || table.seeds < 2) continue;
      Moments difference;
      for (std::size_t i = 0; i < x->final_levels.size(); ++i)
        difference.add(x->final_levels[i] - y->final_levels[i]);
      const Summary s = summarise(difference);
      if (s.high >= 0) continue;
      where += fmt::format("{}{:+.3f} [{:+.3f}, {:+.3f}] ({})", where.empty() ? "" : ", ", s.mean,
                           s.low, s.high, table.problem->title);
    }
    if (!where.empty()) out += fmt::format("- **{} less {}**: {}. {}\n", agent, other, where, text);
  };
  compare("transfer", "Q-learning",
          "A value that the cheap simulator overrates is acted on until expensive episodes have "
          "worn it down, and one that it underrates is tried by chance alone: worse than no "
          "simulator.");
  compare("Dyna-Q", "Q-learning",
          "Ten steps of planning outvote each real one, and the simulator is wrong.");
  compare("low only", "Q-learning", "The simulator's own optimum is not that of the real problem.");
  compare("MFMCRL as-published", "MCRL",
          "The estimator's bias (math.md), with action 0 instead of the policy.");
  compare("MFMCRL as-written", "MCRL", "The estimator's bias (math.md).");
  compare("Bayes", "Bayes-high", "Here the prior costs more than it gives.");
  return out;
}

std::string grades() {
  std::string out = "\n## How far each is checked\n\n" + row({"agent", "kind", "grade", "by"}) +
                    "| --- | --- | --- | --- |\n";
  for (const Remark& remark : kRemarks)
    out += row({remark.agent, remark.kind, remark.grade, remark.checks});
  return out +
         "\nAll of them pass the battery that every agent must pass: saved and loaded in the "
         "middle "
         "they continue with the same bits, on any number of threads, and their results are pinned "
         "to the last bit.\n";
}

std::string problem_section(const ContestTable& table, const std::string& figures) {
  const bool is_value = table.analysis.level_metric == "policy_value";
  std::string out = fmt::format(
      "\n## {}\n\n{} seeds, {} episodes. Level: the exact {} of the greedy policy; area: its mean "
      "over all of training. Ranked by area.\n\n![Share of the optimum]({}/agents-{}.png)\n\n",
      table.title, table.seeds, group_digits(static_cast<double>(table.last_episode)),
      is_value ? "discounted value" : "mean reward per step", figures, table.problem->id);
  const int digits = std::string_view(table.problem->id) == "nas" ? 2 : 3;
  out += head({"agent", "level at the end", "share of the optimum", "area", "low-fidelity steps"});
  for (const ContestEntry* entry : ranked(table))
    out += row({entry->agent, summary_cell(summarise(entry->final_levels), digits),
                entry->analysis.share ? summary_cell(*entry->analysis.share, 3) : "–",
                summary_cell(summarise(entry->areas), digits), number(entry->low_steps.back())});
  out += fmt::format(
      "\nExpensive episodes until the mean over seeds reaches a share of the optimum, then what "
      "both fidelities cost until there, in steps of the high fidelity (a low-fidelity step costs "
      "{}):\n\n",
      kLowCost);
  std::vector<std::string> title = {"agent"};
  for (const char* level : kLevels) {
    title.emplace_back(level);
    title.emplace_back("cost");
  }
  out += head(title);
  for (const ContestEntry* entry : ranked(table)) {
    std::vector<std::string> cells = {entry->agent};
    for (const char* level : kLevels) {
      const Need* need = need_of(table, *entry, level);
      if (need == nullptr) {
        cells.insert(cells.end(), {"–", "–"});
        continue;
      }
      const Estimate& e = need->episodes;
      const auto cost = [&](double episode) { return entry->cost(episode, kLowCost); };
      cells.push_back(number_in(e.value, e.interval));
      cells.push_back(std::isfinite(e.value)
                          ? number_in(cost(e.value), {cost(e.interval.low), cost(e.interval.high)})
                          : "–");
    }
    out += row(cells);
  }
  return out;
}

std::string matrix(const std::vector<ContestTable>& tables, ContestMeasure measure,
                   const char* title) {
  const std::vector<std::string> agents = agents_of(tables);
  std::vector<std::string> cells = {title};
  for (const std::string& agent : agents) cells.push_back(agent);
  std::string out = head(cells);
  double widest = 0;
  for (const std::string& agent : agents) {
    cells = {agent};
    for (const std::string& other : agents) {
      const auto chance =
          agent == other ? std::nullopt : chance_to_beat(tables, agent, other, measure);
      cells.push_back(chance ? fmt::format("{:.0f} %", 100 * chance->value) : "–");
      if (chance)
        widest = std::max(
            {widest, chance->interval.high - chance->value, chance->value - chance->interval.low});
    }
    out += row(cells);
  }
  return out +
         fmt::format("\n95 % bootstrap intervals reach at most {:.0f} points to either side.\n\n",
                     std::ceil(100 * widest));
}

}  // namespace

std::string make_agent_guide(const Store& store, const std::string& command,
                             const std::string& figures) {
  const auto tables = read_contest(store);
  std::string out = fmt::format(
      "# Which agent, when\n\nWritten by `{}` from the results of `hilo reproduce contest`; no "
      "number is typed by hand. Every agent has its defaults, listed "
      "by `hilo list agents` (where a problem needs a bound on its values, the spec in "
      "`experiments/` says so), and the same high-fidelity episodes as its budget. Agents met the "
      "same problems and the same streams on each seed. Brackets are 95 % intervals over "
      "seeds.\n\n",
      command);
  out += kHowDefaultsWereChosen;
  out += advice(tables);
  out += failures(tables);
  out += grades();
  for (const ContestTable& table : tables) out += problem_section(table, figures);
  out +=
      "\n## Who beats whom\n\nHow likely the agent of the row does better than that of the column "
      "on the same seed, averaged over the problems that both were run on; ties count half. First "
      "by the area under the curve, which favours fast learners, then by the level at the end.\n\n";
  out += matrix(tables, ContestMeasure::area, "area");
  out += matrix(tables, ContestMeasure::final_level, "level at the end");
  return out;
}

}  // namespace hilo
