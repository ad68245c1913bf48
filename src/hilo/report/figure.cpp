#include "hilo/report/figure.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "hilo/core/csv.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/text.hpp"
#include "hilo/report/published.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

// Okabe and Ito's colours: told apart by the colour-blind.
constexpr std::array<const char*, 8> kColours = {"#000000", "#E69F00", "#56B4E9", "#009E73",
                                                 "#0072B2", "#D55E00", "#CC79A7", "#999933"};

struct Terminal {
  const char* suffix;
  const char* set;
};
constexpr std::array<Terminal, 3> kTerminals = {{
    {"svg", "svg size 900,560 dynamic font 'Helvetica,14' background '#ffffff'"},
    {"pdf", "pdfcairo size 18cm,11.2cm font 'Helvetica,12'"},
    {"png", "pngcairo size 1350,840 font 'Helvetica,17'"},
}};

std::string axis_name(const std::string& metric) {
  if (metric == "test_reward") return "mean reward per step, greedy policy";
  if (metric == "test_return") return "discounted return, greedy policy";
  return metric;
}

// Text as one of gnuplot's single-quoted strings, in which nothing but the quote is special: a
// label from a store must not be able to run anything.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return out + "'";
}

// Files are called after the experiment, and the metric where it is not the usual one.
std::string file_stem(const Results& results, const std::string& metric) {
  const std::string& name = results.experiment();
  if (name.empty() || name[0] == '.' || name.find('/') != std::string::npos || !is_plain_text(name))
    throw Error(Errc::data, fmt::format("an experiment called '{}' cannot name a file", name));
  return metric == "test_reward" ? name : name + "-" + metric;
}

// Variants of one agent share a colour and differ in the line.
std::string without_variant(const std::string& agent) {
  for (const char* variant : {" as-published", " as-written"})
    if (agent.ends_with(variant)) return agent.substr(0, agent.size() - std::strlen(variant));
  return agent;
}

std::size_t colour_index(const Results& results, std::size_t agent) {
  std::vector<std::string> seen;
  for (std::size_t i = 0; i <= agent; ++i) {
    const std::string name = without_variant(results.agents()[i]);
    if (std::ranges::find(seen, name) == seen.end()) seen.push_back(name);
  }
  const auto place = std::ranges::find(seen, without_variant(results.agents()[agent]));
  return static_cast<std::size_t>(place - seen.begin()) % kColours.size();
}

// "36", or "20 to 36" where agents differ.
std::string seeds_of(const Results& results) {
  std::size_t least = results.num_seeds(results.agents()[0]);
  std::size_t most = least;
  for (const std::string& agent : results.agents()) {
    least = std::min(least, results.num_seeds(agent));
    most = std::max(most, results.num_seeds(agent));
  }
  return least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
}

std::string script(const Results& results, const std::string& metric, const fs::path& folder) {
  std::string data;
  std::string bands;
  std::string lines;
  std::string marks;
  const auto published = published_points(results.experiment());
  for (std::size_t i = 0; i < results.agents().size(); ++i) {
    const std::string& agent = results.agents()[i];
    if (results.episodes(agent, metric).empty()) continue;
    const char* colour = kColours[colour_index(results, i)];
    data += fmt::format("$curve{} << END\n", i);
    for (const std::uint64_t episode : results.episodes(agent, metric)) {
      const Summary s = results.at(agent, metric, episode);
      data += fmt::format("{} {} {} {}\n", episode, s.mean, s.low, s.high);
    }
    data += "END\n";
    bands += fmt::format(
        "  $curve{} using 1:3:4 with filledcurves fc rgb '{}' fs transparent "
        "solid 0.15 notitle, \\\n",
        i, colour);
    lines += fmt::format(
        "  $curve{} using 1:2 with lines lw 2 lc rgb '{}' dt {} title {} "
        "noenhanced, \\\n",
        i, colour, agent.ends_with("as-written") ? 2 : 1, quoted(agent));
    std::string points;
    for (const PublishedPoint& p : published)
      if (p.agent == agent && p.metric == metric)
        points += fmt::format("{} {}\n", p.episode, p.value);
    if (points.empty()) continue;
    data += fmt::format("$marks{} << END\n{}END\n", i, points);
    marks += fmt::format(
        "  $marks{} using 1:2 with points pt 6 ps 1.5 lw 2 lc rgb '{}' notitle, "
        "\\\n",
        i, colour);
  }
  if (!marks.empty())
    marks += "  NaN with points pt 6 ps 1.5 lw 2 lc rgb '#555555' title 'published mean', \\\n";

  std::string plot = bands + lines + marks;
  plot.resize(plot.size() - 4);  // the last ", \\\n"
  const std::string common = fmt::format(
      "set title {} noenhanced\nset xlabel 'high-fidelity episodes'\nset ylabel {} noenhanced\n"
      "set key inside bottom right\nset grid lc rgb '#dddddd'\nset border 3\nset tics nomirror\n"
      "set xrange [0:*]\n",
      quoted(fmt::format("{}: mean and 95 % interval over {} seeds", results.experiment(),
                         seeds_of(results))),
      quoted(axis_name(metric)));
  std::string out = data + common;
  for (const Terminal& terminal : kTerminals) {
    const fs::path file = folder / (file_stem(results, metric) + "." + terminal.suffix);
    out += fmt::format("set terminal {}\nset output {}\nplot \\\n{}\nset output\n", terminal.set,
                       quoted(file.string()), plot);
  }
  return out;
}

// `text` as one word of the shell.
std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

void run_gnuplot(const fs::path& script_file) {
  const std::string command = "gnuplot " + shell_word(script_file.string()) + " 2>&1";
  std::FILE* gnuplot = ::popen(command.c_str(), "r");
  if (gnuplot == nullptr) throw Error(Errc::io, "gnuplot cannot be started");
  std::string message;
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), gnuplot) != nullptr) message += buffer.data();
  const int status = ::pclose(gnuplot);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw Error(Errc::io, "figures need gnuplot, which is not there (Debian: gnuplot-nox)");
  if (status != 0)
    throw Error(Errc::io, fmt::format("gnuplot failed on {}: {}", script_file.string(), message));
}

}  // namespace

std::vector<fs::path> draw_learning_curves(const Results& results, const std::string& metric,
                                           const fs::path& folder) {
  if (!results.has_metric(metric))
    throw Error(Errc::data,
                fmt::format("experiment '{}' has no results to draw", results.experiment()));
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(Errc::io, fmt::format("{}: cannot be made: {}", folder.string(), error.message()));

  const fs::path script_file = folder / (file_stem(results, metric) + ".gnuplot");
  AtomicFile file(script_file);
  file.out() << script(results, metric, folder);
  file.commit();
  run_gnuplot(script_file);

  std::vector<fs::path> files;
  for (const Terminal& terminal : kTerminals)
    files.push_back(folder / (file_stem(results, metric) + "." + terminal.suffix));
  return files;
}

}  // namespace hilo
