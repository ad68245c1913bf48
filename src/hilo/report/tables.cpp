#include "hilo/report/tables.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hilo {
namespace {

// Characters, not bytes: "±" is one.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string plus_minus(const Summary& s) {
  if (s.n == 0) return "-";
  if (s.n == 1) return fmt::format("{:.4f}", s.mean);
  return fmt::format("{:.4f} ± {:.4f}", s.mean, s.standard_error);
}

std::string difference_of(const Comparison& c) {
  return c.verdict == Verdict::too_few_seeds ? "-" : fmt::format("{:+.1f} se", c.difference);
}

std::string verdict_of(const Comparison& c) {
  switch (c.verdict) {
    case Verdict::agrees:
      return "agrees";
    case Verdict::differs:
      return "DIFFERS";
    case Verdict::too_few_seeds:
      return "too few seeds";
  }
  return "";
}

}  // namespace

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - width(row[i]), ' ');
      line += i == 0 ? row[i] + pad : "  " + pad + row[i];
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::vector<std::uint64_t> checkpoints(const Results& results, const std::string& metric) {
  std::vector<std::uint64_t> tested;
  for (const std::string& agent : results.agents()) {
    const auto episodes = results.episodes(agent, metric);
    tested.insert(tested.end(), episodes.begin(), episodes.end());
  }
  std::ranges::sort(tested);
  std::vector<std::uint64_t> out;
  if (tested.empty()) return out;
  for (const std::uint64_t tenths : {0U, 1U, 2U, 5U, 10U}) {
    const std::uint64_t wanted = tested.back() / 10 * tenths;
    const std::uint64_t found =
        tenths == 10 ? tested.back() : *std::ranges::lower_bound(tested, wanted);
    if (out.empty() || out.back() != found) out.push_back(found);
  }
  return out;
}

std::string learning_table(const Results& results, const std::string& metric) {
  const auto columns = checkpoints(results, metric);
  std::vector<std::vector<std::string>> rows = {{metric, "seeds"}};
  for (const std::uint64_t episode : columns) rows[0].push_back(fmt::format("{}", episode));
  for (const std::string& agent : results.agents()) {
    rows.push_back({agent, fmt::format("{}", results.num_seeds(agent))});
    for (const std::uint64_t episode : columns)
      rows.back().push_back(plus_minus(results.at(agent, metric, episode)));
  }
  return format_table(rows);
}

std::string difference_table(const Results& results, const std::string& baseline,
                             const std::string& metric) {
  const std::uint64_t last = results.last_episode();
  std::vector<std::vector<std::string>> rows = {
      {fmt::format("{} at {}, minus {}", metric, last, baseline), "paired seeds", "difference",
       "95 % interval"}};
  for (const std::string& agent : results.agents()) {
    if (agent == baseline) continue;
    const Summary d = results.paired_difference(agent, baseline, metric, last);
    if (d.n < 2) continue;
    rows.push_back({agent, fmt::format("{}", d.n), fmt::format("{:+.4f}", d.mean),
                    fmt::format("[{:+.4f}, {:+.4f}]", d.low, d.high)});
  }
  return rows.size() > 1 ? format_table(rows) : "";
}

std::string comparison_table(const std::vector<Comparison>& comparisons) {
  std::vector<std::vector<std::string>> rows = {
      {"agent", "episode", "ours ± se", "published ± sd", "difference", "verdict"}};
  for (const Comparison& c : comparisons)
    rows.push_back({c.published.agent, fmt::format("{}", c.published.episode), plus_minus(c.ours),
                    fmt::format("{:.4f} ± {:.4f}", c.published.mean, c.published.sd),
                    difference_of(c), verdict_of(c)});
  return format_table(rows);
}

}  // namespace hilo
