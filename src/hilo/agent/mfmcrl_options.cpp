#include "hilo/agent/mfmcrl_options.hpp"

#include <fmt/format.h>

#include "hilo/core/error.hpp"

namespace hilo {

LowBehaviour low_behaviour_from_name(std::string_view name) {
  if (name == name_of(LowBehaviour::policy)) return LowBehaviour::policy;
  if (name == name_of(LowBehaviour::action_0)) return LowBehaviour::action_0;
  throw Error(Errc::spec, fmt::format("low_policy is '{}', but must be policy or action-0", name));
}

Pool pool_from_name(std::string_view name) {
  if (name == name_of(Pool::start_pairs)) return Pool::start_pairs;
  if (name == name_of(Pool::first_visits)) return Pool::first_visits;
  if (name == name_of(Pool::whole_paths)) return Pool::whole_paths;
  throw Error(
      Errc::spec,
      fmt::format("pool is '{}', but must be start-pairs, first-visits or whole-paths", name));
}

Coupling coupling_from_name(std::string_view name) {
  if (name == "path") return Coupling::path;
  if (name == "common-random-numbers") return Coupling::common_random_numbers;
  if (name == "none") return Coupling::none;
  throw Error(
      Errc::spec,
      fmt::format("coupling is '{}', but must be path, common-random-numbers or none", name));
}

std::string_view name_of(LowBehaviour low_behaviour) {
  return low_behaviour == LowBehaviour::policy ? "policy" : "action-0";
}

std::string_view name_of(Pool pool) {
  switch (pool) {
    case Pool::start_pairs:
      return "start-pairs";
    case Pool::first_visits:
      return "first-visits";
    case Pool::whole_paths:
      break;
  }
  return "whole-paths";
}

Variant variant_from_name(std::string_view name) {
  if (name == "as-written") return kAsWritten;
  if (name == "as-published") return kAsPublished;
  throw Error(Errc::spec,
              fmt::format("variant is '{}', but must be as-written or as-published", name));
}

MfmcrlOptions mfmcrl_plus() {
  return {.pool = Pool::whole_paths,
          .estimator = {.name = "empirical-bayes"},
          .recency = kRecencyWeights};
}

}  // namespace hilo
