#pragma once

#include <array>
#include <map>
#include <set>
#include <string>

#include "hilo/report/results.hpp"

namespace hilo {

// The colours of agents. Pages, figures and Python's plots follow the same rule, so that an agent
// looks the same in all of them.
//  - Agents take the colours in turn, in the order of Results::agents(). The as-written and the
//    as-published variant of an agent share a colour.
//  - The first colour is for the kind mcrl. It is skipped if the first agent is of another kind, so
//    that the others have the same colours with and without a baseline.
//  - When all colours are used, they are used again with dashed lines. As-written agents are dashed
//    too if the experiment also has as-published ones.
inline constexpr std::size_t kNumColours = 8;

// The colours of Okabe and Ito, which colour-blind readers can distinguish, with olive instead of
// their yellow; and lighter colours of the same hues for a dark background.
inline constexpr std::array<const char*, kNumColours> kColours = {
    "#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A8A2A"};
inline constexpr std::array<const char*, kNumColours> kColoursOnDark = {
    "#F2F2F2", "#FF8A3D", "#4FB0F0", "#2FD0A0", "#E59CC4", "#F0B63C", "#8FD0F7", "#C9C96A"};

// Made once for all agents of an experiment: an agent's colour depends on the agents before it.
class AgentColours {
 public:
  explicit AgentColours(const Results& results);

  // The index of the agent's colour. It counts on past kNumColours when colours are used again.
  std::size_t place(const std::string& agent) const;
  const char* colour(const std::string& agent) const {
    return kColours[place(agent) % kNumColours];
  }
  bool is_dashed(const std::string& agent) const;
  std::size_t first_free() const { return first_free_; }  // after those of all agents

 private:
  std::map<std::string, std::size_t> places_;
  std::set<std::string> written_;  // as-written agents, if there are as-published ones too
  std::size_t first_free_ = 0;
};

}  // namespace hilo
