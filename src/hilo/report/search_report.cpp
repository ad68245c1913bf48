#include "hilo/report/search_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "hilo/env/nas/space.hpp"
#include "hilo/report/html.hpp"
#include "hilo/report/markdown.hpp"

namespace hilo {
namespace {

std::string mean_of(const Results& results, const std::string& agent, const char* metric,
                    int digits) {
  const Summary s = summarise(values_of(results.final_of(agent, metric)));
  if (s.n < 2) return s.n == 0 ? "–" : fmt::format("{:.{}f}", s.mean, digits);
  return fmt::format("{:.{}f} ± {:.{}f}", s.mean, digits, s.standard_error, digits);
}

std::string rounded_mean(const Results& results, const std::string& agent, const char* metric) {
  return group_digits(std::round(summarise(values_of(results.final_of(agent, metric))).mean));
}

// How an edge of a cell is drawn: its nodes, and the heights of the control point and of the label.
struct Arc {
  std::uint32_t from, to;
  double control_y, label_y;
};
constexpr Arc kArcs[6] = {{0, 1, 150, 138}, {0, 2, 20, 62}, {0, 3, 330, 252},
                          {1, 2, 150, 138}, {1, 3, 20, 62}, {2, 3, 150, 138}};
constexpr double kNodeX[4] = {60, 240, 420, 600};
constexpr double kNodeY = 150;

// skip_connect, none, nor_conv_3x3, nor_conv_1x1, avg_pool_3x3
constexpr const char* kEdgeColour[] = {"#56b4e9", "#999999", "#d55e00", "#e69f00", "#009e73"};

// The best architecture that any run of an experiment trained in the high fidelity.
struct BestArchitecture {
  Architecture architecture = 0;
  double accuracy = 0;
  std::uint64_t rank = 0;  // among all architectures; 1 is the best
  std::string agent;
  std::uint64_t seed = 0;
};

std::optional<BestArchitecture> best_architecture(const Results& results) {
  std::optional<BestArchitecture> best;
  for (const std::string& agent : results.agents()) {
    const BySeed& accuracy = results.final_of(agent, "best_accuracy");
    const BySeed& number = results.final_of(agent, "best_architecture");
    const BySeed& rank = results.final_of(agent, "best_rank");
    if (accuracy.size() != number.size() || accuracy.size() != rank.size()) continue;
    for (std::size_t i = 0; i < accuracy.size(); ++i)
      if (!best || accuracy[i].second > best->accuracy)
        best = {static_cast<Architecture>(number[i].second), accuracy[i].second,
                static_cast<std::uint64_t>(rank[i].second), agent, accuracy[i].first};
  }
  if (best && best->architecture >= NasSpace().size()) return std::nullopt;  // not a valid number
  return best;
}

Table search_table(const Results& results) {
  Table table{
      .title = "Architectures found",
      .rows = {{"agent", "seeds", "best accuracy", "median rank", "random search", "evolution",
                "trained, high", "trained, low", "epochs"}},
      .note =
          "Mean ± standard error over seeds at the end of training. Best accuracy is the highest "
          "high-fidelity accuracy of any architecture that a run trained, in percent, and its "
          "rank that among all 15 625. Random search and regularised evolution (population 50, "
          "sample 10) trained as many distinct architectures in the high fidelity as the run. "
          "Epochs count every distinct architecture once in each fidelity."};
  for (const std::string& agent : results.agents()) {
    if (!results.has_metric(agent, "best_accuracy")) continue;
    table.rows.push_back(
        {agent, fmt::format("{}", results.num_seeds(agent)),
         mean_of(results, agent, "best_accuracy", 2),
         fmt::format("{:.0f}", quartiles(values_of(results.final_of(agent, "best_rank"))).median),
         mean_of(results, agent, "random_search_best", 2),
         mean_of(results, agent, "evolution_best", 2),
         rounded_mean(results, agent, "architectures_high"),
         rounded_mean(results, agent, "architectures_low"),
         rounded_mean(results, agent, "training_epochs")});
  }
  return table;
}

std::string cell_picture(Architecture architecture) {
  const NasSpace space;
  std::string out = fmt::format(
      "<svg class=\"cell\" viewBox=\"0 0 660 280\" role=\"img\" aria-label=\"the cell {}\">",
      nasbench201::to_string(architecture));
  for (std::uint32_t e = 0; e < 6; ++e) {
    const Arc& arc = kArcs[e];
    const std::uint32_t operation = space.operation(architecture, e);
    const double x1 = kNodeX[arc.from];
    const double x2 = kNodeX[arc.to];
    out += fmt::format(
        "<path d=\"M {0} {1} Q {2} {3} {4} {1}\" fill=\"none\" stroke=\"{5}\" "
        "stroke-width=\"{6}\"{7}/>",
        x1, kNodeY, (x1 + x2) / 2, arc.control_y, x2, kEdgeColour[operation],
        operation == nasbench201::kNone ? 1.5 : 4,
        operation == nasbench201::kNone ? " stroke-dasharray=\"3 6\"" : "");
    out += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"15\" fill=\"currentColor\">{}"
        "</text>",
        (x1 + x2) / 2, arc.label_y, nasbench201::kOperations[operation]);
  }
  for (int node = 0; node < 4; ++node)
    out += fmt::format(
        "<circle cx=\"{0}\" cy=\"{1}\" r=\"20\" fill=\"var(--ground)\" stroke=\"currentColor\" "
        "stroke-width=\"2\"/><text x=\"{0}\" y=\"{2}\" text-anchor=\"middle\" font-size=\"16\" "
        "fill=\"currentColor\">{3}</text>",
        kNodeX[node], kNodeY, kNodeY + 6,
        node == 0   ? "in"
        : node == 3 ? "out"
                    : fmt::format("{}", node));
  return out + "</svg>";
}

const char* word_on_data(const Results& results) {
  return results.is_stand_in() ? " (stand-in data)" : "";
}

std::string picture_of_best(const Results& results) {
  const auto best = best_architecture(results);
  if (!best) return "";
  return fmt::format(
      "<figure class=\"cell\"><h3>Best architecture "
      "found{}</h3>{}<figcaption><p><code>{}</code></p>"
      "<p>Accuracy {:.2f} %, rank {} of {} in the high fidelity; found by {}, seed {}.</p>"
      "</figcaption></figure>\n",
      word_on_data(results), cell_picture(best->architecture),
      nasbench201::to_string(best->architecture), best->accuracy, best->rank,
      group_digits(static_cast<double>(NasSpace().size())), escape_html(best->agent), best->seed);
}

std::string sentence_on_best(const Results& results) {
  const auto best = best_architecture(results);
  if (!best) return "";
  return fmt::format(
      "The best architecture found{}, by {} with seed {}: `{}`, accuracy {:.2f} %, rank {} of {}.",
      word_on_data(results), escape_markdown(best->agent), best->seed,
      nasbench201::to_string(best->architecture), best->accuracy, best->rank,
      group_digits(static_cast<double>(NasSpace().size())));
}

}  // namespace

ProblemView search_view() {
  return {.kind = "nas-bench-201",
          .table = search_table,
          .sentence = sentence_on_best,
          .picture = picture_of_best};
}

}  // namespace hilo
