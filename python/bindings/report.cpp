#include <algorithm>

#include "bindings.hpp"
#include "hilo/core/output_file.hpp"
#include "hilo/core/parameters.hpp"
#include "hilo/report/analysis.hpp"
#include "hilo/report/colours.hpp"
#include "hilo/report/experiment_report.hpp"
#include "hilo/report/figure.hpp"
#include "hilo/report/findings.hpp"
#include "hilo/report/markdown.hpp"
#include "hilo/report/page.hpp"
#include "hilo/report/results.hpp"
#include "hilo/report/shipped.hpp"
#include "hilo/report/text_tables.hpp"

namespace hilo::python {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

// The known_... functions throw if there is nothing to return: a mean over nothing would read as 0.
const std::string& known_agent(const Results& results, const std::string& agent) {
  const auto& agents = results.agents();
  if (std::find(agents.begin(), agents.end(), agent) == agents.end())
    throw Error(Errc::usage, results.experiment() + ": there is no agent '" + agent + "', but " +
                                 listed(agents) + did_you_mean(agent, agents));
  return agent;
}

const std::string& known_metric(const Results& results, const std::string& metric) {
  if (results.has_metric(metric)) return metric;
  const std::vector<std::string> metrics = results.metrics();
  throw Error(Errc::usage, results.experiment() + ": there is no metric '" + metric + "', but " +
                               listed(metrics) + did_you_mean(metric, metrics));
}

const BySeed& known_final(const Results& results, const std::string& agent,
                          const std::string& metric) {
  const BySeed& values =
      results.final_of(known_agent(results, agent), known_metric(results, metric));
  if (values.empty())
    throw Error(Errc::usage,
                results.experiment() + ": the agent '" + agent + "' has no " + metric + ", as " +
                    (results.num_seeds(agent) == 0 ? "none of its runs is finished"
                                                   : "agents of its kind do not measure it"));
  return values;
}

Summary known_at(const Results& results, const std::string& agent, const std::string& metric,
                 std::uint64_t episode) {
  known_final(results, agent, metric);
  const Summary at = results.at(agent, metric, episode);
  if (at.n == 0) {
    const auto episodes = results.episodes(agent, metric);
    throw Error(Errc::usage, results.experiment() + ": '" + agent + "' has no " + metric +
                                 " at episode " + std::to_string(episode) + ", but at " +
                                 std::to_string(episodes.size()) + " episodes from " +
                                 std::to_string(episodes.front()) + " to " +
                                 std::to_string(episodes.back()));
  }
  return at;
}

Summary known_difference(const Results& results, const std::string& agent,
                         const std::string& baseline, const std::string& metric) {
  known_final(results, agent, metric);
  known_final(results, baseline, metric);
  const Summary difference = results.paired_difference(agent, baseline, metric);
  if (difference.n == 0)
    throw Error(Errc::usage, results.experiment() + ": '" + agent + "' and '" + baseline +
                                 "' have no seed in common, so that nothing can be paired");
  return difference;
}

}  // namespace

void bind_report(nb::module_& m) {
  nb::class_<Summary>(m, "Summary", "A mean over seeds, with its spread.")
      .def_ro("n", &Summary::n, "Number of seeds.")
      .def_ro("mean", &Summary::mean, "Their mean.")
      .def_ro("sd", &Summary::sd, "Standard deviation over seeds.")
      .def_ro("standard_error", &Summary::standard_error, "Standard error of the mean.")
      .def_ro("low", &Summary::low, "Lower end of the 95 % interval of the mean.")
      .def_ro("high", &Summary::high, "Upper end of the 95 % interval of the mean.")
      .def("__reduce__",
           [](const Summary& s) {
             return nb::make_tuple(
                 rebuild("summary"),
                 nb::make_tuple(s.n, s.mean, s.sd, s.standard_error, s.low, s.high));
           })
      .def("__repr__", [](const Summary& s) {
        char text[120];
        std::snprintf(text, sizeof text, "%.4g [%.4g, %.4g] (n=%llu)", s.mean, s.low, s.high,
                      static_cast<unsigned long long>(s.n));
        return std::string(text);
      });
  m.def(
      "make_summary",
      [](std::uint64_t n, double mean, double sd, double standard_error, double low, double high) {
        return Summary{n, mean, sd, standard_error, low, high};
      },
      "n"_a, "mean"_a, "sd"_a, "standard_error"_a, "low"_a, "high"_a, "A summary from its parts.");
  m.def(
      "summarise",
      [](const InVector<double>& values) {
        if (values.size() == 0)
          throw Error(Errc::usage, "values is empty, but a mean needs at least one value");
        return summarise(span_of(values));
      },
      "values"_a, "Mean, spread and 95 % interval (Student's t) of values, one per seed.");

  nb::class_<Results>(m, "Results",
                      "All finished results of one experiment, by agent, metric, episode and seed.")
      .def(
          "__init__",
          [](Results* self, const Store& store, const std::string& experiment) {
            new (self) Results(store, known_experiment(store, experiment));
          },
          "store"_a, "experiment"_a)
      .def_prop_ro("experiment", &Results::experiment, "Its name.")
      .def_prop_ro("agents", &Results::agents, "Labels of its agents.")
      .def_prop_ro("metrics", &Results::metrics, "Names of the metrics that were measured.")
      .def(
          "seeds",
          [](const Results& results, const std::string& agent) {
            return results.seeds(known_agent(results, agent));
          },
          "agent"_a, "Seeds of an agent whose runs are finished.")
      .def("has_metric", nb::overload_cast<const std::string&>(&Results::has_metric, nb::const_),
           "metric"_a, "Whether any agent has it.")
      .def(
          "episodes",
          [](const Results& results, const std::string& agent, const std::string& metric) {
            return results.common_episodes(known_agent(results, agent),
                                           known_metric(results, metric));
          },
          "agent"_a, "metric"_a, "Episodes at which all seeds of the agent have a value.")
      .def_prop_ro("reward_metric", &Results::reward_metric,
                   "The metric of the learning curve: test_reward, or train_reward if nothing was "
                   "tested. For your own simulators it is test_return or train_return.")
      .def_prop_ro("level_metric", &level_metric_of,
                   "The metric of the agents' levels in findings, tables and pages.")
      .def_prop_ro(
          "styles",
          [](const Results& results) {
            const AgentColours colours(results);
            std::map<std::string, std::pair<std::string, bool>> out;
            for (const std::string& agent : results.agents())
              out[agent] = {colours.colour(agent), colours.is_dashed(agent)};
            return out;
          },
          "By agent, its colour as \"#RRGGBB\" and whether its lines are dashed. They are the same "
          "on pages, in figures and in plots.")
      .def_prop_ro("baseline", &baseline_of, "The agent that others are compared with.")
      .def("at", &known_at, "agent"_a, "metric"_a, "episode"_a,
           "The metric at an episode, over the seeds that have it.")
      .def(
          "final",
          [](const Results& results, const std::string& agent, const std::string& metric) {
            return summarise(values_of(known_final(results, agent, metric)));
          },
          "agent"_a, "metric"_a, "The last value of every seed, summarised over seeds.")
      .def(
          "final_values",
          [](const Results& results, const std::string& agent, const std::string& metric) {
            std::map<std::uint64_t, double> out;
            for (const auto& [seed, value] : results.final_of(known_agent(results, agent), metric))
              out[seed] = value;
            return out;
          },
          "agent"_a, "metric"_a,
          "The last value of every seed, by seed; empty if the agent has no such metric.")
      .def("paired_difference", &known_difference, "agent"_a, "baseline"_a, "metric"_a,
           "The agent minus the baseline at the end, paired by seed.")
      .def(
          "learning_table",
          [](const Results& results, const std::string& metric) {
            return learning_table(results, known_metric(results, metric));
          },
          "metric"_a, "Mean and standard error of every agent, as text.")
      .def(
          "difference_table",
          [](const Results& results, const std::string& metric) {
            return difference_table(results, baseline_of(results), known_metric(results, metric));
          },
          "metric"_a, "Every agent minus the baseline, paired, with 95 % intervals, as text.")
      .def(
          "draw",
          [](const Results& results, const std::string& metric, const std::filesystem::path& folder,
             const std::string& stem) {
            return draw_curves(results, known_metric(results, metric), folder, stem);
          },
          "metric"_a, "folder"_a, "stem"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Draws curves with gnuplot as SVG, PDF and PNG; returns the files.")
      .def("__repr__", [](const Results& results) {
        return "Results('" + results.experiment() +
               "', agents=" + std::to_string(results.agents().size()) + ")";
      });

  m.def(
      "write_report",
      [](const Store& store, const std::string& name, const std::filesystem::path& out,
         const std::string& date, const std::filesystem::path& place, bool force) {
        const std::string extension = out.extension().string();
        if (extension != ".html" && extension != ".md")
          throw Error(Errc::usage,
                      out.string() + ": must end in .html for a page or in .md for Markdown");
        const ReportSource source{
            .store = name,
            .command = "hilo report " + name + " --out " + out.filename().string(),
            .date = date,
            .experiments = store.experiments()};
        const std::string text =
            extension == ".html" ? make_page(store, source) : make_markdown(store, source, {});
        AtomicFile file(out, {.mark = report_mark(out), .inputs = {place}, .force = force});
        file.out() << text;
        file.commit();
      },
      "store"_a, "name"_a, "out"_a, "date"_a, "place"_a, "force"_a,
      nb::call_guard<nb::gil_scoped_release>(),
      "Writes a report of a whole store as one page or as Markdown.");
  m.def(
      "require_writable",
      [](const std::filesystem::path& file, const std::vector<std::filesystem::path>& inputs) {
        require_writable_picture(file, inputs);
      },
      "file"_a, "inputs"_a, "Raises if a picture would replace a store or an input.");
  m.def(
      "findings",
      [](const Store& store, const std::string& experiment) {
        return make_experiment_report(store, Results(store, known_experiment(store, experiment)),
                                      SharedRuns(store, {experiment}))
            .findings;
      },
      "store"_a, "experiment"_a, nb::call_guard<nb::gil_scoped_release>(),
      "The findings of an experiment as sentences, the most important first.");
  m.def(
      "shipped_specs",
      [] {
        std::map<std::string, std::string> out;
        for (const ShippedSpec& spec : shipped_specs())
          out[std::string(spec.name)] = std::string(spec.toml);
        return out;
      },
      "The shipped specs by name, as TOML: the paper's figures and hilo's own experiments.");
}

}  // namespace hilo::python
