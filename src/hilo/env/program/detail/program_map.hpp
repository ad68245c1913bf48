#pragma once

#include <string>

#include "hilo/env/fidelities.hpp"
#include "hilo/env/grid_source.hpp"

// For the sources of this folder only: the map from expensive to cheap states.
namespace hilo {

// The states of a simulator as observations: the middles of cells, or their numbers.
struct PointsOfStates {
  std::size_t num_states;
  const Grid* grid;  // null: states are numbers
};

struct MapRule {
  std::string text;     // "": the same observation; a CSV file; or coordinates such as "0, 2"
  std::string command;  // or a program that turns lines of observations into lines of others
  std::string key;      // in messages
};

// Throws Errc::spec, or Errc::data if the file or the program gives something that is no map.
StateMap make_map(const MapRule& rule, const PointsOfStates& high, const PointsOfStates& low);

// The grid behind a simulator that was made from a source of vectors; null if there is none.
const Grid* grid_behind(const EpisodeSimulator& simulator);

}  // namespace hilo
