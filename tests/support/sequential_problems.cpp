#include "support/sequential_problems.hpp"

#include <algorithm>
#include <numeric>

#include "hilo/core/random.hpp"

namespace hilo::testing {

std::vector<SequentialProblem> sequential_problems() {
  std::vector<SequentialProblem> list;
  add_mazes(list);
  add_inventories(list);
  add_processes(list);
  add_fields(list);
  add_operations(list);
  add_held_out_mazes(list);
  add_held_out_processes(list);
  add_held_out_services(list);
  return list;
}

namespace {

// By rising successor, each once: the chances added up, the rewards averaged.
void tidy(Outcomes& out) {
  std::erase_if(out, [](const Outcome& o) { return o.probability <= 0; });
  std::ranges::stable_sort(out, {}, &Outcome::next);
  Outcomes merged;
  for (const Outcome& o : out) {
    if (merged.empty() || merged.back().next != o.next) {
      merged.push_back(o);
      continue;
    }
    Outcome& last = merged.back();
    const double sum = last.probability + o.probability;
    last.reward = (last.probability * last.reward + o.probability * o.reward) / sum;
    last.probability = sum;
  }
  double sum = 0;
  for (const Outcome& o : merged) sum += o.probability;
  for (Outcome& o : merged) o.probability /= sum;
  out = std::move(merged);
}

}  // namespace

std::shared_ptr<const TabularMdp> tabulate(std::size_t num_states, std::size_t num_actions,
                                           const std::vector<State>& terminal,
                                           const std::vector<State>& start,
                                           const RowFunction& row) {
  TabularBuilder builder(num_states, num_actions, terminal);
  Outcomes out;
  for (State s = 0; s < num_states; ++s)
    for (Action a = 0; a < num_actions; ++a) {
      if (std::ranges::find(terminal, s) != terminal.end()) {
        builder.add_absorbing_row();
        continue;
      }
      out.clear();
      row(s, a, out);
      tidy(out);
      builder.add_row(out);
    }
  std::vector<State> rising = start;
  std::ranges::sort(rising);
  std::vector<StartProbability> starts;
  for (const State s : rising) starts.push_back({s, 1.0 / static_cast<double>(start.size())});
  return builder.build(starts);
}

RowFunction with_chance_of_end(RowFunction row, double chance, State end) {
  return [=](State s, Action a, Outcomes& out) {
    row(s, a, out);
    double mean = 0;
    for (Outcome& o : out) {
      mean += o.probability * o.reward;
      o.probability *= 1 - chance;
    }
    out.push_back({end, chance, mean});
  };
}

std::shared_ptr<const TabularMdp> make_maze(const Maze& maze) {
  const std::size_t height = maze.map.size(), width = maze.map[0].size(), cells = height * width;
  const auto cell = [&](State s) { return maze.map[s / width][s % width]; };
  const auto goal = static_cast<State>(cells), trap = static_cast<State>(cells + 1);
  std::vector<State> terminal, start;
  for (State s = 0; s < cells; ++s) {
    if (cell(s) == 'x') terminal.push_back(s);
    if (cell(s) == 'S') start.push_back(s);
  }
  terminal.insert(terminal.end(), {goal, trap});

  const auto moved = [&](State s, Action direction) {
    const std::size_t r = s / width, c = s % width;
    State next = s;
    if (direction == 0 && r > 0) next = s - static_cast<State>(width);
    if (direction == 1 && c + 1 < width) next = s + 1;
    if (direction == 2 && r + 1 < height) next = s + static_cast<State>(width);
    if (direction == 3 && c > 0) next = s - 1;
    return cell(next) == '#' ? s : next;
  };
  const auto add = [&](State next, double p, Outcomes& out) {
    const double cost = maze.step_cost;
    switch (cell(next)) {
      case 'G':
        out.push_back({goal, p, maze.goal - cost});
        break;
      case 'X':
        out.push_back({trap, p, maze.trap - cost});
        break;
      case 'x':
        out.push_back({next, p, maze.trap - cost});
        break;
      case 'm':
        out.push_back({next, p, -cost - maze.mud});
        break;
      default:
        out.push_back({next, p, -cost});
    }
  };
  return tabulate(cells + 2, 4, terminal, start, [&](State s, Action a, Outcomes& out) {
    // Walls, goals and traps are never where one stands.
    if (cell(s) == '#' || cell(s) == 'G' || cell(s) == 'X') {
      out.push_back({trap, 1, 0});
      return;
    }
    const Action direction = maze.actions[a];
    const std::pair<Action, double> ways[] = {{direction, 1 - maze.slip},
                                              {(direction + 1) % 4, maze.slip / 2},
                                              {(direction + 3) % 4, maze.slip / 2}};
    for (const auto& [way, p] : ways) {
      const State next = moved(s, way);
      const bool stays_on = cell(next) != 'G' && cell(next) != 'X' && cell(next) != 'x';
      const double wind = stays_on ? maze.wind : 0;
      add(next, p * (1 - wind), out);
      if (wind > 0) add(moved(next, 1), p * wind, out);
    }
  });
}

std::vector<std::string> random_map(std::size_t height, std::size_t width, double walls,
                                    std::uint64_t seed) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    Rng rng(Stream(seed, Purpose::user, attempt));
    std::vector<std::string> map(height, std::string(width, '.'));
    for (auto& row : map)
      for (char& cell : row) cell = rng.uniform() < walls ? '#' : '.';
    map[0][0] = 'S';
    map[height - 1][width - 1] = 'G';
    // Flood from the start; a map without a way to the goal is drawn anew.
    std::vector<std::size_t> reached = {0};
    std::vector<std::uint8_t> seen(height * width);
    seen[0] = 1;
    for (std::size_t k = 0; k < reached.size(); ++k) {
      const std::size_t r = reached[k] / width, c = reached[k] % width;
      const auto visit = [&](std::size_t row, std::size_t col) {
        if (row >= height || col >= width || map[row][col] == '#' || seen[row * width + col] != 0)
          return;
        seen[row * width + col] = 1;
        reached.push_back(row * width + col);
      };
      visit(r - 1, c);
      visit(r, c + 1);
      visit(r + 1, c);
      visit(r, c - 1);
    }
    if (seen.back() == 0) continue;
    for (std::size_t k = 0; k < seen.size(); ++k)
      if (seen[k] == 0) map[k / width][k % width] = '#';  // no way leads there
    return map;
  }
}

std::vector<std::string> with_cell(std::vector<std::string> map, std::size_t row, std::size_t col,
                                   char cell) {
  map[row][col] = cell;
  return map;
}

}  // namespace hilo::testing
