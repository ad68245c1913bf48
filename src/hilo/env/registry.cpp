#include "hilo/env/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <new>
#include <sstream>

#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/env/degraded_twin.hpp"
#include "hilo/env/docking.hpp"
#include "hilo/env/nas_problem.hpp"
#include "hilo/env/random_mdp.hpp"
#include "hilo/env/table_csv.hpp"

namespace hilo {
namespace {

RandomMdpOptions random_mdp_options(const Parameters& p) {
  return {
      .states = static_cast<std::size_t>(p.integer("states")),
      .actions = static_cast<std::size_t>(p.integer("actions")),
      .terminal_probability = p.number("terminal_probability"),
      .start_states = static_cast<std::size_t>(p.integer("start_states")),
  };
}

const TabularMdp& table_of(const EpisodeSimulator& simulator) {
  return dynamic_cast<const TabularMdp&>(*simulator.model());
}

HighSimulator build_random_high(const Parameters& p, std::uint64_t seed) {
  return make_simulator(make_random_mdp(random_mdp_options(p), seed),
                        sampling_from_name(p.text("sampling")));
}

Problem build_random_pair(const Parameters& p, std::uint64_t seed, const HighSimulator& high) {
  const auto [low, report] = degrade(
      table_of(*high),
      {.snr_db = p.number("snr_db"), .projection = projection_from_name(p.text("projection"))},
      seed);
  return {.pair = Fidelities(high, make_simulator(low, sampling_from_name(p.text("sampling")))),
          .facts =
              {
                  {"transition_snr_db", report.transition_snr_db},
                  {"reward_snr_db", report.reward_snr_db},
                  {"mean_abs_transition_difference_signed",
                   report.mean_abs_transition_difference_signed},
                  {"mean_abs_transition_difference", report.mean_abs_transition_difference},
                  {"mean_abs_reward_difference", report.mean_abs_reward_difference},
                  {"negative_share", report.negative_share},
              },
          .memory_bytes = table_of(*high).memory_bytes() + low->memory_bytes()};
}

DockingOptions docking_options(const Parameters& p) {
  return {.cells = static_cast<std::size_t>(p.integer("cells")),
          .speeds = static_cast<std::size_t>(p.integer("speeds")),
          .drag = p.number("drag"),
          .wind = p.number("wind"),
          .gusts = p.number("gusts")};
}

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

HighSimulator build_table_high(const Parameters& p, std::uint64_t seed) {
  return make_simulator(
      load_mdp(std::filesystem::path(folder_of_seed(p.text("folder"), seed)) / "high"),
      sampling_from_name(p.text("sampling")));
}

Problem build_table_pair(const Parameters& p, std::uint64_t seed, const HighSimulator& high) {
  Fidelities pair = load_pair(folder_of_seed(p.text("folder"), seed), high,
                              sampling_from_name(p.text("sampling")));
  const std::size_t bytes = table_of(*high).memory_bytes() + table_of(pair.low()).memory_bytes();
  return {.pair = std::move(pair), .facts = {}, .memory_bytes = bytes};
}

std::string hash_tables(const Parameters& p, bool with_low) {
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

ParameterInfo sampling_parameter() {
  return {.name = "sampling",
          .description =
              "how successors are drawn; coupling by common random numbers needs "
              "inverse-cdf",
          .default_value = "alias",
          .choices = {"alias", "inverse-cdf"},
          .silent_default = true};
}

// Of every row to every state: its chance, and where the alias method looks.
constexpr double kBytesOfTransition = 16;

double bytes_of_pair(const std::filesystem::path& folder) {
  return bytes_of_mdp(folder / "high") + bytes_of_mdp(folder / "low");
}

const std::vector<ProblemKind>& all_kinds() {
  static const std::vector<ProblemKind> kKinds = {
      {.name = "random-mdp",
       .description = "the paper's random MDP and a twin degraded by Gaussian noise",
       .parameters =
           {
               {"states",
                "number of states, the terminal one included",
                std::int64_t{200},
                2,
                double{kMaxRandomStates},
                {}},
               {"actions", "number of actions", std::int64_t{8}, 1, double{kMaxRandomActions}, {}},
               {"snr_db",
                "signal-to-noise ratio of the low fidelity in dB",
                -3.0,
                -100,
                100,
                {},
                true},
               {"projection",
                "how noisy rows become distributions",
                "simplex",
                0,
                0,
                {"simplex", "bisection", "clip"},
                true},
               {"terminal_probability", "chance of ending at every step", 0.1, 1e-6, 1 - 1e-6, {}},
               {"start_states",
                "episodes start uniformly on the first so many states",
                std::int64_t{10},
                1,
                double{kMaxRandomStates},
                {}},
               sampling_parameter(),
           },
       .build_high = build_random_high,
       .build = build_random_pair,
       .validate = [](const Parameters& p) { validate(random_mdp_options(p)); },
       .estimate_bytes =
           [](const Parameters& p) {
             const auto states = static_cast<double>(p.integer("states"));
             const auto pairs = states * static_cast<double>(p.integer("actions"));
             return 2 * pairs * states * kBytesOfTransition;
           }},
      {.name = "table",
       .description = "two MDPs and the map between them, read from CSV files",
       .parameters = {{"folder",
                       "folder with high/, low/ and map.csv; {seed} in it is the run's seed",
                       {},
                       0,
                       0,
                       {}},
                      sampling_parameter()},
       .build_high = build_table_high,
       .build = build_table_pair,
       .validate = [](const Parameters& p) { (void)folder_of_seed(p.text("folder"), 0); },
       .content_hash = hash_tables,
       .file_parameters = {"folder"},
       .for_seed = table_of_seed,
       .estimate_bytes =
           [](const Parameters& p) { return bytes_of_pair(folder_of_seed(p.text("folder"), 0)); },
       .same_for_all_seeds = true},
      {.name = "docking",
       .description = "a vehicle and a dock; the low fidelity has no air and a coarse grid",
       .parameters =
           {
               {"cells", "grid cells per side", std::int64_t{10}, 6, 120, {}},
               {"speeds", "speeds per axis, odd", std::int64_t{3}, 3, 15, {}},
               {"drag", "of the high fidelity, per metre", 0.3, 0, 1, {}},
               {"wind", "of the high fidelity along x, in m/s", 0.4, -1, 1, {}},
               {"gusts", "chance of a gust in a second, in the high fidelity", 0.2, 0, 1, {}},
           },
       .build_high = [](const Parameters& p,
                        std::uint64_t seed) { return make_docking(docking_options(p), seed); },
       .build = [](const Parameters& p, std::uint64_t seed, const HighSimulator& high) -> Problem {
         Fidelities pair = make_docking_pair(docking_options(p), seed, high);
         const std::size_t bytes = pair.map().num_high_states() * 2 * sizeof(State);
         return {.pair = std::move(pair), .facts = {}, .memory_bytes = bytes};
       },
       .validate =
           [](const Parameters& p) {
             (void)Docking(docking_options(p), Docking::shuffled_actions(0));
           }},
      nas_problem_kind(),
  };
  return kKinds;
}

}  // namespace

std::span<const ProblemKind> problem_kinds() { return all_kinds(); }

const ProblemKind& problem_kind(std::string_view name) {
  std::vector<std::string> known;
  for (const ProblemKind& kind : problem_kinds()) {
    if (kind.name == name) return kind;
    known.push_back(kind.name);
  }
  throw Error(Errc::spec, fmt::format("unknown problem kind '{}'{} (known: {})", name,
                                      did_you_mean(name, known), fmt::join(known, ", ")));
}

namespace {

template <class Build>
auto in_memory(std::string_view kind, const Build& build) {
  try {
    return build();
  } catch (const std::bad_alloc&) {
    throw Error(Errc::spec, fmt::format("{}: the problem does not fit into memory", kind));
  }
}

}  // namespace

double estimate_bytes(const ProblemKind& kind, const std::map<std::string, Value>& parameters) {
  if (!kind.estimate_bytes) return 0;
  return kind.estimate_bytes(Parameters(kind.name, kind.parameters, parameters));
}

HighSimulator build_high_fidelity(const ProblemKind& kind,
                                  const std::map<std::string, Value>& parameters,
                                  std::uint64_t seed) {
  const Parameters checked(kind.name, kind.parameters, parameters);
  return in_memory(kind.name, [&] { return kind.build_high(checked, seed); });
}

Problem build_problem(const ProblemKind& kind, const std::map<std::string, Value>& parameters,
                      std::uint64_t seed, const HighSimulator& high) {
  const Parameters checked(kind.name, kind.parameters, parameters);
  return in_memory(kind.name, [&] { return kind.build(checked, seed, high); });
}

Problem build_problem(std::string_view kind, const std::map<std::string, Value>& parameters,
                      std::uint64_t seed) {
  const ProblemKind& found = problem_kind(kind);
  return build_problem(found, parameters, seed, build_high_fidelity(found, parameters, seed));
}

}  // namespace hilo
