#include "hilo/env/program/conformance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hilo/core/error.hpp"
#include "hilo/core/process_group.hpp"
#include "hilo/core/stop_request.hpp"
#include "hilo/env/program/detail/checked_start.hpp"
#include "hilo/env/program/detail/checked_walk.hpp"

namespace hilo {
namespace {

constexpr std::uint64_t kMostActions = 1000;  // that are tried one by one
constexpr double kPatience = 2;               // seconds, for a program to end by itself
constexpr double kLeakBytes = 20e6;           // growth over all episodes that counts as a leak

void quantiles(std::vector<double> values, double (&out)[3]) {
  if (values.empty()) return;
  std::ranges::sort(values);
  const double shares[3] = {0.05, 0.5, 0.95};
  for (int i = 0; i < 3; ++i)
    out[i] = values[static_cast<std::size_t>(shares[i] * static_cast<double>(values.size() - 1))];
}

const std::string kNotRepeated =
    "- the same seed gives different paths, so that this cannot be told";

class Battery {
 public:
  Battery(const CheckedSimulator& simulator, const SimulatorCheckOptions& options)
      : simulator_(simulator), options_(options) {
    out_.facts = simulator.facts;
  }

  SimulatorCheck run() {
    check("answers", "what cannot be understood ends the episode, and it is paid for",
          "see docs/programs.md for what an answer must look like",
          [&] { return many_episodes(); });
    if (!out_.findings.back().found.empty() && out_.findings.back().verdict == Verdict::bad)
      return out_;  // nothing else can be told
    check("spaces", "an agent needs to know what it can see and do", "give bounds in 'hello'",
          [&] { return spaces(); });
    check("ends", "returns of episodes that never end cannot be learnt from",
          "let episodes end (END 1), or cut them yourself (END 2), or raise max_steps",
          [&] { return ends(); });
    check("memory", "a long run ends when the machine has no memory left",
          "free what an episode used, or set restart_every in the spec", [&]() -> std::string {
            return growth_ <= kLeakBytes
                       ? ""
                       : fmt::format("it grew by {:.0f} MB in {} episodes", growth_ / 1e6, made_);
          });
    if (simulator_.facts.seedable) {
      const char* means =
          "a run cannot be repeated, continued after a crash or compared with another one";
      check(
          "same seed", means,
          "draw all random numbers from a generator that reset seeds, and let reset set everything "
          "back",
          [&] { return same_again(*first_); });
      repeats_ = out_.findings.back().verdict == Verdict::good;
      check("fresh start", means, "keep nothing on disk or elsewhere that changes the next run",
            [&] { return repeats_ ? same_again(*simulator_.start()) : kNotRepeated; });
      check("abandoned episode",
            "an episode depends on the one before, so that what is learnt depends on luck",
            "let reset set everything back, also in the middle of an episode",
            [&] { return repeats_ ? after_abandoned() : kNotRepeated; });
      check("other seeds", "all episodes are the same one", "use the seed that reset gets",
            [&] { return other_seeds(); });
      check("two at once",
            "with several workers, or beside another run, results are those of neither",
            "let every instance work in files of its own: HILO_WORKER has its number, and "
            "directory = \"run-{worker}\" gives it a folder",
            [&] { return repeats_ ? two_at_once() : kNotRepeated; });
    }
    check("all actions", "the agent cannot learn what an action does",
          "accept every action that 'hello' declares", [&] { return all_actions(); });
    check("start", "a cheap simulator must be put into any state that the expensive one sees",
          "answer start SEED OBS by ok END OBS with the same observation",
          [&] { return start_echoes(); });
    check("start continues the path",
          "the observation is not the whole state: something else that it remembers decides, too, "
          "and roll-outs from a state are not those of the path",
          "put everything that decides what comes next into the observation",
          [&] { return start_continues(*first_, simulator_.facts, options_.seed); });
    check("reward", "returns along the expensive simulator's path would be wrong",
          "let reward OBS A OBS2 give what step gives",
          [&] { return rewards_agree(*first_, options_.seed); });
    if (auto* program = dynamic_cast<ProgramSource*>(first_.get())) check_as_program(*program);
    return out_;
  }

 private:
  // What a check found: empty if all is well. Skips begin with '-'.
  using Check = std::function<std::string()>;

  void check(const char* name, const char* means, const char* mend, const Check& look) {
    Finding finding{.check = name};
    try {
      finding.found = look();
    } catch (const Error& e) {
      finding.found = e.what();
      first_.reset();
    }
    if (finding.found.starts_with('-')) {
      finding.verdict = Verdict::skipped;
      finding.found.erase(0, 2);
    } else if (!finding.found.empty()) {
      finding.verdict = Verdict::bad;
      finding.means = means;
      finding.mend = mend;
    }
    if (options_.on_finding) options_.on_finding(finding);
    out_.findings.push_back(std::move(finding));
    if (!first_) first_ = simulator_.start();
  }

  void check_as_program(ProgramSource& program) {
    const auto error_to = [&](const std::string& line) -> std::string {
      const std::string answer = program.ask_plainly(line);
      return answer.starts_with("error")
                 ? ""
                 : fmt::format("'{}' was answered by '{}'", line, answer.substr(0, 200));
    };
    check("illegal action", "a mistake in a policy would not be noticed",
          "answer an action that does not exist by error TEXT", [&]() -> std::string {
            program.ask_plainly(fmt::format("reset {}", options_.seed));
            if (simulator_.facts.actions.is_discrete())
              return error_to(fmt::format("step {}", simulator_.facts.actions.size()));
            return error_to("step nothing");
          });
    check("step after the end", "a mistake in the loop would not be noticed",
          "answer a step after END 1 or 2 by error TEXT", [&] { return after_end(program); });
    check("end of input", "programs stay behind when hilo ends",
          "end when the input ends, and end what was started", [&]() -> std::string {
            return program.ends_without_input(kPatience)
                       ? ""
                       : fmt::format("it still ran {:g} s after the end of its input", kPatience);
          });
    check("SIGTERM", "it has to be killed, so that it cannot put anything in order before",
          "do not ignore SIGTERM, and end what was started", [&]() -> std::string {
            return program.ends_by_sigterm(kPatience)
                       ? ""
                       : fmt::format("something of it still ran {:g} s after SIGTERM", kPatience);
          });
  }

  std::string many_episodes() {
    first_ = simulator_.start();
    auto* program = dynamic_cast<ProgramSource*>(first_.get());
    std::vector<double> steps;
    std::vector<double> episodes;
    std::uint64_t memory = 0;
    std::uint64_t length = 0;
    for (std::uint32_t e = 0; e < options_.episodes; ++e) {
      const SteadyClock::time_point begun = SteadyClock::now();
      Walk walk(*first_, options_.seed + e);
      walk.reset(options_.seed + e);
      for (std::uint32_t t = 0; t < options_.max_steps; ++t) {
        throw_if_stopped();
        const SteadyClock::time_point before = SteadyClock::now();
        const bool goes_on = walk.step();
        if (steps.size() < 100'000) steps.push_back(seconds_since(before));
        ++length;
        if (!goes_on) break;
      }
      ended_ += walk.path().ended || walk.path().cut ? 1 : 0;
      ++made_;
      episodes.push_back(seconds_since(begun));
      if (e == options_.episodes / 10 && program != nullptr)
        memory = memory_of_group(program->group());
    }
    quantiles(steps, out_.step_seconds);
    quantiles(episodes, out_.episode_seconds);
    out_.mean_length = static_cast<double>(length) / std::max(1U, made_);
    if (program != nullptr && memory > 0)
      growth_ =
          static_cast<double>(memory_of_group(program->group())) - static_cast<double>(memory);
    return "";
  }

  std::string spaces() const {
    const ProgramFacts& facts = simulator_.facts;
    std::size_t open = 0;
    for (const Space* space : {&facts.observations, &facts.actions})
      for (std::size_t i = 0; i < space->dimension(); ++i)
        open += std::isfinite(space->low()[i]) && std::isfinite(space->high()[i]) ? 0 : 1;
    if (!facts.actions.is_discrete() || !facts.observations.is_discrete())
      return open == 0 ? ""
                       : fmt::format(
                             "- {} bounds are infinite: a grid needs grid_low and "
                             "grid_high in the spec",
                             open);
    if (facts.observations.size() > 1'000'000)
      return fmt::format("- {} states are many for a table", facts.observations.size());
    return "";
  }

  std::string ends() const {
    if (ended_ == made_) return "";
    if (ended_ == 0)
      return fmt::format("none of {} episodes of random actions ended within {} steps", made_,
                         options_.max_steps);
    return fmt::format("- {} of {} episodes of random actions did not end within {} steps",
                       made_ - ended_, made_, options_.max_steps);
  }

  std::string same_again(StepSource& again) {
    for (std::uint32_t e = 0; e < 3; ++e) {
      const std::uint32_t seed = options_.seed + e;
      const Path before = walk(*first_, seed, kFewSteps);
      if (const std::string d = difference(before, walk(again, seed, kFewSteps)); !d.empty())
        return fmt::format("twice the seed {} and the same actions gave two paths; {}", seed, d);
    }
    return "";
  }

  std::string after_abandoned() {
    const Path before = walk(*first_, options_.seed, kFewSteps);
    walk(*first_, options_.seed + 1, 2);
    const std::string d = difference(before, walk(*first_, options_.seed, kFewSteps));
    return d.empty() ? ""
                     : fmt::format(
                           "after an episode that was left in the middle, seed {} gave "
                           "another path than before; {}",
                           options_.seed, d);
  }

  std::string other_seeds() {
    std::set<std::vector<std::string>> different;
    for (std::uint32_t e = 0; e < 10; ++e) {
      Walk walk(*first_, options_.seed);  // the same actions
      walk.reset(options_.seed + e);
      for (std::uint32_t t = 0; t < kFewSteps && walk.step();) ++t;
      different.insert(walk.path().lines);
    }
    if (different.size() > 1) return "";
    if (simulator_.facts.deterministic) return "- it is deterministic: all seeds give one path";
    return "ten seeds gave one and the same path, although 'hello' does not say that it is "
           "deterministic";
  }

  std::string two_at_once() {
    const auto second = simulator_.start();
    const std::uint32_t a = options_.seed;
    const std::uint32_t b = options_.seed + 1;
    const Path alone_a = walk(*first_, a, kFewSteps);
    const Path alone_b = walk(*second, b, kFewSteps);
    Walk walk_a(*first_, a);
    Walk walk_b(*second, b);
    walk_a.reset(a);
    walk_b.reset(b);
    bool a_goes_on = true;
    bool b_goes_on = true;
    for (std::uint32_t t = 0; t < kFewSteps && (a_goes_on || b_goes_on); ++t) {
      if (a_goes_on) a_goes_on = walk_a.step();
      if (b_goes_on) b_goes_on = walk_b.step();
    }
    for (const auto& [alone, together] :
         {std::pair(&alone_a, &walk_a.path()), std::pair(&alone_b, &walk_b.path())})
      if (const std::string d = difference(*alone, *together); !d.empty())
        return "beside another instance it gave another path than alone; " + d;
    return "";
  }

  std::string all_actions() {
    const Space& space = simulator_.facts.actions;
    const SourceEntry entry(*first_);
    Points seen(first_->observation_space());
    if (!space.is_discrete()) {
      for (const bool high : {false, true}) {
        std::vector<double> corner;
        for (std::size_t i = 0; i < space.dimension(); ++i) {
          const double bound = (high ? space.high() : space.low())[i];
          corner.push_back(std::isfinite(bound) ? bound : (high ? 1 : -1));
        }
        first_->reset(options_.seed, seen);
        first_->step(Point(std::span<const double>(corner)), seen);
      }
      return "";
    }
    for (std::uint64_t a = 0; a < std::min(space.size(), kMostActions); ++a) {
      first_->reset(options_.seed, seen);
      first_->step(Point(a), seen);
    }
    return "";
  }

  std::string start_echoes() {
    if (!simulator_.facts.starts_anywhere)
      return "- it can only start where it wants (\"start\": \"none\"), so that it can only be the "
             "expensive one";
    const Path path = walk(*first_, options_.seed, kFewSteps);
    auto* program = dynamic_cast<ProgramSource*>(first_.get());
    if (program == nullptr) return "";
    for (const std::string& observation : path.observations) {
      const std::string line = fmt::format("start {}{}", options_.seed, observation);
      const std::string answer = program->ask_plainly(line);
      Points echo(first_->observation_space());
      if (refusal_in(answer))
        return fmt::format("'{}', a state of a path, was answered by '{}'", line, answer);
      parse_begun(answer, first_->observation_space(), echo);
      if (text_of(echo[0]) != observation)
        return fmt::format("'{}' was answered by '{}', which is another observation", line, answer);
    }
    return "";
  }

  std::string after_end(ProgramSource& program) {
    Walk walk(program, options_.seed);
    walk.reset(options_.seed);
    for (std::uint32_t t = 0; t < options_.max_steps && walk.step();) ++t;
    if (!walk.path().ended && !walk.path().cut) return "- no episode ended";
    std::string line = "step";
    Actions actions(program.action_space(), options_.seed);
    append_point(line, actions.at(0));
    const std::string answer = program.ask_plainly(line);
    return answer.starts_with("error")
               ? ""
               : fmt::format("a step after the end was answered by '{}'", answer.substr(0, 200));
  }

  bool repeats_ = true;  // the same seed gives the same path
  const CheckedSimulator& simulator_;
  SimulatorCheckOptions options_;
  SimulatorCheck out_;
  std::shared_ptr<StepSource> first_;
  std::uint32_t made_ = 0, ended_ = 0;
  double growth_ = 0;  // of its memory, in bytes
};

}  // namespace

bool SimulatorCheck::is_good() const {
  return std::ranges::none_of(findings, [](const Finding& f) { return f.verdict == Verdict::bad; });
}

SimulatorCheck check_simulator(const CheckedSimulator& simulator,
                               const SimulatorCheckOptions& options) {
  return Battery(simulator, options).run();
}

SimulatorCheck check_program(const ProgramOptions& given, const SimulatorCheckOptions& options) {
  ProgramOptions program = given;
  program.most_tries = 3;
  SimulatorCheck out;
  Finding hello{.check = "hello",
                .means = "nothing can be learnt from a program that does not answer",
                .mend =
                    "answer the line 'hello 1' by one line of JSON, and flush it "
                    "(docs/programs.md)"};
  ProgramFacts facts;
  try {
    facts = ProgramSource::start(program)->facts();
    hello.means = hello.mend = "";
  } catch (const Error& e) {
    hello.verdict = Verdict::bad;
    hello.found = e.what();
    if (hello.found.find("cannot be started") != std::string::npos)
      hello.mend = "give the path of the program, as in ./my_sim, and make it executable";
    else if (hello.found.find("before its answer") != std::string::npos)
      hello.mend = "let the first line on standard output be the answer (docs/programs.md)";
    if (options.on_finding) options.on_finding(hello);
    out.findings.push_back(hello);
    return out;
  }
  if (options.on_finding) options.on_finding(hello);
  std::uint32_t worker = 0;
  out = check_simulator({.start = [&]() -> std::shared_ptr<StepSource> {
                           ProgramOptions instance = program;
                           instance.worker = worker++;
                           return std::make_shared<ProgramSource>(instance, facts);
                         },
                         .facts = facts},
                        options);
  out.findings.insert(out.findings.begin(), hello);
  return out;
}

}  // namespace hilo
