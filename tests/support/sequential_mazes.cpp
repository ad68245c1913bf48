// Mazes for development: a trap or a goal that only the cheap simulator has, a door that only the
// expensive one has, wrong slip, an unrelated maze, actions in another order.
#include "support/sequential_problems.hpp"

namespace hilo::testing {
namespace {

// The short way leads through the gap in the middle row, the long one around at the right.
const std::vector<std::string> kTwoWays = {
    "S.........",  //
    "..........",  //
    "##.######.",  //
    "..........",  //
    "..........",  //
    "..........",  //
    ".........G",
};

// Without the door in the wall one has to go around at the right.
const std::vector<std::string> kDoor = {
    "S..........",  //
    "...........",  //
    "...........",  //
    "##########.",  //
    "...........",  //
    "...........",  //
    "G..........",
};

SequentialProblem maze(const char* name, const Maze& high, const Maze& low) {
  return {name, false, 0.97, 300, pair_of(make_maze(high), make_maze(low))};
}

}  // namespace

void add_mazes(std::vector<SequentialProblem>& list) {
  const auto map = random_map(9, 9, 0.25, 11);
  const auto large = random_map(14, 14, 0.25, 12);

  list.push_back(maze("maze-trap-in-low", {.map = kTwoWays, .slip = 0.1},
                      {.map = with_cell(kTwoWays, 2, 2, 'x'), .slip = 0.1}));
  // The trap stands where every way passes.
  const std::vector<std::string> narrow = {"S......", ".......", "###.###", ".......", "......G"};
  list.push_back(maze("maze-trap-on-the-only-way-in-low", {.map = narrow, .slip = 0.1},
                      {.map = with_cell(narrow, 2, 3, 'x'), .slip = 0.1}));
  list.push_back(maze("maze-unrelated", {.map = map, .slip = 0.1},
                      {.map = random_map(9, 9, 0.3, 21), .slip = 0.1, .actions = {2, 3, 0, 1}}));
  list.push_back(maze("maze-door-in-high", {.map = with_cell(kDoor, 3, 0, '.'), .slip = 0.1},
                      {.map = kDoor, .slip = 0.1}));
  list.push_back(maze("maze-wrong-slip", {.map = large, .slip = 0.3}, {.map = large, .slip = 0}));
  list.push_back(maze("maze-rare-reward", {.map = map, .slip = 0.2, .step_cost = 0},
                      {.map = random_map(9, 9, 0, 11), .slip = 0, .step_cost = 0}));
  list.push_back(maze("maze-goal-in-low", {.map = map, .slip = 0.1},
                      {.map = with_cell(map, 1, 7, 'G'), .slip = 0.1}));
  list.push_back(maze("maze-actions-permuted", {.map = map, .slip = 0.1},
                      {.map = map, .slip = 0.1, .actions = {1, 2, 3, 0}}));
}

}  // namespace hilo::testing
