#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hilo/report/results.hpp"
#include "hilo/studies/control_scale.hpp"

namespace hilo {

// One agent on one problem, by its scores.
struct ControlEntry {
  std::string agent;    // its label without the cheap simulator's number
  std::string quality;  // "good", "poor" or "misleading"; "" if it never uses a cheap simulator
  std::vector<std::uint64_t> episodes;                  // at which it was tested
  std::map<std::uint64_t, std::vector<double>> curves;  // of each seed, at these episodes

  std::vector<double> at(std::uint64_t episode) const;  // of all seeds, in their order
  std::vector<double> means() const;                    // over seeds, at each of the episodes
  // Episodes until a seed's score first reaches a level; infinite if it never does.
  std::vector<double> needed(double level) const;
};

struct ControlTable {
  std::string kind;
  ControlScale scale;
  std::vector<ControlEntry> entries;

  const ControlEntry* find(const std::string& agent, const std::string& quality) const;
};

inline constexpr const char* kControlQualities[] = {"good", "poor", "misleading"};

// All problems of the study that the store has results of. Throws if there are none.
std::vector<ControlTable> read_control(
    const Store& store, const std::function<ControlScale(const std::string& kind)>& scale);

}  // namespace hilo
