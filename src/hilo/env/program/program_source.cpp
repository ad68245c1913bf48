#include "hilo/env/program/program_source.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "hilo/core/error.hpp"
#include "hilo/core/process_group.hpp"
#include "hilo/core/stop_request.hpp"
#include "hilo/core/text.hpp"
#include "hilo/env/program/detail/program_files.hpp"

namespace hilo {
namespace {

constexpr int kNoLicence = 75;                           // EX_TEMPFAIL: try again later
constexpr double kFirstPause = 0.5, kLongestPause = 60;  // seconds, between two tries

std::chrono::steady_clock::duration seconds(double s) {
  return std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(s));
}

// A time-out of 0 is never reached.
SteadyClock::time_point until(SteadyClock::time_point from, double timeout) {
  constexpr double kForEver = 1e9;
  return from + seconds(timeout > 0 ? timeout : kForEver);
}

void pause(double for_seconds) {
  const SteadyClock::time_point end = SteadyClock::now() + seconds(for_seconds);
  while (SteadyClock::now() < end) {
    throw_if_stopped();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::string directory_of(const ProgramOptions& options) {
  std::string out = options.directory;
  for (std::size_t at = 0; (at = out.find("{worker}", at)) != std::string::npos;)
    out.replace(at, 8, std::to_string(options.worker));
  return out;
}

std::string name_of(const ProgramOptions& options) {
  return fmt::format("the program '{}'", options.command);
}

std::string words_of(ChildProcess& process) {
  std::string words = valid_utf8(process.last_words());
  while (words.ends_with('\n')) words.pop_back();
  return words.empty() ? "; it said nothing on standard error" : "; its last words: " + words;
}

// Programs that write into a pipe keep their answers back until there are many.
constexpr const char* kFlushHint =
    " (if it does answer, its output may be held back: flush after every line, or run it with "
    "stdbuf -oL, PYTHONUNBUFFERED=1 or mawk -W interactive)";

std::string why_no_answer(ChildProcess& process, double waited, bool has_answered) {
  switch (process.failure()) {
    case ChildProcess::Failure::late:
      return fmt::format("did not answer within {:.3g} s{}", waited,
                         has_answered ? "" : kFlushHint);
    case ChildProcess::Failure::line_too_long:
      return "wrote a line of more than 1 MB";
    case ChildProcess::Failure::ended:
      break;
  }
  return fmt::format("ended by {}", process.how_it_ended());
}

// An answer that is no `ok`. The program goes on after an `error`.
class ProgramRefused : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::vector<double> middle_of(const Space& box) {
  std::vector<double> middle;
  for (std::size_t i = 0; i < box.dimension(); ++i) {
    const double low = std::max(box.low()[i], -1.0);
    const double high = std::min(box.high()[i], 1.0);
    middle.push_back(low <= high                   ? (low + high) / 2
                     : std::isfinite(box.low()[i]) ? box.low()[i]
                                                   : box.high()[i]);
  }
  return middle;
}

struct Started {
  std::unique_ptr<ChildProcess> process;
  ProgramFacts facts;
};

// Starts the program once; nothing if it has no licence now.
std::optional<Started> try_to_start(const ProgramOptions& options) {
  auto process = std::make_unique<ChildProcess>(
      ChildOptions{.command = options.directory.empty() ? options.command
                                                        : command_from_anywhere(options.command),
                   .directory = directory_of(options),
                   .environment = {fmt::format("HILO_WORKER={}", options.worker)},
                   .memory_bytes = options.memory_mb << 20});
  const SteadyClock::time_point deadline = until(SteadyClock::now(), options.timeout_start);
  process->write_line(fmt::format("hello {}", kProtocolVersion), deadline);
  std::string chatter;
  while (true) {
    const auto line = process->read_line(deadline);
    if (!line) {
      if (process->failure() == ChildProcess::Failure::ended && process->exit_code() == kNoLicence)
        return std::nullopt;
      const std::string said =
          chatter.empty() ? "" : fmt::format("; on standard output it said '{}'", chatter);
      const std::string why = why_no_answer(*process, options.timeout_start, false);
      throw Error(Errc::simulator, fmt::format("{} was asked 'hello 1' and {}{}{}",
                                               name_of(options), why, said, words_of(*process)));
    }
    const bool from_fifo = process->is_answer_from_fifo();
    // A banner may stand on the standard output of a program that answers through a FIFO.
    if (!from_fifo && !line->starts_with('{') && !line->starts_with("ok {")) {
      chatter = chatter.empty() ? valid_utf8(line->substr(0, 200)) : chatter;
      continue;
    }
    if (!from_fifo && !chatter.empty())
      throw Error(
          Errc::simulator,
          fmt::format("{} wrote '{}' to its standard output before its answer to 'hello 1'; lines "
                      "that are not answers must start with #, or the answers must go to the FIFO "
                      "that HILO_OUT names",
                      name_of(options), chatter));
    process->settle(from_fifo);
    try {
      ProgramFacts facts = parse_hello(line->starts_with("ok ") ? line->substr(3) : *line);
      return Started{std::move(process), std::move(facts)};
    } catch (const Error& e) {
      throw Error(Errc::simulator, fmt::format("the answer of {} to 'hello 1' {}{}",
                                               name_of(options), e.what(), words_of(*process)));
    }
  }
}

// Where there is no licence, it waits for one, longer from time to time.
Started start_process(const ProgramOptions& options) {
  double wait = kFirstPause;
  for (int tries = 1; tries <= options.most_tries; ++tries) {
    if (auto started = try_to_start(options)) return std::move(*started);
    if (tries < options.most_tries) pause(wait);
    wait = std::min(2 * wait, kLongestPause);
  }
  throw Error(
      Errc::simulator,
      fmt::format("{} ended by exit code {} (try again later, such as without a licence) in "
                  "{} tries",
                  name_of(options), kNoLicence, options.most_tries));
}

}  // namespace

std::shared_ptr<ProgramSource> ProgramSource::start(const ProgramOptions& options) {
  Started started = start_process(options);
  auto source = std::make_shared<ProgramSource>(options, started.facts);
  source->process_ = std::move(started.process);
  return source;
}

ProgramSource::ProgramSource(ProgramOptions options, ProgramFacts facts)
    : StepSource(facts.observations, facts.actions),
      options_(std::move(options)),
      facts_(std::move(facts)),
      at_(facts_.observations) {}

void ProgramSource::run() {
  if (process_) return;
  Started started = start_process(options_);
  if (!(started.facts == facts_))
    throw Error(Errc::simulator,
                fmt::format("{} answers 'hello 1' differently than when it was first started",
                            name_of(options_)));
  process_ = std::move(started.process);
  paths_ = 0;
}

void ProgramSource::begin_path() {
  if (process_ && options_.restart_every > 0 && paths_ >= options_.restart_every) {
    process_->write_line("quit", until(SteadyClock::now(), 1));
    process_->wait_for_end(1);
    process_.reset();
  }
  if (process_) process_->look();
  run();
  ++paths_;
  path_began_ = SteadyClock::now();
  pending_cost_.reset();
  at_.clear();
}

std::string_view ProgramSource::ask(const std::string& line) {
  if (!process_)
    throw Error(Errc::usage,
                fmt::format("{} was asked '{}' before a reset", name_of(options_), line));
  try {
    if (const auto stray = process_->unread_line())
      give_up(line, fmt::format("it had written a line that nobody asked for: '{}'",
                                valid_utf8(stray->substr(0, 200))));
    const SteadyClock::time_point now = SteadyClock::now();
    const SteadyClock::time_point of_step = until(now, options_.timeout_step);
    const SteadyClock::time_point of_path = until(path_began_, options_.timeout_episode);
    const SteadyClock::time_point deadline = std::min(of_step, of_path);
    process_->write_line(line, deadline);
    const auto answer = process_->read_line(deadline);
    if (!answer) {
      const bool is_path_late = of_path < of_step;
      give_up(line, fmt::format(
                        "it {}{}",
                        why_no_answer(
                            *process_,
                            is_path_late ? options_.timeout_episode : options_.timeout_step, true),
                        is_path_late && process_->failure() == ChildProcess::Failure::late
                            ? ", the limit of a whole episode (timeout_episode)"
                            : ""));
    }
    return *answer;
  } catch (const Interrupted&) {
    process_.reset();
    throw;
  }
}

void ProgramSource::give_up(const std::string& line, const std::string& what) {
  const std::string words = words_of(*process_);
  process_.reset();
  throw Error(Errc::simulator, fmt::format("{} was asked '{}', but {}{}", name_of(options_),
                                           line.substr(0, 200), what, words));
}

template <class Parse>
auto ProgramSource::parsed(const std::string& line, Parse&& parse) {
  const std::string_view answer = ask(line);
  try {
    if (const auto refusal = refusal_in(answer)) {
      const std::string what = fmt::format(
          "{} was asked '{}', but answered {}: {}", name_of(options_), line.substr(0, 200),
          refusal->fatal ? "fatal" : "error", valid_utf8(refusal->text));
      if (refusal->fatal) process_.reset();
      throw ProgramRefused(what);
    }
    return parse(answer);
  } catch (const ProgramRefused& refused) {
    throw Error(Errc::simulator, refused.what());
  } catch (const Error& e) {
    give_up(line, fmt::format("its answer '{}' {}", valid_utf8(answer.substr(0, 200)),
                              valid_utf8(e.what())));
  }
}

void ProgramSource::reset(std::uint32_t seed, Points& out) {
  begin_path();
  line_ = fmt::format("reset {}", seed);
  parsed(line_, [&](std::string_view answer) {
    const ProgramAnswer begun = parse_begun(answer, facts_.observations, out);
    if (begun.end != EndMark::goes_on)
      throw Error(Errc::simulator, "says that the episode ends before its first step");
    pending_cost_ = begun.cost;
    return 0;
  });
}

bool ProgramSource::put(const Point& observation, std::uint32_t seed) {
  if (!facts_.starts_anywhere)
    throw Error(
        Errc::usage,
        fmt::format("{} cannot be started in any state: its answer to 'hello 1' has \"start\" "
                    "as \"none\"",
                    name_of(options_)));
  begin_path();
  line_ = fmt::format("start {}", seed);
  append_point(line_, observation);
  Points echo(facts_.observations);
  return parsed(line_, [&](std::string_view answer) {
    const ProgramAnswer begun = parse_begun(answer, facts_.observations, echo);
    if (facts_.observations.is_discrete() && echo[0].index() != observation.index())
      throw Error(Errc::simulator, "is in another state than the one that it was to start in");
    pending_cost_ = begun.cost;
    return begun.end == EndMark::terminal;
  });
}

SourceStep ProgramSource::step(const Point& action, Points& out) {
  line_ = "step";
  append_point(line_, action);
  return parsed(line_, [&](std::string_view answer) {
    const ProgramAnswer made = parse_step(answer, facts_.observations, out);
    SourceStep step{.reward = made.reward,
                    .ended = made.end == EndMark::terminal,
                    .cut = made.end == EndMark::cut,
                    .cost = made.cost};
    if (pending_cost_) step.cost = step.cost.value_or(0) + *std::exchange(pending_cost_, {});
    return step;
  });
}

double ProgramSource::reward(const Point& observation, const Point& action, const Point& next) {
  run();
  path_began_ = SteadyClock::now();
  line_ = "reward";
  for (const Point& point : {observation, action, next}) append_point(line_, point);
  return parsed(line_, [](std::string_view answer) { return parse_reward(answer); });
}

bool ProgramSource::tells_rewards() {
  if (tells_rewards_) return *tells_rewards_;
  Points seen(facts_.observations);
  reset(1, seen);
  Points action(facts_.actions);
  if (facts_.actions.is_discrete())
    action.push_back(std::uint64_t{0});
  else
    action.push_back(middle_of(facts_.actions));
  step(action[0], seen);
  std::string line = "reward";
  for (const Point& point : {seen[0], action[0], seen[1]}) append_point(line, point);
  tells_rewards_ = !refusal_in(ask(line));
  return *tells_rewards_;
}

bool ProgramSource::ends_without_input(double patience) {
  run();
  process_->wait_for_end(patience);
  return group_ends(patience);
}

bool ProgramSource::ends_by_sigterm(double patience) {
  run();
  ::kill(-process_->group(), SIGTERM);
  return group_ends(patience);
}

bool ProgramSource::group_ends(double patience) {
  const int group = process_->group();
  const SteadyClock::time_point begun = SteadyClock::now();
  while (!processes_of_group(group).empty() && seconds_since(begun) < patience) pause(0.02);
  const bool ended = processes_of_group(group).empty();
  process_.reset();
  return ended;
}

std::string ProgramSource::ask_plainly(const std::string& line) {
  run();
  path_began_ = SteadyClock::now();
  return std::string(ask(line));
}

}  // namespace hilo
