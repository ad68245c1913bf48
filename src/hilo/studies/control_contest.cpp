#include "hilo/studies/control_contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

// The parameter by which the cheap simulator of a problem is made worse: as it is, poor, and
// misleading, in the order of the experiment's sweep.
struct ControlProblem {
  const char* kind;
  const char* parameter;
  double of_quality[3];
};
constexpr ControlProblem kProblems[] = {{"pendulum", "low.gravity", {10, 5, -10}},
                                        {"cart-pole", "low.strength", {1, 0.4, -1}},
                                        {"acrobot", "low.strength", {2, 0.8, -2}}};

std::string quality_of(const ControlProblem& problem, const Configuration& configuration) {
  const std::string given = configuration.value(fmt::format("problem.{}", problem.parameter));
  if (given.empty()) return "";
  const double value = std::strtod(given.c_str(), nullptr);
  for (std::size_t q = 0; q < std::size(problem.of_quality); ++q)
    if (value == problem.of_quality[q]) return kControlQualities[q];
  return fmt::format("{} = {}", problem.parameter, given);
}

// "MFPG control=corrected low.gravity=-10" without the last word.
std::string without_quality(std::string label, const ControlProblem& problem) {
  const std::size_t at = label.find(fmt::format(" {}=", problem.parameter));
  if (at == std::string::npos) return label;
  const std::size_t end = label.find(' ', at + 1);
  return label.erase(at, end == std::string::npos ? std::string::npos : end - at);
}

void add_entries(const Results& results, const ControlProblem& problem, ControlTable& table) {
  for (const std::string& agent : results.agents()) {
    ControlEntry entry{.agent = without_quality(agent, problem),
                       .quality = quality_of(problem, results.configuration_of(agent)),
                       .episodes = results.common_episodes(agent, "test_return"),
                       .curves = {}};
    for (const std::uint64_t episode : entry.episodes)
      for (const auto& [seed, value] : results.at_seeds(agent, "test_return", episode))
        entry.curves[seed].push_back(table.scale.score(value));
    if (!entry.episodes.empty()) table.entries.push_back(std::move(entry));
  }
}

}  // namespace

std::vector<double> ControlEntry::at(std::uint64_t episode) const {
  const auto found = std::ranges::find(episodes, episode);
  std::vector<double> out;
  if (found == episodes.end()) return out;
  for (const auto& [seed, curve] : curves)
    out.push_back(curve[static_cast<std::size_t>(found - episodes.begin())]);
  return out;
}

std::vector<double> ControlEntry::means() const {
  std::vector<double> out(episodes.size(), 0.0);
  for (const auto& [seed, curve] : curves)
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] += curve[i] / static_cast<double>(curves.size());
  return out;
}

std::vector<double> ControlEntry::needed(double level) const {
  std::vector<double> out;
  for (const auto& [seed, curve] : curves) {
    const auto reached = std::ranges::find_if(curve, [&](double s) { return s >= level; });
    out.push_back(
        reached == curve.end()
            ? std::numeric_limits<double>::infinity()
            : static_cast<double>(episodes[static_cast<std::size_t>(reached - curve.begin())]));
  }
  return out;
}

const ControlEntry* ControlTable::find(const std::string& agent, const std::string& quality) const {
  const auto found = std::ranges::find_if(entries, [&](const ControlEntry& entry) {
    return entry.agent == agent && (entry.quality == quality || entry.quality.empty());
  });
  return found == entries.end() ? nullptr : &*found;
}

std::vector<ControlTable> read_control(
    const Store& store, const std::function<ControlScale(const std::string& kind)>& scale) {
  const auto known = store.experiments();
  std::vector<ControlTable> tables;
  for (const ControlProblem& problem : kProblems) {
    std::vector<std::string> names;
    for (const char* suffix : {"", "-many"})
      if (const auto name = fmt::format("control-{}{}", problem.kind, suffix);
          std::ranges::find(known, name) != known.end())
        names.push_back(name);
    if (names.empty()) continue;
    ControlTable table{.kind = problem.kind, .scale = scale(problem.kind), .entries = {}};
    for (const std::string& name : names) add_entries(Results(store, name), problem, table);
    if (!table.entries.empty()) tables.push_back(std::move(table));
  }
  if (tables.empty())
    throw Error(Errc::usage,
                "the contest in control needs the experiments of the study control: hilo "
                "reproduce control");
  return tables;
}

}  // namespace hilo
