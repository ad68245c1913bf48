#pragma once

#include <string>
#include <vector>

#include "hilo/agent/catalogue.hpp"
#include "hilo/agent/exploration.hpp"
#include "hilo/agent/low_learning.hpp"
#include "hilo/agent/temporal_difference.hpp"

// For the source files of this folder only: parameters that several kinds of agents have, and the
// options that they give.
namespace hilo {

ParameterInfo exploration_parameter();
Exploration exploration_of(const Parameters& p);

ParameterInfo weights_parameter(const std::string& more = {});
double recency_of(const Parameters& p);

// The parameters of step sizes, followed by `others`.
std::vector<ParameterInfo> with_steps(double step_size, std::vector<ParameterInfo> others = {});
TdOptions td_options(const Parameters& p, const AgentSetting& setting);

// For a kind that has settings of its own on tables only: throws Errc::spec if one of them, apart
// from `allowed`, differs from its default. `otherwise` ends the message: what vectors have
// instead.
void require_no_table_settings(const AgentKind& kind, const Parameters& p,
                               const std::vector<std::string>& allowed,
                               const std::string& otherwise);

ParameterInfo low_steps_parameter(const std::string& description);
// The bound of a search on vectors: as many as it needs, unless the parameter was given.
std::uint64_t low_steps_of_search(const Parameters& p);
LowLearning low_learning(const Parameters& p, const AgentSetting& setting);

}  // namespace hilo
