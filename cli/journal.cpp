#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/checks.hpp"
#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/stopwatch.hpp"
#include "hilo/driver/learn_json.hpp"
#include "hilo/report/table.hpp"
#include "hilo/store/journal.hpp"

namespace hilo::cli {
namespace {

struct Options {
  std::string action, into;
  std::vector<std::string> files;
  bool skip_damaged = false, json = false;
};

void require_one(const Options& options) {
  if (options.files.size() != 1)
    throw Error(Errc::usage, fmt::format("hilo journal {} takes one journal", options.action));
}

std::string episodes_of(const JournalledRun& run, const Spent& spent) {
  if (!run.simulators.empty() && run.simulators[0].role == "evaluated")
    return fmt::format("{} episodes to evaluate a policy", spent.training);
  return fmt::format("{} episodes learnt from, {} tested", spent.training, spent.testing);
}

int list(const Options& options) {
  nlohmann::json out = nlohmann::json::array();
  for (const std::string& file : options.files) {
    const Journal journal = Journal::open_to_read(file);
    for (const JournalledRun& run : journal.runs()) {
      const Spent spent = journal.spent(run.id);
      if (!options.json)
        fmt::print(
            "{}: {}, seed {}: {}, {} attempts failed, {} "
            "steps, cost {:.6g} (expensive simulator), begun {} by {}\n",
            file, run.name, run.seed, episodes_of(run, spent), spent.failed,
            group_digits(static_cast<double>(spent.steps)), spent.cost, run.started, run.program);
      out.push_back({{"journal", file},
                     {"name", run.name},
                     {"seed", run.seed},
                     {"training", spent.training},
                     {"testing", spent.testing},
                     {"attempts", spent.attempts},
                     {"failed", spent.failed},
                     {"steps", spent.steps},
                     {"cost", spent.cost},
                     {"started", run.started},
                     {"program", run.program},
                     {"identity", run.identity.text()}});
    }
  }
  if (options.json) fmt::print("{}\n", json_text(out));
  return 0;
}

// Names may hold anything.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string point_text(const std::vector<double>& all, std::uint64_t size, std::size_t i) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(i * size);
  return fmt::format("{:.17g}", fmt::join(first, first + static_cast<std::ptrdiff_t>(size), " "));
}

// Observations and actions that are vectors stand as numbers with blanks between them.
void export_vectors(const std::string& start, const Attempt& attempt) {
  const VectorPath& path = *attempt.paid.vectors;
  if (attempt.failed && path.length() == 0) fmt::print("{},failed,,,,,,,\n", start);
  for (std::size_t t = 0; t < path.length(); ++t)
    fmt::print("{},{},{},{},{},,{:.17g},{},{}\n", start, attempt.failed ? "failed" : "finished", t,
               point_text(path.observations, path.observation_size, t),
               point_text(path.actions, path.action_size, t), path.rewards[t],
               point_text(path.observations, path.observation_size, t + 1),
               t + 1 < path.length() ? ""
               : attempt.failed      ? "failed"
               : path.truncated      ? "cut"
                                     : "terminal");
}

// A line for every step, so that any program can read what was paid for.
int export_steps(const Options& options) {
  require_one(options);
  const Journal journal = Journal::open_to_read(options.files[0]);
  fmt::print(
      "run,seed,episode,test,attempt,status,step,state,action,probability,reward,next,end\n");
  for (const JournalledRun& run : journal.runs())
    journal.for_each_attempt(run.id, [&](const Attempt& attempt) {
      const std::string start =
          fmt::format("{},{},{},{},{}", csv_field(run.name), run.seed, attempt.at.episode,
                      attempt.at.test ? fmt::format("{}", *attempt.at.test) : "", attempt.number);
      if (attempt.paid.vectors) return export_vectors(start, attempt);
      const Episode& path = attempt.paid.path;
      if (attempt.failed && path.length() == 0) fmt::print("{},failed,,,,,,,\n", start);
      for (std::size_t t = 0; t < path.length(); ++t)
        fmt::print("{},{},{},{},{},{:.17g},{:.17g},{},{}\n", start,
                   attempt.failed ? "failed" : "finished", t, path.states[t], path.actions[t],
                   attempt.paid.probabilities[t], path.rewards[t], path.states[t + 1],
                   t + 1 < path.length() ? ""
                   : attempt.failed      ? "failed"
                   : path.truncated      ? "cut"
                                         : "terminal");
    });
  return 0;
}

int merge(const Options& options) {
  if (options.into.empty())
    throw Error(Errc::usage, "hilo journal merge needs --into, the journal to merge into");
  std::vector<Journal> sources;
  for (const std::string& file : options.files) {
    if (std::filesystem::exists(options.into) && std::filesystem::exists(file) &&
        std::filesystem::equivalent(file, options.into))
      throw Error(Errc::usage, fmt::format("{} is to be merged into itself", file));
    sources.push_back(
        Journal::open_to_read(file, options.skip_damaged ? Damaged::leave_out : Damaged::stop));
  }
  const bool is_new = !std::filesystem::exists(options.into);
  std::uint64_t added = 0;
  try {
    added = Journal::open(options.into).merge(sources);
  } catch (const Error&) {
    std::error_code ignored;
    if (is_new) std::filesystem::remove(options.into, ignored);  // nothing was merged into it
    throw;
  }
  std::vector<std::string> left_out;
  for (const Journal& source : sources)
    for (const std::string& damage : source.damage()) left_out.push_back(damage);
  if (options.json) {
    fmt::print("{}\n", json_text(nlohmann::json{
                           {"journal", options.into}, {"added", added}, {"left_out", left_out}}));
    return 0;
  }
  for (const std::string& damage : left_out) fmt::print("left out, damaged: {}\n", damage);
  fmt::print("{}: {} attempts added\n", options.into, added);
  return 0;
}

// A run whose simulators exist in a program of the user alone has no spec that could be read here.
Learner replayed(const std::string& file, const JournalledRun& run) {
  std::optional<LearnSpec> spec;
  try {
    spec = parse_learn_spec(run.spec, file);
  } catch (const Error& e) {
    throw Error(
        Errc::spec,
        fmt::format("{}: run '{}' cannot be replayed here ({}); where its simulators are objects "
                    "in Python, the same call of hilo.learn replays it",
                    file, run.name, e.what()));
  }
  return Learner(*spec, {.journal = file, .use_checkpoint = false});
}

// Learns again from all that was paid for, and spends nothing.
int replay(const Options& options) {
  require_one(options);
  std::vector<JournalledRun> runs = Journal::open_to_read(options.files[0]).runs();
  nlohmann::json out = nlohmann::json::array();
  for (const JournalledRun& run : runs) {
    const SteadyClock::time_point start = SteadyClock::now();
    Learner learner = replayed(options.files[0], run);
    const bool done = learner.catch_up();
    const double seconds = seconds_since(start);
    const Bill bill = learner.bill();
    if (!options.json)
      fmt::print("{}: {} episodes learnt again in {:.2f} s; {}\n", run.name, learner.replayed(),
                 seconds, done ? "the run is done" : "the budget is not spent");
    out.push_back({{"name", run.name},
                   {"replayed", learner.replayed()},
                   {"seconds", seconds},
                   {"done", done},
                   {"episodes", bill.episodes}});
  }
  if (options.json) fmt::print("{}\n", json_text(out));
  return 0;
}

int run(const Options& options) {
  if (options.action == "list") return list(options);
  if (options.action == "export") return export_steps(options);
  if (options.action == "merge") return merge(options);
  return replay(options);
}

}  // namespace

Handler add_journal(App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("ACTION", options->action,
                 "list: the runs; export: all steps as CSV; merge: into one journal; replay: learn "
                 "again without spending")
      .required()
      .check(one_of({"list", "export", "merge", "replay"}));
  app.add_option("FILE", options->files, "journals of hilo learn").required();
  app.add_option("--into", options->into, "the journal that merge writes to");
  app.add_flag("--skip-damaged", options->skip_damaged, "merge what is whole, and name the rest");
  app.add_flag("--json", options->json, "print JSON");
  add_example(app, "hilo journal list plant.journal");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
