#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "hilo/core/error.hpp"
#include "hilo/env/nas/table.hpp"

namespace hilo::cli {
namespace {

struct Options {
  std::string input, out, scale = "percent";
  std::vector<std::string> columns;
  bool json = false, force = false;
};

int run(const Options& options) {
  const AccuracyScale scale = accuracy_scale_from_name(options.scale);
  const AccuracyColumns found = list_accuracies(options.input, scale);
  const std::vector<std::string> wanted = options.columns.empty() ? found.usable : options.columns;
  if (wanted.empty())
    throw Error(Errc::data,
                fmt::format("{}: no column has an accuracy in {} for every "
                            "architecture; there are {}",
                            options.input, options.scale, fmt::join(found.others, ", ")));
  // Loading checks every value, so the table that is written can be read again.
  const auto columns = load_accuracies(options.input, wanted, scale);
  save_accuracies(options.out, wanted, columns,
                  {.mark = {}, .inputs = {options.input}, .force = options.force});
  if (options.json) {
    const nlohmann::json out = {{"file", options.out},
                                {"architectures", NasSpace().size()},
                                {"columns", wanted},
                                {"left_out", found.others}};
    fmt::print("{}\n", json_text(out));
    return 0;
  }
  fmt::print("{}: {} architectures, columns {}\n", options.out, NasSpace().size(),
             fmt::join(wanted, ", "));
  if (options.columns.empty() && !found.others.empty())
    fmt::print("left out, because not every architecture has an accuracy there: {}\n",
               fmt::join(found.others, ", "));
  return 0;
}

}  // namespace

Handler add_import(App& app) {
  const auto options = std::make_shared<Options>();
  app.require_subcommand();
  App& nas = app.add_subcommand(
      "nasbench201", "accuracies of NAS-Bench-201 or NATS-Bench, from a CSV file (docs/nas.md)");
  nas.add_option("INPUT", options->input, "CSV or CSV.gz with one line for each architecture")
      .required();
  nas.add_option("--out", options->out, "table to write, CSV").required();
  nas.add_option("--columns", options->columns, "columns to take; default: all complete ones")
      .delimiter(',');
  nas.add_option("--scale", options->scale,
                 "unit of the accuracies in the input: percent or fraction")
      .check(one_of({"percent", "fraction"}))
      .capture_default_str();
  add_force(nas, options->force);
  nas.add_flag("--json", options->json, "print JSON");
  add_example(nas, "hilo import nasbench201 accuracies.csv --out nas.csv");
  add_example(app, "hilo import nasbench201 accuracies.csv --out nas.csv");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
