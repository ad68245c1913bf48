// For development: a lock, a traffic light, a reservoir, a patient, a lift, a network, a fishery.
#include <algorithm>
#include <array>

#include "hilo/core/random.hpp"
#include "support/sequential_problems.hpp"

namespace hilo::testing {
namespace {

// One right action of four at each of 30 stages, anything else falls back by three. Opening pays.
// In the cheap one every third stage has another right action.
Fidelities lock() {
  constexpr State kStages = 30, kEnd = kStages;
  const auto make = [=](bool cheap) {
    return tabulate(kEnd + 1, 4, {kEnd}, {0}, [=](State s, Action a, Outcomes& out) {
      Action right = (s * 7 + s / 2) % 4;
      if (cheap && s % 3 == 2) right = (right + 1) % 4;
      if (a == right) {
        out.push_back({s + 1, 1, s + 1 == kStages ? 1.0 : -0.01});
        return;
      }
      out.push_back({s > 3 ? s - 3 : 0, 0.98, -0.01});
      out.push_back({kEnd, 0.02, -0.01});
    });
  };
  return pair_of(make(false), make(true));
}

// Two queues of up to 9 at a light; keep or switch. `first`, `second`: chances of arrivals.
std::shared_ptr<const TabularMdp> traffic(double first, double second) {
  constexpr State kMost = 9, kEnd = 2 * (kMost + 1) * (kMost + 1);
  const auto row = [=](State s, Action a, Outcomes& out) {
    const State light = s % 2, x = s / 2 % (kMost + 1), y = s / 2 / (kMost + 1);
    const State next_light = a == 1 ? 1 - light : light;
    const double cost = -0.1 * x - 0.1 * y - (a == 1 ? 0.2 : 0);
    for (State come_x = 0; come_x < 2; ++come_x)
      for (State come_y = 0; come_y < 2; ++come_y) {
        const double p = (come_x == 1 ? first : 1 - first) * (come_y == 1 ? second : 1 - second);
        const State served_x = a == 0 && light == 0 && x > 0 ? 1 : 0;
        const State served_y = a == 0 && light == 1 && y > 0 ? 1 : 0;
        const State nx = std::min(kMost, x - served_x + come_x);
        const State ny = std::min(kMost, y - served_y + come_y);
        out.push_back({(ny * (kMost + 1) + nx) * 2 + next_light, p, cost});
      }
  };
  return tabulate(kEnd + 1, 2, {kEnd}, {0, 130}, with_chance_of_end(row, 0.02, kEnd));
}

// 25 levels and 4 seasons; release 0, 1, 2 or 4. A flood and a drought cost. The cheap one has its
// seasons shifted by `shift`.
std::shared_ptr<const TabularMdp> reservoir(State shift) {
  constexpr State kLevels = 25, kEnd = 4 * kLevels;
  const auto row = [=](State s, Action a, Outcomes& out) {
    const State season = s % 4;
    const int level = static_cast<int>(s / 4);
    const int release = std::min(level, std::array<int, 4>{0, 1, 2, 4}[a]);
    const int mean = std::array<int, 4>{4, 2, 0, 1}[(season + shift) % 4];
    for (int k = 0; k < 3; ++k) {
      const int filled = level - release + mean + k - 1;
      const int next = std::clamp(filled, 0, static_cast<int>(kLevels) - 1);
      const double r = 0.5 * release - (filled > 24 ? 4 : 0) - (filled <= 0 ? 2 : 0);
      out.push_back({static_cast<State>(next) * 4 + (season + 1) % 4,
                     std::array<double, 3>{0.25, 0.5, 0.25}[static_cast<std::size_t>(k)], r});
    }
  };
  return tabulate(kEnd + 1, 4, {kEnd}, {40, 42}, with_chance_of_end(row, 0.02, kEnd));
}

// A patient of 31 grades; wait, drug, operation. In the cheap one a severe grade is the end.
std::shared_ptr<const TabularMdp> patient(bool severe_ends) {
  constexpr State kGrades = 31, kCured = kGrades, kDead = kGrades + 1;
  return tabulate(kDead + 1, 3, {kCured, kDead}, {10, 15}, [=](State s, Action a, Outcomes& out) {
    const auto to = [&](int grade, double p, double r) {
      if (grade <= 0)
        out.push_back({kCured, p, 3 + r});
      else if (grade >= static_cast<int>(kGrades) || (severe_ends && grade > 20))
        out.push_back({kDead, p, -3 + r});
      else
        out.push_back({static_cast<State>(grade), p, r});
    };
    const int grade = static_cast<int>(s);
    if (a == 0) {
      to(grade + 1, 0.5, 0);
      to(grade - 1, 0.3, 0);
      to(grade, 0.2, 0);
    } else if (a == 1) {
      to(grade - 1, 0.5, -0.1);
      to(grade + 1, 0.3, -0.1);
      to(grade, 0.2, -0.1);
    } else {
      // Makes it worse at first, but then may cure at once.
      to(grade + 5, 0.3, -0.5);
      to(0, 0.3, -0.5);
      to(grade - 3, 0.4, -0.5);
    }
  });
}

// A lift between 8 floors with up to 5 waiting at the ground and 5 at the top: down, stay, up. The
// cheap one has the costs of waiting with the wrong sign.
std::shared_ptr<const TabularMdp> lift(double sign) {
  constexpr State kFloors = 8, kMost = 5, kSide = kMost + 1, kEnd = kFloors * kSide * kSide;
  const auto row = [=](State s, Action a, Outcomes& out) {
    const State floor = s / (kSide * kSide), low = s / kSide % kSide, top = s % kSide;
    const State next =
        a == 0 ? (floor > 0 ? floor - 1 : 0) : (a == 1 ? floor : std::min(kFloors - 1, floor + 1));
    const double r = -0.2 * sign * (low + top) - (a == 1 ? 0 : 0.05 * sign);
    for (const auto& [dl, dt, p] :
         {std::array<double, 3>{0, 0, 0.7}, std::array<double, 3>{1, 0, 0.2},
          std::array<double, 3>{0, 1, 0.1}}) {
      const State l = next == 0 ? 0 : std::min(kMost, low + static_cast<State>(dl));
      const State t = next == kFloors - 1 ? 0 : std::min(kMost, top + static_cast<State>(dt));
      out.push_back({(next * kSide + l) * kSide + t, p, r});
    }
  };
  return tabulate(kEnd + 1, 3, {kEnd}, {4 * kSide * kSide}, with_chance_of_end(row, 0.02, kEnd));
}

// 60 nodes with three links each and one goal; the cheap network is another one altogether.
std::shared_ptr<const TabularMdp> network(std::uint64_t seed) {
  constexpr State kNodes = 60, kEnd = kNodes;
  return tabulate(kEnd + 1, 3, {kEnd}, {0, 1, 2}, [=](State s, Action a, Outcomes& out) {
    Rng rng(Stream(seed, Purpose::user, s, a));
    const State near = (s + 1 + rng.below(4)) % kNodes, far = rng.below(kNodes);
    const double cost = -0.05 * rng.uniform();
    if (s == kNodes - 1 && a == 2) {
      out.push_back({kEnd, 1, 1});
      return;
    }
    out.push_back({a == 0 ? near : (a == 1 ? s - std::min<State>(s, 3) : far), 0.9, cost});
    out.push_back({0, 0.1, cost});
  });
}

// A fish stock of 40 grades; harvest none, some, much. The cheap one lumps four grades and pays
// in other units.
Fidelities fishery() {
  const auto make = [](State grades, double unit, double offset) {
    const State end = grades;
    const double scale = 40.0 / grades;
    const auto row = [=](State s, Action a, Outcomes& out) {
      const double stock = scale * (s + 0.5);
      const double caught = std::array<double, 3>{0, 0.08, 0.35}[a] * stock;
      const double left = stock - caught;
      const double grown = std::min(39.99, left + 0.25 * left * (1 - left / 40));
      const double r = offset + unit * (caught - (a == 2 ? 1 : 0));
      const double place = grown / scale;
      const State below = std::min<State>(grades - 1, static_cast<State>(place));
      const double up = place - below;
      out.push_back({below, 0.7, r});
      out.push_back({std::min<State>(grades - 1, below + 1), 0.3 * up, r});
      out.push_back({below > 0 ? below - 1 : 0, 0.3 * (1 - up), r});
    };
    return tabulate(end + 1, 3, {end}, {grades / 2}, with_chance_of_end(row, 0.02, end));
  };
  std::vector<State> map;
  for (State s = 0; s < 40; ++s) map.push_back(s / 4);
  map.push_back(10);
  return {make_simulator(make(40, 1, 0)), make_simulator(make(10, 0.1, -3)), StateMap(map, 11)};
}

}  // namespace

void add_operations(std::vector<SequentialProblem>& list) {
  const auto add = [&](const char* name, double gamma, Fidelities pair) {
    list.push_back({name, false, gamma, 300, std::move(pair)});
  };
  add("lock-partly-wrong", 0.97, lock());
  add("traffic-swapped-rates", 0.97, pair_of(traffic(0.5, 0.15), traffic(0.15, 0.5)));
  add("reservoir-shifted-seasons", 0.97, pair_of(reservoir(0), reservoir(2)));
  add("patient-severe-ends-in-low", 0.99, pair_of(patient(false), patient(true)));
  add("lift-flipped-costs", 0.97, pair_of(lift(1), lift(-1)));
  add("network-unrelated", 0.97, pair_of(network(41), network(42)));
  add("fishery-aggregated", 0.98, fishery());
}

}  // namespace hilo::testing
