#include "hilo/store/detail/journal_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hilo/store/detail/checksum.hpp"

namespace hilo {
namespace {

std::string lines_of(const SimulatorIdentity& s) {
  return fmt::format("{}\n{}\n{}\n{}\n", s.role, s.name, s.version, s.identity);
}

}  // namespace

std::string lines_of(const std::vector<SimulatorIdentity>& simulators) {
  std::string text;
  for (const SimulatorIdentity& s : simulators) text += lines_of(s);
  return text;
}

std::vector<SimulatorIdentity> simulators_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::vector<SimulatorIdentity> out;
  for (std::size_t i = 0; i + 3 < lines.size(); i += 4)
    out.push_back({lines[i], lines[i + 1], lines[i + 2], lines[i + 3]});
  return out;
}

std::int64_t checksum_of(const JournalledRun& run) {
  return Checksum()
      .add(run.name)
      .add(static_cast<std::int64_t>(run.seed))
      .add(run.identity.text())
      .add(run.spec)
      .add(run.program)
      .add(run.started)
      .add(lines_of(run.simulators))
      .value();
}

std::string differences(const Configuration& before, const Configuration& now) {
  const auto find = [](const Configuration& in, const std::string& key) -> std::string {
    const auto found = std::ranges::find(in.entries(), key, &Configuration::Entry::key);
    return found == in.entries().end() ? "absent" : found->value;
  };
  std::vector<std::string> out;
  for (const auto& [key, value] : before.entries())
    if (find(now, key) != value)
      out.push_back(key == "problem.content"
                        ? "the files of the problem (a program, its arguments and inputs, or a "
                          "table) are others than before"
                        : fmt::format("{} was {} and is {}", key, value, find(now, key)));
  for (const auto& [key, value] : now.entries())
    if (find(before, key) == "absent")
      out.push_back(fmt::format("{} was absent and is {}", key, value));
  return fmt::format("{}", fmt::join(out, ", "));
}

}  // namespace hilo
