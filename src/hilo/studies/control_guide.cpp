#include "hilo/studies/control_guide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/report/bootstrap.hpp"
#include "hilo/report/detail/gnuplot.hpp"
#include "hilo/report/table.hpp"
#include "hilo/studies/control_contest.hpp"

namespace hilo {
namespace {

constexpr double kLevel = 0.9;
constexpr std::uint64_t kShown[] = {0, 1, 3, 8, 100, 1000};

std::string row(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) out += fmt::format(" {} |", cell);
  return out + "\n";
}

double median_at(std::span<const double> values, std::span<const std::uint32_t> places) {
  std::vector<double> drawn;
  for (const std::uint32_t i : places) drawn.push_back(values[i]);
  std::ranges::sort(drawn);
  // The lower one of the middle two, because values may be infinite.
  return drawn[(drawn.size() - 1) / 2];
}

std::string episodes_cell(const ControlEntry& entry) {
  const std::vector<double> needed = entry.needed(kLevel);
  const auto reached = std::ranges::count_if(needed, [](double n) { return std::isfinite(n); });
  const Bootstrap bootstrap(needed.size());
  std::vector<std::uint32_t> all(needed.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  const double median = median_at(needed, all);
  const Interval interval =
      bootstrap.interval([&](auto places) { return median_at(needed, places); });
  const auto number = [](double n) {
    return std::isfinite(n) ? group_digits(n) : std::string("–");
  };
  return fmt::format("{} [{}, {}]; {} of {} seeds",
                     std::isfinite(median) ? number(median) : "not reached", number(interval.low),
                     number(interval.high), reached, needed.size());
}

std::string score_cell(const ControlEntry& entry, std::uint64_t episode) {
  const std::vector<double> scores = entry.at(episode);
  if (scores.empty()) return "";
  const Quartiles q = quartiles(scores);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", q.median, q.q1, q.q3);
}

std::string scores(const ControlTable& table) {
  std::vector<std::string> head = {"agent", "cheap simulator"};
  for (const std::uint64_t episode : kShown) head.push_back(group_digits(double(episode)));
  head.push_back(fmt::format("episodes to {:.0f} %", 100 * kLevel));
  std::string out = row(head) + "| --- | --- |";
  for (std::size_t i = 2; i < head.size(); ++i) out += " ---: |";
  out += "\n";
  for (const ControlEntry& entry : table.entries) {
    std::vector<std::string> cells = {entry.agent, entry.quality.empty() ? "none" : entry.quality};
    for (const std::uint64_t episode : kShown) cells.push_back(score_cell(entry, episode));
    cells.push_back(episodes_cell(entry));
    out += row(cells);
  }
  return out;
}

// Of something that curves have, over the seeds that both entries have.
template <class Number>
std::string difference_cell(const ControlEntry& x, const ControlEntry& y, Number&& number_of) {
  Moments difference;
  for (const auto& [seed, curve] : x.curves)
    if (const auto other = y.curves.find(seed); other != y.curves.end())
      difference.add(number_of(curve) - number_of(other->second));
  const Summary s = summarise(difference);
  return fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", s.mean, s.low, s.high);
}

std::string differences(const ControlTable& table) {
  constexpr const char* kPairs[][2] = {{"corrected", "low only"},
                                       {"corrected", "corrected (high only)"},
                                       {"MFPG", "policy gradient"},
                                       {"MFPG control=corrected", "policy gradient"},
                                       {"transfer", "policy gradient"}};
  std::string out = row({"difference", "cheap simulator", "mean over all episodes", "at the end"}) +
                    "| --- | --- | ---: | ---: |\n";
  for (const auto& pair : kPairs)
    for (const char* quality : kControlQualities) {
      const ControlEntry* x = table.find(pair[0], quality);
      const ControlEntry* y = table.find(pair[1], quality);
      if (x == nullptr || y == nullptr || x->episodes != y->episodes) continue;
      const auto area = [&](const auto& curve) { return area_under_curve(x->episodes, curve); };
      const auto end = [](const auto& curve) { return curve.back(); };
      out += row({fmt::format("{} minus {}", pair[0], pair[1]), quality,
                  difference_cell(*x, *y, area), difference_cell(*x, *y, end)});
    }
  return out;
}

}  // namespace

std::string make_control_guide(const Store& store, const std::string& command,
                               const std::string& figures,
                               const std::function<ControlScale(const std::string& kind)>& scale) {
  std::string out = fmt::format(
      "# Control: all agents side by side\n\nMade by `hilo reproduce control` and `{}`. Three "
      "swing-ups with cheap simulators of three qualities: *good* is the usual one "
      "([control.md](control.md#the-problems)), *poor* has half the gravity (pendulum) or 0.4 "
      "times "
      "the force, *misleading* has gravity upside down or a reversed force. An agent without a "
      "cheap simulator is shown once.\n\n**Score**: 0 is zero action, 1 the best of ten policy "
      "searches in the expensive simulator with as many episodes as they want. Each cell is the "
      "median over seeds with the lower and upper quartile, after so many expensive episodes. "
      "*Episodes to 90 %* is the median with its 95 % bootstrap interval; – is beyond the episodes "
      "that were run. Differences are paired by seed, with 95 % intervals of the mean.\n",
      command);
  for (const ControlTable& table : read_control(store, scale)) {
    out += fmt::format(
        "\n## {}\n\nZero action has {:.1f}, the best policy {:.1f}; {} seeds.\n\n![Learning curves]"
        "({}/control-{}.png)\n\n{}\n{}",
        table.kind, table.scale.zero, table.scale.best, table.entries.front().curves.size(),
        figures, table.kind, scores(table), differences(table));
  }
  return out;
}

std::vector<std::filesystem::path> draw_control_guide(
    const Store& store, const std::filesystem::path& folder,
    const std::function<ControlScale(const std::string& kind)>& scale) {
  constexpr const char* kColours[] = {"#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00",
                                      "#56B4E9", "#000000", "#8C564B", "#7F7F7F"};
  std::vector<std::filesystem::path> files;
  for (const ControlTable& table : read_control(store, scale)) {
    GnuplotScript script;
    std::size_t k = 0;
    for (const ControlEntry& entry : table.entries) {
      if (!entry.quality.empty() && entry.quality != kControlQualities[0]) continue;
      script.settings += fmt::format("$agent{} << END\n", k);
      const std::vector<double> means = entry.means();
      for (std::size_t i = 0; i < means.size(); ++i)
        script.settings +=
            fmt::format("{} {}\n", std::max(0.5, double(entry.episodes[i])), means[i]);
      script.settings += "END\n";
      script.plot +=
          fmt::format("{}  $agent{} using 1:2 with lines lw 2.5 lc rgb '{}' title {}",
                      script.plot.empty() ? "" : ", \\\n", k, kColours[k % std::size(kColours)],
                      gnuplot_quoted(fit_figure(entry.agent)));
      ++k;
    }
    script.settings += fmt::format(
        "set grid lt 1 lw 1 lc rgb '#d0d0d0'\nset border 3\nset tics nomirror\nset logscale x\n"
        "set xtics add ('0' 0.5)\nset title {}\nset xlabel 'expensive episodes'\n"
        "set ylabel 'score, mean over seeds'\nset yrange [:1.05]\nset key outside right top\n",
        gnuplot_quoted(table.kind + ", good cheap simulator"));
    const auto drawn = run_gnuplot(script, folder, "control-" + table.kind);
    files.insert(files.end(), drawn.begin(), drawn.end());
  }
  return files;
}

}  // namespace hilo
