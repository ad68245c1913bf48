#pragma once

#include <array>
#include <map>
#include <set>
#include <string>

#include "hilo/report/results.hpp"

namespace hilo {

// The colours of agents: one rule for pages, figures and Python's plots, so that an agent looks the
// same in all of them.
//  - Agents take the colours in turn, in their natural order, that of Results::agents(). Those as
//    written and as published share one.
//  - The first colour is for the kind mcrl. It stays unused where mcrl does not come first, so that
//    the others keep their colours with and without a baseline.
//  - Where the colours are used up they start again with dashed lines. Agents as written are dashed
//    too, where the experiment has others as published.
inline constexpr std::size_t kNumColours = 8;

// Okabe and Ito's colours, told apart by the colour-blind, and lighter ones of the same hues for a
// dark ground.
inline constexpr std::array<const char*, kNumColours> kColours = {
    "#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A8A2A"};
inline constexpr std::array<const char*, kNumColours> kColoursOnDark = {
    "#F2F2F2", "#FF8A3D", "#4FB0F0", "#2FD0A0", "#E59CC4", "#F0B63C", "#8FD0F7", "#C9C96A"};

// Made once for all agents of an experiment: the place of one depends on those before it.
class AgentColours {
 public:
  explicit AgentColours(const Results& results);

  // Which colour: counted on where they start anew.
  std::size_t place(const std::string& agent) const;
  const char* colour(const std::string& agent) const {
    return kColours[place(agent) % kNumColours];
  }
  bool is_dashed(const std::string& agent) const;
  std::size_t first_free() const { return first_free_; }  // behind those of all agents

 private:
  std::map<std::string, std::size_t> places_;
  std::set<std::string> written_;  // agents as written, where others are as published
  std::size_t first_free_ = 0;
};

}  // namespace hilo
