#include <fmt/format.h>
#include <fmt/ostream.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/report_text.hpp"
#include "hilo/core/csv.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/output_file.hpp"
#include "hilo/store/store.hpp"

namespace hilo::cli {
namespace {

struct Options {
  std::string store, csv, experiment;  // csv "": standard output
  bool json = false, force = false;
};

constexpr const char* kHeader = "experiment,agent,seed,episode,metric,value";

// One line for each value. Numbers have the shortest form that reads back to the same bits.
void write_csv(const Store& store, const std::string& experiment, std::ostream& out) {
  fmt::memory_buffer buffer;
  const auto flush = [&] {
    out.write(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    buffer.clear();
  };
  fmt::format_to(std::back_inserter(buffer), "{}\n", kHeader);
  store.for_each_result(experiment, [&](const ResultRow& row) {
    fmt::format_to(std::back_inserter(buffer), "{},{},{},{},{},{}\n", row.experiment,
                   csv_field(row.agent), row.seed, row.episode, row.metric, row.value);
    if (buffer.size() > (1U << 16)) flush();
  });
  flush();
}

int run(const Options& options) {
  const Store store = Store::open_to_read(options.store);
  say_what_is_unverified(store, options.store);
  if (!options.experiment.empty()) require_experiment(store, options.store, options.experiment);
  if (options.json && !options.csv.empty())
    throw Error(Errc::usage, "--json prints to standard output and --csv writes CSV: give one");
  if (options.json) {
    nlohmann::json rows = nlohmann::json::array();
    store.for_each_result(options.experiment, [&](const ResultRow& row) {
      rows.push_back({{"experiment", row.experiment},
                      {"agent", row.agent},
                      {"seed", row.seed},
                      {"episode", row.episode},
                      {"metric", row.metric},
                      {"value", row.value}});
    });
    fmt::print("{}\n", rows.dump());
  } else if (options.csv.empty() || options.csv == "-") {
    write_csv(store, options.experiment, std::cout);
    if (!std::cout.flush()) throw Error(Errc::io, "the output cannot be written");
  } else {
    AtomicFile file(options.csv,
                    {.mark = kHeader, .inputs = {options.store}, .force = options.force});
    write_csv(store, options.experiment, file.out());
    file.commit();
  }
  return 0;
}

}  // namespace

Handler add_export(App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("STORE", options->store, "result store").required();
  app.add_option("--csv", options->csv,
                 "file to write, - for standard output, which is the default");
  app.add_option("--experiment", options->experiment, "export only this experiment");
  add_force(app, options->force);
  app.add_flag("--json", options->json, "print JSON instead");
  add_example(app, "hilo export hilo.db --csv results.csv");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
