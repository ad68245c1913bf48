#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hilo/agent/catalogue.hpp"
#include "hilo/core/parameters.hpp"
#include "hilo/env/catalogue.hpp"
#include "hilo/experiment/spec_data.hpp"

namespace hilo {

// "36" is 0..35; "3..9" is 3 to 9.
SeedRange parse_seeds(std::string_view text);

// One agent on one problem: everything that decides its results but the seed.
struct RunConfig {
  std::string label;
  const AgentKind* agent = nullptr;
  Parameters agent_parameters;
  std::shared_ptr<const ProblemKind> problem_kind;
  NamedValues problem;  // complete, with the agent's overrides
  Parameters train, test;

  // One "part.key = value" a line, sorted; what the agent never sees is left out. Two
  // configurations with equal canonical forms have equal results.
  std::string canonical;
  std::string hash;  // of the canonical form, 16 hex digits
};

// A checked experiment. Sweeps are expanded, labels are unique. Two labels may stand for one
// configuration: its runs are done once and shown under both.
struct Spec {
  std::string name;
  SeedRange seeds;
  std::vector<RunConfig> configs;
  std::string text;                // the TOML it was read from, with overrides applied
  std::vector<std::string> notes;  // what is not done as it was written, and why, in sentences
};

// Overrides of single keys, "train.episodes=100": applied to the file's text before it is checked.
using Overrides = std::vector<std::string>;

// `where` names the source in messages. A problem whose kind is called like `own` is of that kind:
// simulators that exist in the caller's program alone.
Spec parse_spec(std::string_view toml, const std::string& where, const Overrides& overrides = {},
                const std::shared_ptr<const ProblemKind>& own = nullptr);
Spec make_spec(const SpecData& data, const std::string& where,
               const std::shared_ptr<const ProblemKind>& own = nullptr);
Spec load_spec(const std::filesystem::path& file, const Overrides& overrides = {});

// The keys of [train] and [test], for help texts.
std::span<const ParameterInfo> train_parameters();
std::span<const ParameterInfo> test_parameters();

}  // namespace hilo
