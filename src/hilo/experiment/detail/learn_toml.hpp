#pragma once

#include <memory>
#include <string>

#include "hilo/experiment/detail/spec_toml.hpp"
#include "hilo/experiment/learn_spec.hpp"

// For the sources of this folder only: what specs of `hilo learn` and `hilo evaluate` have in
// common.
namespace hilo {

LearnData read_learn_spec(toml::table root, const std::string& where);

// What the problem itself says about costs and failures holds unless the spec says it, too.
void take_spending(LearnData& data, const std::shared_ptr<const ProblemKind>& own);

DeclaredCosts read_costs(const NamedValues& given, const std::string& where);
FailureRules read_failures(const NamedValues& given, const std::string& where);

}  // namespace hilo
