// For development: grids with other errors than those of the first mazes.
#include <algorithm>

#include "support/sequential_problems.hpp"

namespace hilo::testing {
namespace {

SequentialProblem grid(const char* name, const Maze& high, const Maze& low, double gamma = 0.97) {
  return {name, false, gamma, 300, pair_of(make_maze(high), make_maze(low))};
}

// A taxi in an open field of 5 x 5 with a passenger at one corner and a goal at the other: moves,
// and one action to pick up or set down. The cheap one thinks that the passenger is on board.
Fidelities taxi() {
  constexpr State kSide = 5, kCells = kSide * kSide, kEnd = 2 * kCells;
  const auto make = [=](bool boards_itself) {
    return tabulate(kEnd + 1, 5, {kEnd}, {12, 6}, [=](State s, Action a, Outcomes& out) {
      const State cell = s % kCells, r = cell / kSide, c = cell % kSide;
      const bool aboard = s >= kCells;
      if (a == 4) {
        if ((aboard || boards_itself) && cell == kCells - 1)
          out.push_back({kEnd, 1, 2});
        else if (!aboard && cell == kSide - 1)
          out.push_back({cell + kCells, 1, -0.05});
        else
          out.push_back({s, 1, -0.3});
        return;
      }
      State next = cell;
      if (a == 0 && r > 0) next = cell - kSide;
      if (a == 1 && c + 1 < kSide) next = cell + 1;
      if (a == 2 && r + 1 < kSide) next = cell + kSide;
      if (a == 3 && c > 0) next = cell - 1;
      const State board = aboard ? kCells : 0;
      out.push_back({next + board, 0.9, -0.05});
      out.push_back({s, 0.1, -0.05});
    });
  };
  return pair_of(make(false), make(true));
}

}  // namespace

void add_fields(std::vector<SequentialProblem>& list) {
  const std::vector<std::string> cliff = {
      "............",  //
      "............",  //
      "............",  //
      "S..........G",
  };
  auto with_cliff = cliff;
  for (std::size_t c = 1; c + 1 < cliff[0].size(); ++c) with_cliff[3][c] = 'X';
  list.push_back(
      grid("cliff-in-high", {.map = with_cliff, .slip = 0.05}, {.map = cliff, .slip = 0.05}));

  const std::vector<std::string> rooms = {
      "S....#.....",  //
      ".....#.....",  //
      "...........",  //
      ".....#.....",  //
      "###.####.##",  //
      ".....#.....",  //
      ".....#.....",  //
      "...........",  //
      ".....#....G",
  };
  auto closed = with_cell(rooms, 2, 5, '#');
  list.push_back(
      grid("rooms-door-in-low", {.map = closed, .slip = 0.1}, {.map = rooms, .slip = 0.1}));
  auto muddy = rooms;
  for (char& cell : muddy[2]) cell = cell == '.' ? 'm' : cell;
  list.push_back(grid("rooms-mud-in-low", {.map = rooms, .slip = 0.1},
                      {.map = muddy, .slip = 0.1, .step_cost = 0.1}));

  const auto open = random_map(8, 10, 0.1, 31);
  list.push_back(grid("wind-mirrored", {.map = open, .slip = 0.05, .wind = 0.3},
                      {.map = open, .slip = 0.05, .wind = 0.3, .actions = {0, 3, 2, 1}}));
  list.push_back(grid("field-without-rewards-in-low", {.map = open, .slip = 0.1, .step_cost = 0},
                      {.map = open, .slip = 0.1, .step_cost = 0, .goal = 0}));
  auto mined = random_map(8, 10, 0.05, 33);
  const auto clean = mined;
  for (const auto& [r, c] : {std::pair{2, 3}, {4, 5}, {5, 2}, {6, 7}, {3, 8}}) mined[r][c] = 'x';
  list.push_back(
      grid("field-mines-in-low", {.map = clean, .slip = 0.15}, {.map = mined, .slip = 0.15}));
  list.push_back({"taxi-boards-itself-in-low", false, 0.98, 300, taxi()});
}

}  // namespace hilo::testing
