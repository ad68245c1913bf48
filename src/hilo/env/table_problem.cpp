#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/env/detail/kinds.hpp"
#include "hilo/env/detail/problem_parts.hpp"
#include "hilo/env/table_csv.hpp"

namespace hilo {
namespace {

// "tab/{seed}" is a folder for every seed: tab/0, tab/1, ...
std::string folder_of_seed(const std::string& folder, std::uint64_t seed) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t open = folder.find('{', at);
    const std::size_t close = open == std::string::npos ? open : folder.find('}', open);
    if (close == std::string::npos) return out + folder.substr(at);
    const std::string name = folder.substr(open + 1, close - open - 1);
    if (name != "seed")
      throw Error(Errc::spec, fmt::format("folder is '{}', but {{{}}} is no placeholder: there is "
                                          "only {{seed}}, which is the seed of the run",
                                          folder, name));
    out += folder.substr(at, open - at) + std::to_string(seed);
    at = close + 1;
  }
}

std::map<std::string, Value> table_of_seed(std::map<std::string, Value> problem,
                                           std::uint64_t seed) {
  if (const auto folder = problem.find("folder"); folder != problem.end())
    if (auto* text = std::get_if<std::string>(&folder->second)) *text = folder_of_seed(*text, seed);
  return problem;
}

HighSimulator build_high(const Parameters& p, std::uint64_t seed) {
  return make_simulator(
      load_mdp(std::filesystem::path(folder_of_seed(p.text("folder"), seed)) / "high"),
      sampling_from_name(p.text("sampling")));
}

Problem build_pair(const Parameters& p, std::uint64_t seed, const HighSimulator& high) {
  Fidelities pair = load_pair(folder_of_seed(p.text("folder"), seed), high,
                              sampling_from_name(p.text("sampling")));
  const std::size_t bytes = table_of(*high).memory_bytes() + table_of(pair.low()).memory_bytes();
  return {.pair = std::move(pair), .facts = {}, .memory_bytes = bytes};
}

std::string hash_files(const Parameters& p, bool with_low) {
  const std::filesystem::path folder = p.text("folder");
  std::vector<std::string> files = {"high/transitions.csv", "high/start.csv"};
  if (with_low) files.insert(files.end(), {"low/transitions.csv", "low/start.csv", "map.csv"});
  std::ostringstream contents;
  for (const std::string& file : files) {
    contents << file << '\n';
    if (std::ifstream in(folder / file); in && in.peek() != std::ifstream::traits_type::eof())
      contents << in.rdbuf();
  }
  return hash_hex(contents.str());
}

double bytes_of_pair(const std::filesystem::path& folder) {
  return bytes_of_mdp(folder / "high") + bytes_of_mdp(folder / "low");
}

}  // namespace

ProblemKind table_kind() {
  return {
      .name = "table",
      .description = "two MDPs and the map between them, read from CSV files",
      .parameters = {{.name = "folder",
                      .description =
                          "folder with high/, low/ and map.csv; {seed} in it is the run's seed"},
                     sampling_parameter()},
      .build_high = build_high,
      .build = build_pair,
      .validate = [](const Parameters& p) { (void)folder_of_seed(p.text("folder"), 0); },
      .content_hash = hash_files,
      .file_parameters = {"folder"},
      .for_seed = table_of_seed,
      .lacks = lacks_common_random_numbers,
      .estimate_bytes =
          [](const Parameters& p) { return bytes_of_pair(folder_of_seed(p.text("folder"), 0)); },
      .judged_by_mean_reward = true,
      .same_for_all_seeds = true};
}

}  // namespace hilo
