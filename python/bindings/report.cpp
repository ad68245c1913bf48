#include "bindings.hpp"
#include "hilo/core/csv.hpp"
#include "hilo/report/experiment_report.hpp"
#include "hilo/report/figure.hpp"
#include "hilo/report/findings.hpp"
#include "hilo/report/markdown.hpp"
#include "hilo/report/page.hpp"
#include "hilo/report/results.hpp"
#include "hilo/report/shipped.hpp"
#include "hilo/report/tables.hpp"

namespace hilo::python {

void bind_report(nb::module_& m) {
  nb::class_<Summary>(m, "Summary", "A mean over seeds with its spread.")
      .def_ro("n", &Summary::n, "Number of seeds.")
      .def_ro("mean", &Summary::mean, "Their mean.")
      .def_ro("sd", &Summary::sd, "Standard deviation over seeds.")
      .def_ro("standard_error", &Summary::standard_error, "Of the mean.")
      .def_ro("low", &Summary::low, "Lower end of the 95 % interval of the mean.")
      .def_ro("high", &Summary::high, "Upper end of it.")
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
      "n"_a, "mean"_a, "sd"_a, "standard_error"_a, "low"_a, "high"_a, "From its parts.");
  m.def(
      "summarise", [](const InVector<double>& values) { return summarise(span_of(values)); },
      "values"_a, "Mean, spread and 95 % interval (Student's t) of values, one a seed.");

  nb::class_<Results>(m, "Results",
                      "All finished results of one experiment, by agent, metric, episode and seed.")
      .def(nb::init<const Store&, const std::string&>(), "store"_a, "experiment"_a)
      .def_prop_ro("experiment", &Results::experiment, "Its name.")
      .def_prop_ro("agents", &Results::agents, "Labels of its agents.")
      .def("seeds", &Results::seeds, "agent"_a, "Seeds of an agent that are finished.")
      .def("has_metric", nb::overload_cast<const std::string&>(&Results::has_metric, nb::const_),
           "metric"_a, "Whether any agent has it.")
      .def("episodes", &Results::common_episodes, "agent"_a, "metric"_a,
           "Episodes at which all seeds of the agent have a value.")
      .def_prop_ro("reward_metric", &Results::reward_metric,
                   "The learning curve: test_reward, or train_reward where nothing was tested.")
      .def_prop_ro("baseline", &baseline_of, "The agent that others are compared with.")
      .def("at", &Results::at, "agent"_a, "metric"_a, "episode"_a, "Over the seeds that have it.")
      .def(
          "final",
          [](const Results& results, const std::string& agent, const std::string& metric) {
            return summarise(values_of(results.final_of(agent, metric)));
          },
          "agent"_a, "metric"_a, "What every seed measured last, over seeds.")
      .def(
          "final_values",
          [](const Results& results, const std::string& agent, const std::string& metric) {
            std::map<std::uint64_t, double> out;
            for (const auto& [seed, value] : results.final_of(agent, metric)) out[seed] = value;
            return out;
          },
          "agent"_a, "metric"_a, "What every seed measured last, by seed.")
      .def("paired_difference", &Results::paired_difference, "agent"_a, "baseline"_a, "metric"_a,
           "agent minus baseline at the end, seed by seed.")
      .def(
          "learning_table",
          [](const Results& results, const std::string& metric) {
            return learning_table(results, metric);
          },
          "metric"_a, "Mean and standard error of every agent, as text.")
      .def(
          "difference_table",
          [](const Results& results, const std::string& metric) {
            return difference_table(results, baseline_of(results), metric);
          },
          "metric"_a, "Every agent minus the baseline, paired, with 95 % intervals, as text.")
      .def(
          "draw",
          [](const Results& results, const std::string& metric, const std::filesystem::path& folder,
             const std::string& stem) { return draw_curves(results, metric, folder, stem); },
          "metric"_a, "folder"_a, "stem"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Draws curves with gnuplot as SVG, PDF and PNG; returns the files.")
      .def("__repr__", [](const Results& results) {
        return "Results('" + results.experiment() +
               "', agents=" + std::to_string(results.agents().size()) + ")";
      });

  m.def(
      "write_report",
      [](const Store& store, const std::string& name, const std::filesystem::path& out,
         const std::string& date) {
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
            extension == ".html" ? make_page(store, source) : make_markdown(store, source, "");
        AtomicFile file(out);
        file.out() << text;
        file.commit();
      },
      "store"_a, "name"_a, "out"_a, "date"_a, nb::call_guard<nb::gil_scoped_release>(),
      "Writes all of a store as one page or as Markdown.");
  m.def(
      "findings",
      [](const Store& store, const std::string& experiment) {
        return make_experiment_report(store, Results(store, experiment), {experiment}).findings;
      },
      "store"_a, "experiment"_a, nb::call_guard<nb::gil_scoped_release>(),
      "What an experiment says, in sentences, most important first.");
  m.def(
      "shipped_specs",
      [] {
        std::map<std::string, std::string> out;
        for (const ShippedSpec& spec : shipped_specs())
          out[std::string(spec.name)] = std::string(spec.toml);
        return out;
      },
      "The specs of the paper's figures, by name, as TOML.");
}

}  // namespace hilo::python
