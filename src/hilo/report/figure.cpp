#include "hilo/report/figure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hilo/core/error.hpp"
#include "hilo/core/text.hpp"
#include "hilo/experiment/metrics.hpp"
#include "hilo/report/chart_data.hpp"
#include "hilo/report/colours.hpp"
#include "hilo/report/detail/gnuplot.hpp"
#include "hilo/report/experiment_report.hpp"
#include "hilo/report/published.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

void require_file_name(const std::string& name) {
  if (name.empty() || name[0] == '.' || name.find('/') != std::string::npos || !is_plain_text(name))
    throw Error(Errc::data, fmt::format("an experiment called '{}' cannot name a file", name));
}

// "36", or "20 to 36" where agents differ.
std::string seeds_of(const Results& results) {
  std::size_t least = results.num_seeds(results.agents()[0]);
  std::size_t most = least;
  for (const std::string& agent : results.agents()) {
    least = std::min(least, results.num_seeds(agent));
    most = std::max(most, results.num_seeds(agent));
  }
  return least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
}

constexpr const char* kCommon =
    "set grid lt 1 lw 1 lc rgb '#d0d0d0'\nset border 3\nset tics nomirror\n";

std::string title_line(const Results& results, const std::string& what) {
  return fmt::format("set title {}\n",
                     gnuplot_quoted(fmt::format("{}: {} over {} seeds", fit_figure(results.title()),
                                                what, seeds_of(results))));
}

// A dotted line at the exact level of the optimum, where the metric has one.
std::string optimum_line(const Results& results, const std::string& metric) {
  const std::string optimum = metric_named(metric).optimum;
  if (optimum.empty()) return "";
  if (const auto level = mean_of_problem(results, optimum))
    return fmt::format(
        "  {} with lines lw 2 dt 3 lc rgb '#777777' title 'discounted-optimal policy, exact', "
        "\\\n",
        *level);
  return "";
}

// An axis of episodes. Where they are few it is logarithmic: most is learnt in the first ones.
std::string episodes_axis(const Results& results) {
  const std::string label = "set xlabel 'high-fidelity episodes'\n";
  if (!results.has_vectors()) return label + "set xrange [0:*]\n";
  std::string tics = fmt::format("'0' {}", kBeforeFirst);
  const std::uint64_t last = std::max<std::uint64_t>(results.last_episode(), 1);
  for (std::uint64_t power = 1; power <= last; power *= 10)
    for (const std::uint64_t factor : {1U, 2U, 3U, 5U})
      if (factor * power <= last) tics += fmt::format(", {}", factor * power);
  return label + fmt::format("set logscale x\nset xtics ({})\nset xrange [{}:{}]\n", tics,
                             kBeforeFirst, last);
}

GnuplotScript curves_script(const Results& results, const std::string& metric) {
  GnuplotScript script;
  std::string bands;
  std::string lines;
  std::string marks;
  const auto comparisons = compare_with_published(results);
  const AgentColours colours(results);
  for (std::size_t i = 0; i < results.agents().size(); ++i) {
    const std::string& agent = results.agents()[i];
    const auto episodes = results.common_episodes(agent, metric);
    if (episodes.empty()) continue;
    const char* colour = colours.colour(agent);
    script.settings += fmt::format("$curve{} << END\n", i);
    for (const std::uint64_t episode : episodes) {
      const Summary s = results.at(agent, metric, episode);
      const double x =
          episode == 0 && results.has_vectors() ? kBeforeFirst : static_cast<double>(episode);
      script.settings += fmt::format("{} {} {} {}\n", x, s.mean, s.low, s.high);
    }
    script.settings += "END\n";
    bands += fmt::format(
        "  $curve{} using 1:3:4 with filledcurves fc rgb '{}' fs transparent solid 0.15 notitle, "
        "\\\n",
        i, colour);
    lines +=
        fmt::format("  $curve{} using 1:2 with lines lw 2 lc rgb '{}' dt {} title {}, \\\n", i,
                    colour, colours.is_dashed(agent) ? 2 : 1, gnuplot_quoted(fit_figure(agent)));
    std::string points;
    for (const Comparison& c : comparisons)
      if (c.published.agent == agent && c.published.metric == metric)
        points += fmt::format("{} {}\n", c.published.episode, c.published.value);
    if (points.empty()) continue;
    script.settings += fmt::format("$marks{} << END\n{}END\n", i, points);
    marks += fmt::format(
        "  $marks{} using 1:2 with points pt 6 ps 1.5 lw 2 lc rgb '{}' notitle, \\\n", i, colour);
  }
  if (!marks.empty())
    marks += "  NaN with points pt 6 ps 1.5 lw 2 lc rgb '#555555' title 'published mean', \\\n";
  script.plot = bands + lines + marks + optimum_line(results, metric);
  script.plot.resize(script.plot.size() - 4);  // the last ", \\\n"
  script.settings += kCommon + title_line(results, "mean and 95 % interval") +
                     episodes_axis(results) +
                     fmt::format("set ylabel {}\nset key inside bottom right font ',12'\n",
                                 gnuplot_quoted(fit_figure(metric_named(metric).axis)));
  return script;
}

GnuplotScript ratios_script(const Results& results) {
  GnuplotScript script;
  std::string labels;
  std::string boxes;
  std::string medians = "$medians << END\n";
  std::string outliers = "$outliers << END\n";
  std::string published = "$published << END\n";
  bool any_outlier = false;
  bool any_published = false;
  const AgentColours colours(results);
  const auto all = ratio_boxes(results);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RatioBox& b = all[i];
    const Quartiles& q = b.box.quartiles;
    script.settings += fmt::format("$box{} << END\n{} {} {} {} {}\nEND\n", i, i, q.q1,
                                   b.box.low_whisker, b.box.high_whisker, q.q3);
    boxes += fmt::format(
        "  $box{} using 1:2:3:4:5 with candlesticks lw 2 lc rgb '{}' dt {} fs empty notitle "
        "whiskerbars 0.5, \\\n",
        i, colours.colour(b.agent), colours.is_dashed(b.agent) ? 2 : 1);
    medians += fmt::format("{} {} {} {} {}\n", i, q.median, q.median, q.median, q.median);
    for (const double outlier : b.box.outliers) outliers += fmt::format("{} {}\n", i, outlier);
    any_outlier = any_outlier || !b.box.outliers.empty();
    if (b.published)
      published += fmt::format("{} {} {} {}\n", static_cast<double>(i) + 0.33, b.published->value,
                               b.published->q1, b.published->q3);
    any_published = any_published || b.published.has_value();
    labels += fmt::format("{}{} {}", i > 0 ? ", " : "", gnuplot_tic(fit_figure(b.agent)), i);
  }
  script.settings += medians + "END\n" + outliers + "END\n" + published + "END\n" + kCommon +
                     title_line(results, "variance ratio of the last 1000 episodes") +
                     fmt::format(
                         "set xtics ({}) rotate by 20 right font ',11'\n"
                         "set boxwidth 0.4\nset xrange [-0.6:{}]\nset yrange [0:*]\n"
                         "set ylabel 'variance ratio 1 − ρ²'\nset key top right\n"
                         "set bmargin 6\nset lmargin 12\nset rmargin 4\n",
                         labels, static_cast<double>(all.size()) - 0.4);
  script.plot = boxes;
  if (any_outlier)
    script.plot += "  $outliers using 1:2 with points pt 7 ps 0.5 lc rgb '#555555' notitle, \\\n";
  if (any_published)
    script.plot +=
        "  $published using 1:2:3:4 with yerrorbars pt 6 ps 1.2 lw 2 lc rgb '#555555' title "
        "'published median and quartiles', \\\n";
  script.plot +=
      "  $medians using 1:2:3:4:5 with candlesticks lw 3 lc rgb '#222222' fs empty notitle";
  return script;
}

std::string suffix_of(FigureKind figure) {
  switch (figure) {
    case FigureKind::learning:
      return "learning";
    case FigureKind::ratios:
      return "variance-ratio";
    case FigureKind::correlation:
      return "correlation";
    case FigureKind::optimal_actions:
      return "optimal-actions";
  }
  return "";
}

}  // namespace

std::vector<FigureKind> figures_of(const Results& results, bool with_learning) {
  std::vector<FigureKind> out;
  if (with_learning && results.has_metric(results.reward_metric()))
    out.push_back(FigureKind::learning);
  if (results.has_metric("correlation"))
    out.insert(out.end(), {FigureKind::ratios, FigureKind::correlation});
  if (with_learning && results.has_metric("optimal_actions"))
    out.push_back(FigureKind::optimal_actions);
  return out;
}

std::string caption_of(FigureKind figure) {
  switch (figure) {
    case FigureKind::learning:
      return "learning curves";
    case FigureKind::ratios:
      return "variance ratio at the end";
    case FigureKind::correlation:
      return "correlation over training";
    case FigureKind::optimal_actions:
      return "how often the greedy action is optimal";
  }
  return "";
}

std::string figure_name(const Results& results, FigureKind figure, bool with_learning) {
  const std::string& name = results.experiment();
  require_file_name(name);
  const FigureKind main = with_learning ? FigureKind::learning : FigureKind::ratios;
  return figure == main ? name : fmt::format("{}-{}", name, suffix_of(figure));
}

std::vector<fs::path> draw_curves(const Results& results, const std::string& metric,
                                  const fs::path& folder, const std::string& stem) {
  if (!results.has_metric(metric))
    throw Error(Errc::data,
                fmt::format("experiment '{}' has no results to draw", results.experiment()));
  require_file_name(stem);
  return run_gnuplot(curves_script(results, metric), folder, stem);
}

std::vector<fs::path> draw_figure(const Results& results, FigureKind figure, bool with_learning,
                                  const fs::path& folder) {
  const std::string stem = figure_name(results, figure, with_learning);
  switch (figure) {
    case FigureKind::learning:
      return draw_curves(results, results.reward_metric(), folder, stem);
    case FigureKind::correlation:
      return draw_curves(results, "correlation", folder, stem);
    case FigureKind::optimal_actions:
      return draw_curves(results, "optimal_actions", folder, stem);
    case FigureKind::ratios:
      return run_gnuplot(ratios_script(results), folder, stem);
  }
  return {};
}

}  // namespace hilo
