#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hilo/env/fidelities.hpp"
#include "hilo/env/tabular_mdp.hpp"

namespace hilo::testing {

// A problem where the future matters, with a cheap simulator that is wrong in some stated way.
struct SequentialProblem {
  std::string name;
  bool held_out;  // not looked at while an agent is developed
  double gamma;
  std::uint32_t max_steps;
  Fidelities pair;
};

// All of them: those for development first. The two halves have different families of problems and
// different kinds of errors, as far as the names say the same thing at all.
std::vector<SequentialProblem> sequential_problems();

// The parts of the list, one file each.
void add_mazes(std::vector<SequentialProblem>& list);
void add_inventories(std::vector<SequentialProblem>& list);
void add_processes(std::vector<SequentialProblem>& list);
void add_fields(std::vector<SequentialProblem>& list);
void add_operations(std::vector<SequentialProblem>& list);
void add_held_out_mazes(std::vector<SequentialProblem>& list);
void add_held_out_processes(std::vector<SequentialProblem>& list);
void add_held_out_services(std::vector<SequentialProblem>& list);

// An inventory with lead times. T keeps the stock, and adds what is on its way or forgets it: then
// states that want opposite actions share a cheap state.
Fidelities inventory_with_one_order(bool map_counts_order);

// Where a step may lead, in any order; the same successor may come more than once.
using Outcomes = std::vector<Outcome>;
using RowFunction = std::function<void(State s, Action a, Outcomes& out)>;

// A table from a function of (s, a). The start is uniform over `start`.
std::shared_ptr<const TabularMdp> tabulate(std::size_t num_states, std::size_t num_actions,
                                           const std::vector<State>& terminal,
                                           const std::vector<State>& start, const RowFunction& row);

// Every step ends with this chance instead, in `end`, and pays what it pays anyway.
RowFunction with_chance_of_end(RowFunction row, double chance, State end);

// A maze drawn as text, one line per row of cells.
//   '#' wall    '.' free    'S' free, a start    'm' mud, which costs `mud` more to enter
//   'G' entering it ends and pays `goal`         'X' entering it ends and pays `trap`
//   'x' the same as X, but the cell itself is the terminal state
// Actions are up, right, down, left; with chance `slip` the step goes to either side of the action.
// `wind` more cells are moved to the right with its chance. States are the cells row by row, then
// two terminal states: after a goal and after a trap.
struct Maze {
  std::vector<std::string> map;
  double slip = 0;
  double step_cost = 0.02;
  double goal = 1;
  double trap = -1;
  double mud = 0.3;
  double wind = 0;                             // chance of one more cell to the right
  std::vector<Action> actions = {0, 1, 2, 3};  // actions[a]: what action a does
};
std::shared_ptr<const TabularMdp> make_maze(const Maze& maze);

// A maze of free cells and random walls with a way through; S and G are in opposite corners.
std::vector<std::string> random_map(std::size_t height, std::size_t width, double walls,
                                    std::uint64_t seed);

// The same map with one cell changed.
std::vector<std::string> with_cell(std::vector<std::string> map, std::size_t row, std::size_t col,
                                   char cell);

inline Fidelities pair_of(std::shared_ptr<const TabularMdp> high,
                          std::shared_ptr<const TabularMdp> low) {
  return {make_simulator(std::move(high)), make_simulator(std::move(low))};
}

}  // namespace hilo::testing
