#include "hilo/studies/estimator_guide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "hilo/core/error.hpp"
#include "hilo/report/detail/gnuplot.hpp"
#include "hilo/report/results.hpp"
#include "hilo/report/table.hpp"

namespace hilo {
namespace {

// A column of the table: a problem on which the estimators are compared.
struct Column {
  const char* title;
  const char* snr;  // of the random MDP; "" for docking
};
constexpr std::array<Column, 4> kColumns = {
    {{"-10 dB", "-10"}, {"-3 dB", "-3"}, {"+3 dB", "3"}, {"docking", ""}}};

struct Row {
  std::string method;
  std::array<Summary, kColumns.size()> gain{};  // n = 0: not run
};

class Guide {
 public:
  explicit Guide(const Store& store) {
    const auto known = store.experiments();
    for (const char* name : {"estimators", "coupling", "docking"})
      if (std::ranges::find(known, name) == known.end())
        throw Error(
            Errc::usage,
            fmt::format("the guide needs the experiment '{}': hilo reproduce estimators", name));
    const Results estimators(store, "estimators");
    const Results coupling(store, "coupling");
    const Results docking(store, "docking");
    add(estimators, "policy_reward", true);
    add(docking, "policy_value", true);
    add(coupling, "policy_reward", false);
    seeds_ = estimators.num_seeds(baseline_of(estimators));
    const Configuration& random = estimators.configuration_of(estimators.agents().back());
    const Configuration& vehicle = docking.configuration_of(docking.agents().back());
    const auto square = [&](const char* key) {
      const double x = vehicle.number(key);
      return x * x;
    };
    setting_ = fmt::format(
        "Gain over MCRL after {} high-fidelity episodes, m = {}. Random MDPs ({} states, {} "
        "actions, "
        "simplex rows and standard exploration unless as-published): exact mean reward per step, "
        "MCRL "
        "{:.3f}, optimum "
        "{:.3f}. "
        "Docking ({} states): exact discounted value from the start, MCRL {:.3f}, optimum {:.3f}.",
        group_digits(static_cast<double>(estimators.last_episode())),
        random.value("agent.low_rollouts"), random.value("problem.states"),
        random.value("problem.actions"), last(estimators, "policy_reward"),
        mean_of_problem(estimators, "optimal_reward").value_or(0),
        group_digits(square("problem.cells") * square("problem.speeds") + 3),
        last(docking, "policy_value"), mean_of_problem(docking, "optimal_value").value_or(0));
  }

  const std::vector<Row>& rows() const { return rows_; }
  std::size_t seeds() const { return seeds_; }
  const std::string& setting() const { return setting_; }

  const Row* find(const std::string& method) const {
    const auto found = std::ranges::find(rows_, method, &Row::method);
    return found == rows_.end() ? nullptr : &*found;
  }

 private:
  static double last(const Results& results, const std::string& metric) {
    return summarise(values_of(results.final_of(baseline_of(results), metric))).mean;
  }

  // Adds the gains over the baseline of the same experiment. Without `paths`, agents with the
  // default coupling by the path are left out: they are in the table already.
  void add(const Results& results, const std::string& metric, bool paths) {
    const std::string baseline = baseline_of(results);
    for (const std::string& agent : results.agents()) {
      if (agent == baseline) continue;
      const Configuration& configuration = results.configuration_of(agent);
      if (!paths && configuration.value("agent.coupling").empty()) continue;
      const std::string snr = configuration.value("problem.snr_db");
      const bool docking = configuration.value("problem.kind") == "docking";
      for (std::size_t c = 0; c < kColumns.size(); ++c) {
        // An agent that never uses the low fidelity has no SNR and is shown in the columns of all.
        const bool column_of_docking = std::string_view(kColumns[c].snr).empty();
        if (column_of_docking != docking || (!snr.empty() && kColumns[c].snr != snr)) continue;
        Row& row = row_of(snr.empty() ? agent : without_noise(agent, snr));
        row.gain[c] = results.paired_difference(agent, baseline, metric);
      }
    }
  }

  Row& row_of(const std::string& method) {
    const auto found = std::ranges::find(rows_, method, &Row::method);
    if (found != rows_.end()) return *found;
    rows_.push_back({method, {}});
    return rows_.back();
  }

  std::vector<Row> rows_;
  std::size_t seeds_ = 0;
  std::string setting_;
};

std::string cell(const Summary& s) {
  if (s.n == 0) return "–";
  return fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", s.mean, s.low, s.high);
}

// In how many columns the 95 % interval of the gain lies above 0, and in how many below.
std::string summary_of(const Row& row) {
  int helps = 0, hurts = 0, all = 0;
  for (const Summary& s : row.gain) {
    if (s.n == 0) continue;
    ++all;
    helps += s.low > 0 ? 1 : 0;
    hurts += s.high < 0 ? 1 : 0;
  }
  return fmt::format("helps in {} of {}, hurts in {}", helps, all, hurts);
}

std::string advice(const Guide& guide) {
  std::string out;
  const auto line = [&](const char* method, const char* text) {
    if (const Row* row = guide.find(method))
      out += fmt::format("- {} Measured here: it {}.\n", text, summary_of(*row));
  };
  line(
      "MFMCRL+",
      "**`empirical-bayes`** (MFMCRL+): the one to take, whatever is known of the cheap simulator. "
      "It learns from all pairs how far the two fidelities lie apart, and trusts accordingly.");
  line("MFMCRL bias-aware",
       "**`bias-aware`**: where the biases of pairs have no common part worth taking out, or as a "
       "more timid stand-in.");
  line("MFMCRL finite-m",
       "**`finite-m`**: only if the dynamics are known to be the same (a noisy or a coarse reward "
       "on the true simulator). Otherwise it has the bias of the paper's estimator.");
  line("MFMCRL as-written", "**`paper`**, as Algorithm 1 has it: to reproduce the paper.");
  line("MFMCRL as-published",
       "**`paper`** with what the published synthetic runs did besides: to reproduce their curves. "
       "Where the future matters it misleads.");
  line("MFMCRL+ coupling=common-random-numbers",
       "**`coupling = \"common-random-numbers\"`**: unbiased whatever the dynamics, for simulators "
       "that can be driven by given random numbers; it correlates less than the path does.");
  line("MFMCRL+ coupling=none",
       "**`coupling = \"none\"`**: for comparison. Nothing is shared with the cheap simulator, so "
       "what it gains is what fading returns gain by themselves.");
  const Row* fading = guide.find("MCRL weights=recency");
  const Row* plus = guide.find("MFMCRL+");
  if (fading != nullptr && plus != nullptr) {
    out +=
        "- **How much of it is the cheap simulator's?** Letting old returns fade helps plain Monte "
        "Carlo too (`weights = \"recency\"`); MFMCRL+ has what is beyond that from the cheap "
        "simulator:";
    for (std::size_t c = 0; c < kColumns.size(); ++c)
      if (fading->gain[c].n > 0 && plus->gain[c].n > 0)
        out += fmt::format("{} {:+.3f} of {:+.3f} ({})", c > 0 ? "," : "",
                           plus->gain[c].mean - fading->gain[c].mean, plus->gain[c].mean,
                           kColumns[c].title);
    out += ".\n";
  }
  return out;
}

// Measured by the test SequentialSlow.AMapThatForgetsTheOrderCostsAtFirst and by ablations of it.
constexpr const char* kWhenItHurts =
    "\n## When it hurts at first\n\n"
    "MFMCRL+ can fall behind plain Monte Carlo for the first few hundred episodes where T merges "
    "states that want different actions. An inventory with lead times shows it (2121 expensive "
    "states, 101 cheap ones without lead times; optimum −187, uniform policy −437; "
    "`SequentialSlow.AMapThatForgetsTheOrderCostsAtFirst`, exact values from the start, ± one "
    "standard error). If T keeps the stock and forgets the order that is on its way, MFMCRL+ minus "
    "MCRL is −20.8 ± 4.7 after 200 episodes and +22.6 ± 3.4 after 1000 (48 seeds). If T adds the "
    "order to the stock, it is +24.9 ± 4.4 and +36.8 ± 2.5.\n\n"
    "The cause is the part of the bias that differs between the actions of one state. Its standard "
    "deviation is only 10, where that of a return is about 250, but it says \"order again\" in "
    "every state, while the errors of plain Monte Carlo are larger and point anywhere. Where just "
    "this part is taken off (it is known exactly here), the loss turns into +32.6 ± 5.7 after 200 "
    "episodes (32 seeds), although the bias that differs between states, with a standard deviation "
    "of 47, stays in; without that other part the loss grows to −48.4 ± 5.7. A few returns cannot "
    "show a bias of 10 below a noise of 250, so the correction is right for the squared error and "
    "too large for the choice of an action, until a pair has some tens of returns. The offset, the "
    "fading weights and the sum over the states that T merges are not the cause: without each of "
    "them the loss stays (−19.2 ± 5.8, −18.1 ± 5.2; −8.6 ± 4.6 after 200 episodes but −19.5 ± 4.8 "
    "after 100).\n\n"
    "It is rare: of 86 inventories with other costs, lead times and maps, 8 seeds each, MFMCRL+ "
    "was "
    "above MCRL by more than two standard errors in 41 after 200 episodes, and below in this one. "
    "**Choose T so that whatever the best action depends on survives it.** Where that cannot be, "
    "`bias-aware` loses less at first (−4.0 ± 4.1 after 200 episodes, 32 seeds) and gains less "
    "later (+11.7 ± 3.6 after 1000).\n";

}  // namespace

std::string make_estimator_guide(const Store& store, const std::string& command,
                                 const std::string& figure) {
  const Guide guide(store);
  std::string out = fmt::format(
      "# Which estimator, when\n\nWritten by `{}` from the results of `hilo reproduce estimators`; "
      "no number is typed by hand but those of the last section. Intervals are 95 % intervals over "
      "{} "
      "seeds, paired by seed.\n\n",
      command, guide.seeds());
  out += advice(guide);
  out += fmt::format("\n![Gain over plain Monte Carlo]({}/{}.png)\n\n", figure, kEstimatorFigure);
  out += guide.setting() + "\n\n";
  out += "| method |";
  for (const Column& column : kColumns) out += fmt::format(" {} |", column.title);
  out += "\n| --- |";
  for (std::size_t c = 0; c < kColumns.size(); ++c) out += " ---: |";
  out += "\n";
  for (const Row& row : guide.rows()) {
    out += fmt::format("| {} |", row.method);
    for (const Summary& s : row.gain) out += fmt::format(" {} |", cell(s));
    out += "\n";
  }
  out +=
      "\nUnless a method says otherwise, `finite-m`, `bias-aware` and MFMCRL+ count every first "
      "visit of a roll-out (`pool = \"whole-paths\"`) and let old returns fade (`weights = "
      "\"recency\"`); as-written does neither. Rows with another coupling draw successors by "
      "inverse CDF and are compared with MCRL that does the same. The formulas, with their "
      "assumptions and references, stand at the top of the files in `src/hilo/estimator/`; "
      "[math.md](math.md) derives them, [docking.md](docking.md) describes the second problem.\n";
  out += kWhenItHurts;
  return out;
}

std::vector<std::filesystem::path> draw_estimator_guide(const Store& store,
                                                        const std::filesystem::path& folder) {
  const Guide guide(store);
  constexpr std::array<const char*, kColumns.size()> kColours = {"#D55E00", "#0072B2", "#009E73",
                                                                 "#000000"};
  GnuplotScript script;
  std::string labels;
  const auto& rows = guide.rows();
  for (std::size_t r = 0; r < rows.size(); ++r)
    labels += fmt::format("{}{} {}", r > 0 ? ", " : "", gnuplot_tic(fit_figure(rows[r].method)),
                          -static_cast<double>(r));
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    script.settings += fmt::format("$column{} << END\n", c);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const Summary& s = rows[r].gain[c];
      if (s.n == 0) continue;
      script.settings += fmt::format("{} {} {} {}\n", s.mean,
                                     -static_cast<double>(r) + 0.24 - 0.16 * static_cast<double>(c),
                                     s.low, s.high);
    }
    script.settings += "END\n";
    script.plot += fmt::format(
        "{}  $column{} using 1:2:3:4 with xerrorbars pt 7 ps 0.9 lw 2 lc rgb '{}' title {}",
        c > 0 ? ", \\\n" : "", c, kColours[c], gnuplot_quoted(kColumns[c].title));
  }
  script.settings += fmt::format(
      "set grid xtics lt 1 lw 1 lc rgb '#d0d0d0'\nset border 3\nset tics nomirror\n"
      "set title 'Gain over plain Monte Carlo, 95 % intervals over {} seeds'\n"
      "set xlabel 'gain in exact mean reward per step (docking: in exact value)'\n"
      "set ytics ({})\nset yrange [{}:0.8]\nset key outside top horizontal center\n"
      "set arrow from 0, graph 0 to 0, graph 1 nohead lw 2 lc rgb '#777777'\n",
      guide.seeds(), labels, -static_cast<double>(rows.size()) + 0.4);
  return run_gnuplot(script, folder, kEstimatorFigure);
}

}  // namespace hilo
