#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.hpp"
#include "cli/report_text.hpp"
#include "cli/run_spec.hpp"
#include "hilo/core/error.hpp"
#include "hilo/report/figure.hpp"
#include "hilo/report/published.hpp"
#include "hilo/report/shipped.hpp"
#include "hilo/report/tables.hpp"

namespace hilo::cli {
namespace {

struct Options {
  std::vector<std::string> names;
  std::string seeds, figures;
  RunRequest request;
  bool list = false, json = false;
};

// Three sentences, no more; docs/departures.md has the long form.
constexpr const char* kWhyVariantsDiffer =
    "As-published repeats how the published curves were made: low-fidelity roll-outs take action 0 "
    "instead of following the policy, and draw from the noisy rows by a binary search.\n"
    "As-written is Algorithm 1: roll-outs follow the policy, and the rows are projected onto the "
    "probability simplex; it carries the estimator's bias where the dynamics differ.\n"
    "The accident helps here, because in these random MDPs the immediate reward alone tells the "
    "best "
    "action; where the future matters it misleads.\n";

const ShippedSpec& shipped_spec(const std::string& name) {
  std::vector<std::string> known;
  for (const ShippedSpec& spec : shipped_specs()) {
    if (spec.name == name) return spec;
    known.emplace_back(spec.name);
  }
  throw Error(Errc::usage, fmt::format("no experiment '{}' is shipped{}; there are {}", name,
                                       did_you_mean(name, known), fmt::join(known, ", ")));
}

int list(bool json) {
  nlohmann::json all = nlohmann::json::array();
  for (const ShippedSpec& spec : shipped_specs()) {
    all.push_back(spec.name);
    if (!json) fmt::print("{}\n", spec.name);
  }
  if (json) fmt::print("{}\n", all.dump(2));
  return 0;
}

nlohmann::json to_json(const Comparison& c) {
  return {{"agent", c.published.agent},
          {"metric", c.published.metric},
          {"episode", c.published.episode},
          {"seeds", c.ours.n},
          {"mean", c.ours.mean},
          {"standard_error", c.ours.standard_error},
          {"published_mean", c.published.mean},
          {"published_sd", c.published.sd},
          {"published_seeds", c.published.seeds},
          {"difference_in_standard_errors", c.difference},
          {"agrees", c.verdict == Verdict::agrees}};
}

// Figures are worth a warning, not a failure, where gnuplot is missing.
std::vector<std::filesystem::path> try_to_draw(const Results& results, const std::string& folder) {
  try {
    return draw_learning_curves(results, "test_reward", folder);
  } catch (const Error& e) {
    fmt::print(stderr, "hilo: no figure: {}\n", e.what());
    return {};
  }
}

bool reproduced(const std::vector<Comparison>& comparisons) {
  return !comparisons.empty() && std::ranges::all_of(comparisons, [](const Comparison& c) {
    return c.verdict == Verdict::agrees;
  });
}

const char* verdict_of(const std::vector<Comparison>& comparisons) {
  if (reproduced(comparisons)) return "REPRODUCED";
  const bool differs = std::ranges::any_of(
      comparisons, [](const Comparison& c) { return c.verdict == Verdict::differs; });
  return differs ? "NOT REPRODUCED" : "NO VERDICT, too few seeds";
}

void print_text(const Results& results, const std::vector<Comparison>& comparisons,
                const std::vector<std::filesystem::path>& figures, const Options& options) {
  fmt::print("\nMean ± standard error over seeds:\n{}\n", learning_table(results, "test_reward"));
  fmt::print("{}\n", difference_table(results, baseline_of(results), "test_reward"));
  fmt::print("Against the published means (± sd over {} seeds):\n{}\n",
             comparisons.empty() ? 0 : comparisons[0].published.seeds,
             comparison_table(comparisons));
  fmt::print("{}\n", kWhyVariantsDiffer);
  const auto agreeing = std::ranges::count(comparisons, Verdict::agrees, &Comparison::verdict);
  fmt::print(
      "verdict: {} of {} published values agree within {} standard errors of the difference: {}\n",
      agreeing, comparisons.size(), kAgreement, verdict_of(comparisons));
  for (const auto& figure : figures) fmt::print("figure:  {}\n", figure.string());
  fmt::print("store:   {}\n", options.request.store.string());
}

// One experiment; the exit code.
int reproduce(const std::string& name, const Options& options, nlohmann::json& all) {
  const ShippedSpec& shipped = shipped_spec(name);
  Spec spec = parse_spec(shipped.toml, fmt::format("{}.toml", name));
  if (!options.seeds.empty()) spec.seeds = seeds_flag(options.seeds);
  const RunOutcome outcome = run_spec(spec, options.request);
  if (!options.json) fmt::print("{}", describe(spec, options.request, outcome));
  if (outcome.interrupted || outcome.failed > 0) {
    all.push_back(to_json(spec, options.request, outcome));
    return exit_code(outcome);
  }

  const Store store = Store::open_to_read(options.request.store);
  const Results results(store, spec.name);
  const auto comparisons = compare_with_published(results);
  const std::string folder = options.figures.empty()
                                 ? options.request.store.parent_path() / "figures"
                                 : std::filesystem::path(options.figures);
  const auto figures = try_to_draw(results, folder);
  if (options.json) {
    nlohmann::json entry = to_json(spec, options.request, outcome);
    entry["comparisons"] = nlohmann::json::array();
    entry["figures"] = nlohmann::json::array();
    for (const Comparison& c : comparisons) entry["comparisons"].push_back(to_json(c));
    for (const auto& figure : figures) entry["figures"].push_back(figure.string());
    all.push_back(std::move(entry));
  } else {
    print_text(results, comparisons, figures, options);
  }
  return reproduced(comparisons) ? 0 : kVerdictFailed;
}

int run(const Options& options) {
  if (options.list) return list(options.json);
  if (options.names.empty())
    throw Error(Errc::usage, "hilo reproduce needs the name of an experiment (see --list)");
  for (const std::string& name : options.names) shipped_spec(name);  // before anything runs
  nlohmann::json all = nlohmann::json::array();
  int code = 0;
  for (const std::string& name : options.names) {
    const int one = reproduce(name, options, all);
    code = std::max(code, one);
    if (one > kVerdictFailed) break;
  }
  if (options.json) fmt::print("{}\n", all.dump(2));
  return code;
}

}  // namespace

Handler add_reproduce(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("NAME", options->names, "experiments, as listed by --list");
  app.add_flag("--list", options->list, "list the shipped experiments");
  app.add_option("--seeds", options->seeds, "36 for seeds 0 to 35, or a range such as 10..19");
  app.add_option("--store", options->request.store, "result store; runs already in it are skipped")
      ->capture_default_str();
  app.add_option("--threads", options->request.threads, "workers, 0 for one per core")
      ->capture_default_str();
  app.add_option("--figures", options->figures,
                 "folder for the figures; default: figures/ beside the store");
  app.add_flag("--json", options->json, "print JSON");
  add_example(app, "hilo reproduce figure-2a --store paper.db");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
