#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/report/detail/gnuplot.hpp"
#include "hilo/studies/agent_guide.hpp"
#include "hilo/studies/contest.hpp"

namespace hilo {

std::vector<std::filesystem::path> draw_agent_guide(const Store& store,
                                                    const std::filesystem::path& folder) {
  constexpr const char* kColours[] = {"#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7",
                                      "#E69F00", "#56B4E9", "#7F7F7F", "#8C564B", "#17BECF",
                                      "#BCBD22", "#9467BD", "#D62728"};
  const auto tables = read_contest(store);
  const std::vector<std::string> agents = agents_of(tables);
  std::vector<std::filesystem::path> files;
  for (const ContestTable& table : tables) {
    GnuplotScript script;
    double lowest = 1;
    for (std::size_t k = 0; k < agents.size(); ++k) {
      const ContestEntry* entry = table.find(agents[k]);
      if (entry == nullptr) continue;
      script.settings += fmt::format("$agent{} << END\n", k);
      for (std::size_t i = 0; i < entry->episodes.size(); ++i)
        if (entry->episodes[i] > 0) {
          script.settings += fmt::format("{} {}\n", entry->episodes[i], entry->share[i]);
          lowest = std::min(lowest, entry->share[i]);
        }
      script.settings += "END\n";
      script.plot +=
          fmt::format("{}  $agent{} using 1:2 with lines lw 2.5 dt {} lc rgb '{}' title {}",
                      script.plot.empty() ? "" : ", \\\n", k, 1 + k % 3,
                      kColours[k % std::size(kColours)], gnuplot_quoted(fit_figure(agents[k])));
    }
    script.settings += fmt::format(
        "set grid lt 1 lw 1 lc rgb '#d0d0d0'\nset border 3\nset tics nomirror\nset logscale x\n"
        "set title {}\nset xlabel 'high-fidelity episodes'\n"
        "set ylabel 'share of the optimum, mean over {} seeds'\nset yrange [{}:1.02]\n"
        "set key outside right top\n",
        gnuplot_quoted(table.title), table.seeds, std::max(-0.5, 0.05 * std::floor(lowest / 0.05)));
    const auto drawn = run_gnuplot(script, folder, fmt::format("agents-{}", table.problem->id));
    files.insert(files.end(), drawn.begin(), drawn.end());
  }
  return files;
}

}  // namespace hilo
