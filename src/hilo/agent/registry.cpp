#include "hilo/agent/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hilo/agent/mcrl.hpp"
#include "hilo/agent/mfmcrl.hpp"
#include "hilo/core/error.hpp"

namespace hilo {
namespace {

std::unique_ptr<Agent> build_mcrl(const FidelityPair& pair, const Parameters& /*p*/,
                                  const AgentSetting& setting) {
  return std::make_unique<Mcrl>(pair.high().num_states(), pair.num_actions(),
                                McrlOptions{.gamma = setting.gamma, .epsilon = setting.epsilon});
}

std::unique_ptr<Agent> build_mfmcrl(const FidelityPair& pair, const Parameters& p,
                                    const AgentSetting& setting) {
  const MfmcrlOptions options = {
      .gamma = setting.gamma,
      .epsilon = setting.epsilon,
      .low_rollouts = static_cast<std::uint32_t>(p.integer("low_rollouts")),
      .low_policy = low_behaviour_from_name(p.text("low_policy")),
      .pool = pool_from_name(p.text("pool")),
      .max_steps = setting.max_steps,
  };
  return std::make_unique<Mfmcrl>(pair, options, setting.seed);
}

Shorthand shorthand(const char* name, const Variant& variant) {
  return {name,
          {{"low_policy", std::string(name_of(variant.low_policy))},
           {"pool", std::string(name_of(variant.pool))},
           {"projection", std::string(name_of(variant.projection))}}};
}

const std::vector<AgentKind>& all_kinds() {
  static const std::vector<AgentKind> kKinds = {
      {.name = "mcrl",
       .display = "MCRL",
       .description = "first-visit Monte Carlo control on the high fidelity alone",
       .parameters = {},
       .variants = {},
       .uses_low_fidelity = false,
       .algorithm_version = Mcrl::kAlgorithmVersion,
       .build = build_mcrl},
      {.name = "mfmcrl",
       .display = "MFMCRL",
       .description = "the paper's multifidelity Monte Carlo control (Algorithm 1)",
       .parameters =
           {
               {"low_rollouts",
                "m, low-fidelity roll-outs for each pair of an episode",
                std::int64_t{10},
                1,
                1'000'000,
                {}},
               {"low_policy",
                "what roll-outs follow in their greedy branch",
                "policy",
                0,
                0,
                {"policy", "action-0"}},
               {"pool",
                "which low-fidelity returns make the population mean",
                "start-pairs",
                0,
                0,
                {"start-pairs", "first-visits"}},
           },
       .variants = {shorthand("as-written", kAsWritten), shorthand("as-published", kAsPublished)},
       .uses_low_fidelity = true,
       .algorithm_version = Mfmcrl::kAlgorithmVersion,
       .build = build_mfmcrl},
  };
  return kKinds;
}

}  // namespace

std::span<const AgentKind> agent_kinds() { return all_kinds(); }

const AgentKind& agent_kind(std::string_view name) {
  std::vector<std::string> known;
  for (const AgentKind& kind : agent_kinds()) {
    if (kind.name == name) return kind;
    known.push_back(kind.name);
  }
  throw Error(Errc::spec, fmt::format("unknown agent kind '{}'{} (known: {})", name,
                                      did_you_mean(name, known), fmt::join(known, ", ")));
}

}  // namespace hilo
