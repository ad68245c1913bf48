#include "hilo/report/text_tables.hpp"

#include "hilo/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hilo {
namespace {

// The number of characters, not of bytes: "±" is one character.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string plus_minus(const Summary& s) {
  if (s.n == 0) return "-";
  if (s.n == 1) return fmt::format("{:.4f}", s.mean);
  return fmt::format("{:.4f} ± {:.4f}", s.mean, s.standard_error);
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

std::string group_digits(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t place = digits.size(); place > 3 && digits[place - 4] != '-';) {
    place -= 3;
    digits.insert(place, "\u202f");
  }
  return digits;
}

std::vector<std::uint64_t> checkpoints(const Results& results, const std::string& metric) {
  std::vector<std::uint64_t> tested;
  for (const std::string& agent : results.agents())
    for (const std::uint64_t episode : results.common_episodes(agent, metric))
      tested.push_back(episode);
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

bool ends_differ(const Results& results, const std::string& metric) {
  return std::ranges::any_of(results.agents(), [&](const std::string& agent) {
    const auto episodes = results.episodes(agent, metric);
    return !episodes.empty() && results.at_seeds(agent, metric, episodes.back()).size() !=
                                    results.final_of(agent, metric).size();
  });
}

std::string learning_table(const Results& results, const std::string& metric) {
  const auto columns = checkpoints(results, metric);
  const bool with_end = ends_differ(results, metric);
  std::vector<std::vector<std::string>> rows = {{metric, "seeds"}};
  for (const std::uint64_t episode : columns) rows[0].push_back(fmt::format("{}", episode));
  if (with_end) rows[0].emplace_back("end");
  for (const std::string& agent : results.agents()) {
    rows.push_back({agent, fmt::format("{}", results.num_seeds(agent))});
    for (const std::uint64_t episode : columns)
      rows.back().push_back(plus_minus(results.at(agent, metric, episode)));
    if (with_end)
      rows.back().push_back(plus_minus(summarise(values_of(results.final_of(agent, metric)))));
  }
  return format_table(rows);
}

std::string difference_table(const Results& results, const std::string& baseline,
                             const std::string& metric) {
  const std::string where =
      ends_differ(results, metric) ? "the end" : fmt::format("{}", results.last_episode());
  std::vector<std::vector<std::string>> rows = {
      {fmt::format("{} at {}, minus {}", metric, where, baseline), "paired seeds", "difference",
       "95 % interval"}};
  for (const std::string& agent : results.agents()) {
    if (agent == baseline) continue;
    const Summary d = results.paired_difference(agent, baseline, metric);
    if (d.n < 2) continue;
    rows.push_back({agent, fmt::format("{}", d.n), fmt::format("{:+.4f}", d.mean),
                    fmt::format("[{:+.4f}, {:+.4f}]", d.low, d.high)});
  }
  return rows.size() > 1 ? format_table(rows) : "";
}

std::string show_published(const PublishedPoint& p) {
  return p.statistic == Statistic::median
             ? fmt::format("{:.4f} [{:.4f}, {:.4f}]", p.value, p.q1, p.q3)
             : fmt::format("{:.4f} ± {:.4f}", p.value, p.sd);
}

std::string show_ours(const Comparison& c) {
  if (c.seeds == 0) return "-";
  if (c.seeds == 1) return fmt::format("{:.4f}", c.value);
  return fmt::format("{:.4f} ± {:.4f}", c.value, c.standard_error);
}

std::string show_difference(const Comparison& c) {
  return c.verdict == Verdict::too_few_seeds ? "-" : fmt::format("{:+.1f} se", c.difference);
}

std::string show_verdict(const Comparison& c) {
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

std::string comparison_table(const std::vector<Comparison>& comparisons) {
  const bool medians =
      !comparisons.empty() && comparisons[0].published.statistic == Statistic::median;
  std::vector<std::vector<std::string>> rows = {
      {"agent", "episode", medians ? "median ± se" : "ours ± se",
       medians ? "published median [quartiles]" : "published ± sd", "difference", "verdict"}};
  for (const Comparison& c : comparisons)
    rows.push_back({c.published.agent, fmt::format("{}", c.published.episode), show_ours(c),
                    show_published(c.published), show_difference(c), show_verdict(c)});
  return format_table(rows);
}

}  // namespace hilo
