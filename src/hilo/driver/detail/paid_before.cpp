#include "hilo/driver/detail/paid_before.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "hilo/core/error.hpp"
#include "hilo/core/version.hpp"

namespace hilo {

namespace {

std::vector<SimulatorIdentity> simulators_of(const LearnSpec& spec) {
  Configuration high;
  Configuration low;
  const ProblemKind& kind = *spec.config().problem_kind;
  for (const auto& [key, value] : spec.config().configuration.entries()) {
    if (!key.starts_with("problem.") || key == "problem.content") continue;
    const auto info = std::ranges::find(kind.parameters, key.substr(8), &ParameterInfo::name);
    const bool of_low = info != kind.parameters.end() && info->low_fidelity_only;
    (of_low ? low : high).add(key, value);
  }
  // The files of the expensive simulator alone, so that episodes can be reused with another cheap
  // one.
  if (kind.content_hash) {
    const Parameters parameters(kind.name, kind.parameters, spec.config().problem);
    high.add("content", kind.content_hash(parameters, false));
    low.add("content", kind.content_hash(parameters, true));
  }
  std::vector<SimulatorIdentity> out = {{.role = "high",
                                         .name = kind.name,
                                         .version = std::string(version()),
                                         .identity = high.hash()}};
  if (spec.config().agent->uses_low_fidelity())
    out.push_back({.role = "low",
                   .name = kind.name,
                   .version = std::string(version()),
                   .identity = low.hash()});
  return out;
}

std::vector<std::string> agents_that_can() {
  std::vector<std::string> names;
  for (const AgentKind& kind : agent_kinds())
    if (kind.learns_from_any_policy) names.push_back(kind.name);
  return names;
}

const SimulatorIdentity* high_of(const std::vector<SimulatorIdentity>& simulators) {
  const auto found = std::ranges::find(simulators, "high", &SimulatorIdentity::role);
  return found == simulators.end() ? nullptr : &*found;
}

// The finished episodes of the same simulator, in the order in which they were made.
void collect(const Journal& from, const SimulatorIdentity& high, std::size_t max_steps,
             std::vector<Attempt>& out, std::set<std::string>& others) {
  for (const JournalledRun& run : from.runs()) {
    const SimulatorIdentity* theirs = high_of(run.simulators);
    if (theirs == nullptr || theirs->name != high.name || theirs->identity != high.identity) {
      others.insert(
          fmt::format("'{}' of run '{}'", theirs != nullptr ? theirs->name : "?", run.name));
      continue;
    }
    from.for_each_attempt(run.id, [&](const Attempt& attempt) {
      if (attempt.failed || attempt.is_reused() || attempt.paid.vectors) return;
      if (attempt.paid.path.length() > max_steps)
        throw Error(
            Errc::spec,
            fmt::format("{}: run '{}' has an episode of {} steps, but train.max_steps is {}: "
                        "an episode that is reused must not be longer",
                        from.file().string(), run.name, attempt.paid.path.length(), max_steps));
      Attempt copy = attempt;
      copy.at = {.episode = out.size()};
      copy.number = 0;
      copy.cost = 0;
      copy.cost_source = kReused;
      copy.low_steps = 0;
      copy.low_seconds = copy.seconds = copy.clock = 0;
      out.push_back(std::move(copy));
    });
  }
}

// Empty if nothing is to be reused, or if the run has its reused episodes already.
std::vector<Attempt> find_reused(const LearnSpec& spec, const LearnFiles& files,
                                 const Journal& journal) {
  if (files.reuse.empty()) return {};
  if (spec.config().problem_kind->has_vectors(spec.config().problem))
    throw Error(Errc::spec,
                "episodes of other runs cannot be reused where states or actions are vectors: "
                "agents for these learn from episodes of their own policy alone");
  if (!spec.config().agent->learns_from_any_policy)
    throw Error(Errc::spec,
                fmt::format("episodes of other runs cannot be reused by {}, which learns from "
                            "episodes of its own policy alone; {} can",
                            spec.config().agent->name, fmt::join(agents_that_can(), ", ")));
  for (const JournalledRun& run : journal.runs()) {
    if (run.name != spec.spec.name || run.seed != spec.seed) continue;
    const Spent spent = journal.spent(run.id);
    if (spent.reused > 0) return {};
    if (spent.attempts > 0)
      throw Error(Errc::usage,
                  fmt::format("{}: run '{}' has begun without the episodes that are to be reused; "
                              "give the new run another name",
                              files.journal.string(), run.name));
  }
  const std::vector<SimulatorIdentity> simulators = simulators_of(spec);
  const SimulatorIdentity& high = *high_of(simulators);
  std::vector<Attempt> paid;
  std::set<std::string> others;
  std::vector<std::string> names;
  const auto max_steps = static_cast<std::size_t>(spec.config().train.integer("max_steps"));
  std::vector<std::filesystem::path> seen;
  for (const std::filesystem::path& file : files.reuse) {
    names.push_back(file.string());
    std::error_code ignored;
    if (std::ranges::any_of(seen, [&](const auto& other) {
          return std::filesystem::equivalent(file, other, ignored);
        }))
      continue;  // named twice
    seen.push_back(file);
    if (std::filesystem::equivalent(file, files.journal, ignored))
      collect(journal, high, max_steps, paid, others);
    else
      collect(Journal::open_to_read(file), high, max_steps, paid, others);
  }
  if (paid.empty())
    throw Error(
        Errc::data,
        fmt::format("{}: there is no finished episode of the expensive simulator '{}' with the "
                    "same parameters{}",
                    fmt::join(names, ", "), high.name,
                    others.empty() ? "" : fmt::format(" (there is: {})", fmt::join(others, ", "))));
  return paid;
}

}  // namespace

std::int64_t begin_run(const LearnSpec& spec, const LearnFiles& files, Journal& journal) {
  const JournalledRun run{.name = spec.spec.name,
                          .seed = spec.seed,
                          .identity = spec.identity,
                          .spec = spec.spec.text,
                          .program = {},
                          .started = {},
                          .simulators = simulators_of(spec)};
  const std::vector<Attempt> reused = find_reused(spec, files, journal);
  const std::int64_t id = journal.find_or_add(run);
  if (!reused.empty()) journal.append_all(id, reused);
  return id;
}

}  // namespace hilo
