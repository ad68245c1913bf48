#include "hilo/env/program/detail/program_map.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "hilo/core/child_process.hpp"
#include "hilo/core/detail/scratch_folder.hpp"
#include "hilo/core/error.hpp"
#include "hilo/env/program/detail/program_files.hpp"
#include "hilo/env/source_pool.hpp"
#include "hilo/env/table_csv.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& message) { throw Error(Errc::spec, message); }

std::vector<double> observation_of(const PointsOfStates& states, std::size_t s) {
  std::vector<double> out = {static_cast<double>(s)};
  if (states.grid != nullptr) states.grid->centre_of(s, out);
  return out;
}

// All observations go through the program at once, so that it need not flush after every line.
std::vector<std::vector<double>> filtered(const MapRule& rule, const PointsOfStates& high) {
  const ScratchFolder scratch;
  const fs::path& folder = scratch.path();
  {
    std::ofstream out(folder / "in");
    for (std::size_t s = 0; s < high.num_states; ++s)
      out << fmt::format("{:.17g}\n", fmt::join(observation_of(high, s), " "));
  }
  ChildProcess process(
      {.command = fmt::format("( {} ) < '{}' > '{}'; echo \"code $?\"", rule.command,
                              (folder / "in").string(), (folder / "out").string())});
  const auto end = process.read_line(SteadyClock::now() + std::chrono::hours(1));
  if (!end || *end != "code 0")
    throw Error(Errc::data, fmt::format("{}.command: '{}' failed; its last words: {}", rule.key,
                                        rule.command, process.last_words()));
  std::ifstream in(folder / "out");
  std::vector<std::vector<double>> out;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::vector<double>& numbers = out.emplace_back();
    for (std::string word; words >> word;) {
      double value = 0;
      const auto [last, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc() || last != word.data() + word.size() || !std::isfinite(value))
        throw Error(Errc::data, fmt::format("{}.command: '{}' wrote '{}', which is no number",
                                            rule.key, rule.command, word));
      numbers.push_back(value);
    }
  }
  if (out.size() != high.num_states)
    throw Error(Errc::data,
                fmt::format("{}.command: '{}' was given {} observations and wrote {} lines",
                            rule.key, rule.command, high.num_states, out.size()));
  return out;
}

std::vector<double> selected(const std::vector<double>& observation,
                             const std::vector<std::string>& coordinates, const MapRule& rule) {
  std::vector<double> out;
  for (const std::string& text : coordinates) {
    std::size_t i = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), i);
    if (error != std::errc() || end != text.data() + text.size() || i >= observation.size())
      fail(fmt::format("{} has '{}', but must be a CSV file, or coordinates from 0 to {}", rule.key,
                       text, observation.size() - 1));
    out.push_back(observation[i]);
  }
  return out;
}

State state_at(const PointsOfStates& states, const std::vector<double>& observation,
               const MapRule& rule) {
  const std::size_t wanted = states.grid != nullptr ? states.grid->dimension() : 1;
  if (observation.size() != wanted)
    fail(
        fmt::format("{}: an expensive observation becomes {} numbers, but a cheap one has {}; give "
                    "{} = [..], the coordinates to keep, or a program",
                    rule.key, observation.size(), wanted, rule.key));
  if (states.grid != nullptr) return static_cast<State>(states.grid->cell_of(observation));
  const double s = observation[0];
  if (!(s >= 0 && s < static_cast<double>(states.num_states)) || s != std::floor(s))
    fail(
        fmt::format("{}: an expensive state becomes state {} of the cheap simulator, which has "
                    "states 0 to {}",
                    rule.key, s, states.num_states - 1));
  return static_cast<State>(s);
}

}  // namespace

StateMap make_map(const MapRule& rule, const PointsOfStates& high, const PointsOfStates& low) {
  if (rule.text.ends_with(".csv")) return load_map(rule.text, high.num_states, low.num_states);
  std::vector<std::vector<double>> by_program;
  if (!rule.command.empty()) by_program = filtered(rule, high);
  const std::vector<std::string> coordinates = split_list(rule.text);
  std::vector<State> low_of;
  for (std::size_t s = 0; s < high.num_states; ++s) {
    std::vector<double> observation =
        by_program.empty() ? observation_of(high, s) : std::move(by_program[s]);
    if (!coordinates.empty()) observation = selected(observation, coordinates, rule);
    low_of.push_back(state_at(low, observation, rule));
  }
  return StateMap(std::move(low_of), low.num_states);
}

const Grid* grid_behind(const EpisodeSimulator& simulator) {
  const auto* pool = dynamic_cast<const SourcePool*>(&simulator);
  if (pool == nullptr) return nullptr;
  const auto* grid = dynamic_cast<const GridSource*>(&pool->first());
  return grid == nullptr ? nullptr : grid->states();
}

}  // namespace hilo
