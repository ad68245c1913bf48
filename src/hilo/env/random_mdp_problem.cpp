#include "hilo/env/degraded_twin.hpp"
#include "hilo/env/detail/kinds.hpp"
#include "hilo/env/detail/problem_parts.hpp"
#include "hilo/env/random_mdp.hpp"

namespace hilo {
namespace {

RandomMdpOptions options_of(const Parameters& p) {
  return {
      .states = static_cast<std::size_t>(p.integer("states")),
      .actions = static_cast<std::size_t>(p.integer("actions")),
      .terminal_probability = p.number("terminal_probability"),
      .start_states = static_cast<std::size_t>(p.integer("start_states")),
  };
}

HighSimulator build_high(const Parameters& p, std::uint64_t seed) {
  return make_simulator(make_random_mdp(options_of(p), seed),
                        sampling_from_name(p.text("sampling")));
}

Problem build_pair(const Parameters& p, std::uint64_t seed, const HighSimulator& high) {
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

// Bytes for each row and each successor: the probability and the entry in the alias table.
constexpr double kBytesOfTransition = 16;

double bytes_of_tables(const Parameters& p) {
  const auto states = static_cast<double>(p.integer("states"));
  const auto pairs = states * static_cast<double>(p.integer("actions"));
  return 2 * pairs * states * kBytesOfTransition;
}

std::vector<ParameterInfo> parameters() {
  return {{.name = "states",
           .description = "number of states, the terminal one included",
           .default_value = std::int64_t{200},
           .low = 2,
           .high = double{kMaxRandomStates}},
          {.name = "actions",
           .description = "number of actions",
           .default_value = std::int64_t{8},
           .low = 1,
           .high = double{kMaxRandomActions}},
          {.name = "snr_db",
           .description = "signal-to-noise ratio of the low fidelity in dB",
           .default_value = -3.0,
           .low = -100,
           .high = 100,
           .low_fidelity_only = true,
           .in_label = "{:+} dB"},
          {.name = "projection",
           .description = "how noisy rows become distributions",
           .default_value = "simplex",
           .choices = {"simplex", "bisection", "clip"},
           .low_fidelity_only = true},
          {.name = "terminal_probability",
           .description = "chance of ending at every step",
           .default_value = 0.1,
           .low = 1e-6,
           .high = 1 - 1e-6},
          {.name = "start_states",
           .description = "episodes start uniformly on this many states, from state 0 on",
           .default_value = std::int64_t{10},
           .low = 1,
           .high = double{kMaxRandomStates}},
          sampling_parameter()};
}

}  // namespace

ProblemKind random_mdp_kind() {
  return {.name = "random-mdp",
          .description = "the paper's random MDP and a twin degraded by Gaussian noise",
          .parameters = parameters(),
          .build_high = build_high,
          .build = build_pair,
          .validate = [](const Parameters& p) { validate(options_of(p)); },
          .lacks = lacks_common_random_numbers,
          .estimate_bytes = bytes_of_tables,
          .judged_by_mean_reward = true};
}

}  // namespace hilo
