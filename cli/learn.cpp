#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <deque>

#include "cli/checks.hpp"
#include "cli/commands.hpp"
#include "cli/learn_text.hpp"
#include "cli/ranks.hpp"
#include "cli/standard_streams.hpp"
#include "cli/stop_signal.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/output_file.hpp"
#include "hilo/core/stopwatch.hpp"
#include "hilo/core/text_file.hpp"
#include "hilo/driver/learn_json.hpp"
#include "hilo/driver/remote_workers.hpp"
#include "hilo/report/learn_page.hpp"
#include "hilo/report/table.hpp"

namespace hilo::cli {
namespace {

constexpr const char* kPolicyMark = "\"hilo_policy\"";
constexpr const char* kRequestMark = "\"hilo_request\"";
constexpr const char* kPageMark = "· hilo</title>";
constexpr std::size_t kMaxToldBytes = 1U << 30;

struct Options {
  std::string spec, journal, policy, page, ask, tell;
  std::vector<std::string> reuse;
  Overrides overrides;
  bool dry_run = false, json = false, no_sync = false, force = false;
  double checkpoint_every = 5;
};

// The journal stands beside the policy unless it has a name of its own.
LearnOutputs files_of(const Options& options, const LearnSpec& spec) {
  LearnOutputs files;
  files.policy = options.policy.empty() ? spec.spec.name + ".policy.json" : options.policy;
  files.journal = options.journal.empty()
                      ? files.policy.parent_path() / (spec.spec.name + ".journal")
                      : std::filesystem::path(options.journal);
  files.page = options.page.empty() ? files.policy.parent_path() / (spec.spec.name + ".html")
                                    : std::filesystem::path(options.page);
  return files;
}

void write_file(const std::filesystem::path& file, const std::string& text, const char* mark,
                const Options& options, const LearnOutputs& files) {
  AtomicFile out(file,
                 {.mark = mark, .inputs = {options.spec, files.journal}, .force = options.force});
  out.out() << text;
  out.commit();
}

// Eight heights, from the lowest to the highest of the values.
std::string spark_line(const std::deque<double>& values) {
  static constexpr const char* kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const auto [low, high] = std::ranges::minmax(values);
  std::string out;
  for (const double value : values)
    out += kBars[high > low ? std::min<std::size_t>(
                                  7, static_cast<std::size_t>(8 * (value - low) / (high - low)))
                            : 3];
  return out;
}

// One line on a terminal, rewritten in place; a line now and then where nobody watches.
class LearnProgress {
 public:
  explicit LearnProgress(const LearnSpec& spec, bool json)
      : name_(spec.spec.name), json_(json), on_terminal_(::isatty(STDERR_FILENO) == 1) {}
  LearnProgress(const LearnProgress&) = delete;
  LearnProgress& operator=(const LearnProgress&) = delete;
  ~LearnProgress() {
    if (shown_) say("\r\033[K");
  }

  void show(const Learner& learner) {
    const Bill bill = learner.bill();
    const std::optional<double> last = learner.last_return();
    if (last && bill.episodes != seen_) {
      seen_ = bill.episodes;
      returns_.push_back(*last);
      if (returns_.size() > kReturns) returns_.pop_front();
      if (json_) {
        const nlohmann::json line = {{"episode", bill.episodes},
                                     {"return", *last},
                                     {"cost", bill.cost()},
                                     {"share", learner.share()}};
        try {
          fmt::print("{}\n", line.dump());
        } catch (const std::system_error&) {
          json_ = false;  // nobody reads it any more, which is no reason to stop
        }
      }
    }
    const double elapsed = seconds_since(start_);
    const double share = learner.share();
    const bool due = on_terminal_ ? elapsed - last_shown_ > 0.2 : share - last_share_ >= 0.1;
    if (!due || returns_.empty() || (json_ && !on_terminal_)) return;
    last_shown_ = elapsed;
    last_share_ = share;
    const double begun = std::max(share - first_share_, 0.0);
    if (first_share_ < 0) first_share_ = share;
    double mean = 0;
    for (const double value : returns_) mean += value / static_cast<double>(returns_.size());
    const std::string line = fmt::format(
        "{}: {} episodes, cost {:.4g}, {:.0f} % of the budget, {} left, return {:.4g} {}", name_,
        bill.episodes, bill.cost(), 100 * share,
        begun > 0 ? minutes(elapsed * (1 - share) / begun) : "?", mean,
        on_terminal_ ? spark_line(returns_) : "");
    say(on_terminal_ ? "\r\033[K" + line : line + "\n");
    shown_ = on_terminal_;
  }

 private:
  static constexpr std::size_t kReturns = 20;
  std::string name_;
  bool json_, on_terminal_;
  bool shown_ = false;
  SteadyClock::time_point start_ = SteadyClock::now();
  double last_shown_ = 0, last_share_ = 0, first_share_ = -1;
  std::uint64_t seen_ = 0;
  std::deque<double> returns_;
};

void write_policy(const Learner& learner, const Options& options, const LearnOutputs& files) {
  write_file(files.policy, policy_json(learner), kPolicyMark, options, files);
}

int finish(const Learner& learner, const Options& options, const LearnOutputs& files,
           bool was_done = false) {
  write_policy(learner, options, files);
  write_file(files.page, make_learn_page(learner, "hilo learn " + options.spec), kPageMark, options,
             files);
  if (options.json)
    fmt::print(
        "{}\n",
        to_json(learner, files).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  else
    fmt::print("{}{}", describe(learner, files),
               was_done ? "  nothing was spent now: the run was done\n" : "");
  return 0;
}

// One half of an exchange through files: an answer is taken first, then the next request written.
int exchange(Learner& learner, const Options& options, const LearnOutputs& files) {
  if (!options.tell.empty()) {
    const Told told =
        read_told(read_text_file(options.tell, kMaxToldBytes, Errc::data), options.tell);
    learner.note_answer();
    const auto request = learner.ask();
    if (told.attempt && request && *told.attempt != request->attempt)
      throw Error(Errc::usage,
                  fmt::format("{}: is an answer to attempt {}, but attempt {} is asked for",
                              options.tell, *told.attempt, request->attempt));
    if (!request)
      throw Error(Errc::usage,
                  fmt::format("{}: the run is done, so that nothing was asked for", options.tell));
    if (request->at != told.at)
      throw Error(Errc::usage,
                  fmt::format("{}: is an answer to episode {}{}, but episode {}{} is asked for",
                              options.tell, told.at.episode,
                              told.at.test ? fmt::format(", test {}", *told.at.test) : "",
                              request->at.episode,
                              request->at.test ? fmt::format(", test {}", *request->at.test) : ""));
    if (told.episode)
      learner.tell(*told.episode, told.cost);
    else if (told.vectors)
      learner.tell(*told.vectors, told.cost);
    else
      learner.tell_failure(told.failure, told.cost);
    learner.keep_checkpoint();
  }
  const auto request = learner.ask();
  if (!request) return finish(learner, options, files);
  if (!options.ask.empty()) {
    write_file(options.ask, request_json(*request, learner.spec()), kRequestMark, options, files);
    learner.note_asked();
    learner.keep_checkpoint();
  }
  if (options.json)
    fmt::print("{}\n", nlohmann::json{{"done", false}, {"bill", to_json(learner.bill())}}.dump());
  return 0;
}

// Before anything is spent: everything that will be written can be written, and to files of its
// own.
void require_outputs(const Options& options, const LearnOutputs& files) {
  namespace fs = std::filesystem;
  std::vector<std::pair<fs::path, const char*>> outputs = {{files.policy, kPolicyMark},
                                                           {files.page, kPageMark}};
  if (!options.ask.empty()) outputs.emplace_back(options.ask, kRequestMark);
  std::vector<fs::path> taken = {options.spec, files.journal,
                                 files.journal.string() + ".checkpoint"};
  if (!options.tell.empty()) taken.emplace_back(options.tell);
  std::error_code ignored;
  for (const auto& [file, mark] : outputs) {
    require_writable(file, {.mark = mark, .inputs = taken, .force = options.force});
    require_folder(file);
    for (const fs::path& other : taken)
      if (fs::weakly_canonical(fs::absolute(file), ignored) ==
          fs::weakly_canonical(fs::absolute(other), ignored))
        throw Error(Errc::usage,
                    fmt::format("{}: is named twice, for two different things", file.string()));
    taken.push_back(file);
  }
}

// Whether the run is done. Otherwise it was interrupted.
bool spend(Learner& learner, LearnProgress& progress) {
  try {
    bool done = learner.catch_up([] { return !stop_requested; });
    while (!done && !stop_requested) {
      done = learner.step();
      progress.show(learner);
    }
    return done;
  } catch (const Interrupted&) {  // in the middle of an episode, which is made again
    return false;
  }
}

// Ranks are workers: the first one learns, and all of them run episodes.
bool uses_ranks(const Options& options) {
  return num_ranks() > 1 && !options.dry_run && options.ask.empty() && options.tell.empty();
}

void require_lag(const LearnSpec& spec) {
  if (spec.config().train.integer("lag") > 1) return;
  throw Error(Errc::usage,
              fmt::format("started as {} ranks, but train.lag is 1, so that expensive episodes run "
                          "one after the other: set train.lag to the number of episodes that may "
                          "be under way at the same time, or start one process",
                          num_ranks()));
}

int run(const Options& options) {
  if (!is_first_rank() && !uses_ranks(options)) return 0;
  const LearnSpec spec = load_learn_spec(options.spec, options.overrides);
  const LearnOutputs files = files_of(options, spec);
  if (options.dry_run) {
    dry_run(spec, files, options.json);
    return 0;
  }
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe must not end the run
  const StopOnSignal stop;
  if (uses_ranks(options)) require_lag(spec);
  if (!is_first_rank()) {
    run_episodes_for_first_rank(spec, [] { return !stop_requested; });
    return 0;
  }
  require_outputs(options, files);
  const std::unique_ptr<RemoteWorkers> remote =
      uses_ranks(options) ? make_remote_workers(spec) : nullptr;
  Learner learner(spec,
                  {.journal = files.journal,
                   .durable = !options.no_sync,
                   .checkpoint_every = options.checkpoint_every,
                   .reuse = {options.reuse.begin(), options.reuse.end()}},
                  remote.get());
  const std::uint64_t paid_before = learner.bill().attempts;
  if (!options.ask.empty() || !options.tell.empty()) return exchange(learner, options, files);
  {
    LearnProgress progress(spec, options.json);
    if (!spend(learner, progress)) {
      learner.keep_checkpoint();
      say(fmt::format("{}: interrupted after {} expensive episodes; the same command goes on\n",
                      spec.spec.name, learner.bill().episodes));
      return kInterrupted;
    }
  }
  return finish(learner, options, files, learner.bill().attempts == paid_before);
}

}  // namespace

Handler add_learn(App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("SPEC", options->spec, "problem, budget and agent, a TOML file").required();
  app.add_option("--policy", options->policy,
                 "where the policy is written; default NAME.policy.json");
  app.add_option("--journal", options->journal,
                 "where all that is paid for is kept; default NAME.journal beside the policy");
  app.add_option("--page", options->page,
                 "where the page of the run is written; default NAME.html beside the policy");
  app.add_option("--reuse", options->reuse,
                 "a journal of another run, whose episodes of the same simulator are learnt from "
                 "first; only for agents that learn from single steps")
      .each_time();
  app.add_option("--set", options->overrides, "set a key of the spec, as in budget.episodes=100")
      .each_time();
  app.add_flag("--dry-run", options->dry_run, "only say what would be spent at most");
  app.add_option("--ask", options->ask,
                 "write the next expensive episode that is needed into this file, and end");
  app.add_option("--tell", options->tell, "the episode that was asked for, in this file");
  app.add_option("--checkpoint-every", options->checkpoint_every,
                 "seconds between two checkpoints, which only save time")
      .capture_default_str()
      .check(number_in({.low = 0, .high = 1e6}));
  app.add_flag("--no-sync", options->no_sync,
               "do not wait for the disk after each episode: a power failure may lose some");
  add_force(app, options->force);
  app.add_flag("--json", options->json, "print lines of JSON");
  add_example(app, "hilo learn plant.toml --policy plant.policy.json");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
