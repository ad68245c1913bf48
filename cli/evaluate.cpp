#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "cli/checks.hpp"
#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/learn_text.hpp"
#include "cli/standard_streams.hpp"
#include "cli/stop_signal.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/output_file.hpp"
#include "hilo/core/stopwatch.hpp"
#include "hilo/driver/evaluation_run.hpp"
#include "hilo/report/evaluation_report.hpp"

namespace hilo::cli {
namespace {

constexpr const char* kPageMark = "· hilo</title>";

struct Options {
  std::string spec, journal, page, quantity, coupling;
  std::vector<std::string> policies;
  double budget = 0, until = 0;
  Overrides overrides;
  bool json = false, no_sync = false, force = false;
};

// Flags are overrides of the spec, so that a page shows all of it.
Overrides overrides_of(const Options& options) {
  Overrides out = options.overrides;
  const auto add = [&](const char* key, const std::string& value) {
    out.push_back(fmt::format("evaluate.{}={}", key, value));
  };
  if (options.budget > 0) add("episodes", fmt::format("{}", options.budget));
  if (options.until > 0) add("until", fmt::format("{}", options.until));
  if (!options.quantity.empty()) add("quantity", options.quantity);
  if (!options.coupling.empty()) add("coupling", options.coupling);
  return out;
}

// One line on a terminal, rewritten in place.
class EvaluationProgress {
 public:
  explicit EvaluationProgress(std::string name)
      : name_(std::move(name)), on_terminal_(::isatty(STDERR_FILENO) == 1) {}
  EvaluationProgress(const EvaluationProgress&) = delete;
  EvaluationProgress& operator=(const EvaluationProgress&) = delete;
  ~EvaluationProgress() {
    if (shown_) say("\r\033[K");
  }

  void show(const Evaluator& evaluator) {
    const double elapsed = seconds_since(start_);
    if (!on_terminal_ || elapsed - last_ < 0.2) return;
    last_ = elapsed;
    const double share = evaluator.share();
    if (first_share_ < 0) first_share_ = share;
    const double done = share - first_share_;
    say(fmt::format("\r\033[K{}: {} expensive episodes, {:.0f} % of the budget, {} left", name_,
                    evaluator.evaluation().num_pairs(), 100 * share,
                    done > 0 ? minutes(elapsed * (1 - share) / done) : "?"));
    shown_ = true;
  }

 private:
  std::string name_;
  bool on_terminal_, shown_ = false;
  SteadyClock::time_point start_ = SteadyClock::now();
  double last_ = 0, first_share_ = -1;
};

bool spend(EvaluationRun& run, EvaluationProgress& progress) {
  try {
    while (!stop_requested) {
      if (run.step()) return true;
      progress.show(run.evaluator());
    }
  } catch (const Interrupted&) {  // in the middle of an episode, which is made again
  }
  return false;
}

int run(const Options& options) {
  const EvaluateSpec spec = load_evaluate_spec(options.spec, overrides_of(options));
  const std::vector<NamedPolicy> policies = parse_policies(options.policies);
  const std::filesystem::path journal =
      options.journal.empty() ? spec.spec.name + ".evaluation.journal" : options.journal;
  const std::filesystem::path page =
      options.page.empty() ? spec.spec.name + ".evaluation.html" : options.page;
  require_writable(page,
                   {.mark = kPageMark, .inputs = {options.spec, journal}, .force = options.force});
  require_folder(page);
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe must not end the run
  const StopOnSignal stop;
  EvaluationRun evaluation(spec, policies, {.journal = journal, .durable = !options.no_sync});
  {
    EvaluationProgress progress(spec.spec.name);
    if (!spend(evaluation, progress)) {
      say(fmt::format("{}: interrupted after {} expensive episodes; the same command goes on\n",
                      spec.spec.name, evaluation.evaluator().evaluation().num_pairs()));
      return kInterrupted;
    }
  }
  const EvaluationOutcome outcome =
      outcome_of(evaluation.evaluator(), evaluation.coupling(), evaluation.notes());
  AtomicFile out(page,
                 {.mark = kPageMark, .inputs = {options.spec, journal}, .force = options.force});
  out.out() << make_evaluation_page(outcome, fmt::format("hilo evaluate {}", options.spec));
  out.commit();
  if (options.json) {
    nlohmann::json json = nlohmann::json::parse(evaluation_json(outcome));
    json["journal"] = journal.string();
    json["page"] = page.string();
    fmt::print("{}\n", json_text(json));
    return 0;
  }
  fmt::print("{}\n  journal  {}\n  page     {}\n{}", evaluation_text(outcome), journal.string(),
             page.string(),
             outcome.paid == 0
                 ? "  nothing was spent now: all expensive episodes were in the journal\n"
                 : "");
  return 0;
}

}  // namespace

Handler add_evaluate(App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("SPEC", options->spec, "problem and costs, a TOML file as for hilo learn")
      .required();
  app.add_option("--policy", options->policies,
                 "a policy file of hilo learn, \"command: PROGRAM\", or uniform; NAME= before it "
                 "names it. Several are compared")
      .each_time()
      .required();
  app.add_option("--budget", options->budget,
                 "what may be spent: the cost of so many expensive episodes, cheap ones included")
      .check(number_in({.low = 2, .high = 1e9}));
  app.add_option("--until", options->until,
                 "stop as soon as the interval reaches this far on either side")
      .check(positive_number());
  app.add_option("--quantity", options->quantity,
                 "what is measured: return, total-reward, length or success");
  app.add_option("--coupling", options->coupling,
                 "what expensive and cheap episodes share: auto, seed, start or none");
  app.add_option("--journal", options->journal,
                 "where all that is paid for is kept; default NAME.evaluation.journal");
  app.add_option("--page", options->page,
                 "where the page is written; default NAME.evaluation.html");
  app.add_option("--set", options->overrides, "set a key of the spec, as in evaluate.cost=100")
      .each_time();
  app.add_flag("--no-sync", options->no_sync,
               "do not wait for the disk after each episode: a power failure may lose some");
  add_force(app, options->force);
  app.add_flag("--json", options->json, "print JSON");
  add_example(app,
              "hilo evaluate plant.toml --policy plant.policy.json --policy uniform --budget 100");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
