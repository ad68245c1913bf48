#pragma once

#include <memory>
#include <span>
#include <string>

#include "hilo/policy/artifact.hpp"
#include "hilo/policy/network_policy.hpp"

namespace hilo {

inline constexpr const char* kNetwork = "network";

// A network as a JSON text (docs/control.md has the format and how to use it in other languages).
std::string network_json(const NetworkShape& shape, std::span<const double> weights,
                         const std::string& name);
// Throws Errc::data unless the text is a network; `where` names it.
std::shared_ptr<const NetworkPolicy> parse_network(const std::string& text,
                                                   const std::string& where);

// Whether a JSON text says that it is a network. It may still be a bad one.
bool is_network(const std::string& text);
// The same network for a simulator whose observations and actions have the same sizes. Throws
// Errc::usage if they do not.
std::shared_ptr<const NetworkPolicy> network_on(const NetworkPolicy& network,
                                                const Space& observations, const Space& actions);
// A hash of what it does, whatever its name is.
std::string network_hash(const NetworkPolicy& network);

// The JSON text, as it is stored.
PolicyArtifact network_artifact(const NetworkShape& shape, std::span<const double> weights);

}  // namespace hilo
