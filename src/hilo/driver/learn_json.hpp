#pragma once

#include <optional>
#include <string>

#include "hilo/driver/learner.hpp"

namespace hilo {

// The formats of docs/learn.md, for programs in any language.

// The learnt policy. For tables the greedy actions and the values of every state, for vectors a
// network (policy/network_file.hpp).
std::string policy_json(const Learner& learner);

// An expensive episode that is to be made: the policy, and for the action of every step two random
// words, or its noise if actions are vectors. Throws Errc::usage if max_steps is above a million.
std::string request_json(const LearnRequest& request, const LearnSpec& spec);

// The answer to a request.
struct Told {
  EpisodeAddress at;
  std::optional<std::uint64_t> attempt;  // to make sure, if it is given
  std::optional<Episode> episode;        // of a table, or
  std::optional<VectorPath> vectors;     // of vectors; neither: it failed
  std::string failure;
  std::optional<double> cost;
};
// Throws Errc::data unless the text is such an answer; `where` names its source.
Told read_told(const std::string& text, const std::string& where);

}  // namespace hilo
