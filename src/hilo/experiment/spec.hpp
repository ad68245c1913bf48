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
#include "hilo/experiment/configuration.hpp"
#include "hilo/experiment/spec_data.hpp"

namespace hilo {

// "36" gives the seeds 0 to 35, and "3..9" the seeds 3 to 9.
SeedRange parse_seeds(std::string_view text);

// One agent on one problem: everything that decides its results, except the seed.
struct RunConfig {
  std::string label;
  const AgentKind* agent = nullptr;
  Parameters agent_parameters;
  std::shared_ptr<const ProblemKind> problem_kind;
  NamedValues problem;  // complete, with the agent's overrides
  Parameters train, test;

  Configuration configuration;
  std::string hash;  // of the configuration
};

// A checked experiment. Sweeps are expanded, labels are unique. Two labels may stand for one
// configuration: its runs are done once and shown under both.
struct Spec {
  std::string name;
  SeedRange seeds;
  std::vector<RunConfig> configs;
  std::string text;                // the TOML it was read from, with overrides applied
  std::vector<std::string> notes;  // where it is not executed as written, and why, in sentences
};

// Overrides of single keys, "train.episodes=100": applied to the file's text before it is checked.
using Overrides = std::vector<std::string>;

// `where` names the source in messages. A problem whose kind has the name of `own` is of that kind,
// for simulators that exist only in the caller's program.
Spec parse_spec(std::string_view toml, const std::string& where, const Overrides& overrides = {},
                const std::shared_ptr<const ProblemKind>& own = nullptr);
Spec make_spec(const SpecData& data, const std::string& where,
               const std::shared_ptr<const ProblemKind>& own = nullptr);
Spec load_spec(const std::filesystem::path& file, const Overrides& overrides = {});

// The keys of [train] and [test].
std::span<const ParameterInfo> train_parameters();
std::span<const ParameterInfo> test_parameters();

}  // namespace hilo
