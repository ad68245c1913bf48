// Held out: a race track, a ferry, a key and its door, a robot with a battery, a car in a valley, a
// pole.
#include <algorithm>
#include <array>
#include <cmath>

#include "support/sequential_problems.hpp"

namespace hilo::testing {
namespace {

// 24 places in a row and speeds 0 to 4; brake, hold, accelerate. Bends allow speed 2 at most: too
// fast a car stops there and pays. With chance `fails` the pedal does nothing. In the cheap one it
// always works.
std::shared_ptr<const TabularMdp> race(double fails) {
  constexpr State kPlaces = 24, kSpeeds = 5, kEnd = kPlaces * kSpeeds;
  return tabulate(kEnd + 1, 3, {kEnd}, {0}, [=](State s, Action a, Outcomes& out) {
    const State place = s / kSpeeds, speed = s % kSpeeds;
    const auto drive = [&](State to, double p) {
      for (State k = 1; k <= to; ++k) {
        const bool bend = (place + k) % 8 == 7 && place + k < kPlaces;
        if (bend && to > 2) {
          out.push_back({(place + k) * kSpeeds, p, -20});
          return;
        }
      }
      if (place + to >= kPlaces)
        out.push_back({kEnd, p, 100});
      else
        out.push_back({(place + to) * kSpeeds + to, p, -2});
    };
    const State slower = speed > 0 ? speed - 1 : 0;
    const State faster = std::min(kSpeeds - 1, speed + 1);
    drive(a == 0 ? slower : (a == 1 ? speed : faster), 1 - fails);
    drive(speed, fails);
  });
}

// A ferry crosses from the left to the dock at the right: up, right, down, left. The current takes
// it down by one more row with a chance that rises to the right, and below the last row is a weir.
// In the cheap one the current is weaker.
std::shared_ptr<const TabularMdp> ferry(double current) {
  constexpr State kWidth = 7, kRows = 9, kDock = kWidth * kRows, kWeir = kDock + 1;
  const std::vector<State> start = {3 * kWidth, 4 * kWidth};
  return tabulate(kWeir + 1, 4, {kDock, kWeir}, start, [=](State s, Action a, Outcomes& out) {
    State x = s % kWidth, y = s / kWidth;
    if (a == 0 && y > 0) --y;
    if (a == 1 && x + 1 < kWidth) ++x;
    if (a == 2) ++y;
    if (a == 3 && x > 0) --x;
    const double drifts = current * x / (kWidth - 1);
    const auto float_to = [&](State row, double p) {
      if (row >= kRows)
        out.push_back({kWeir, p, -0.1});
      else if (x + 1 == kWidth && row >= 2 && row <= 4)
        out.push_back({kDock, p, 0.2});
      else
        out.push_back({row * kWidth + x, p, -0.002});
    };
    float_to(y, 1 - drifts);
    float_to(y + 1, drifts);
  });
}

// Two rooms with a door that opens only for who holds the key: entering the key's cell takes it.
// In the cheap one the key lies in another corner.
std::shared_ptr<const TabularMdp> key_and_door(State key) {
  static constexpr std::array<const char*, 6> kMap = {
      "...#...",  //
      "...#...",  //
      ".......",  // The door is in this row.
      "...#...",  //
      "...#...",  //
      "...#..G",
  };
  constexpr State kWidth = 7, kRows = 6, kCells = kWidth * kRows, kEnd = 2 * kCells;
  constexpr State kDoor = 2 * kWidth + 3;
  return tabulate(kEnd + 1, 4, {kEnd}, {kWidth + 1}, [=](State s, Action a, Outcomes& out) {
    const State cell = s % kCells;
    const bool has_key = s >= kCells;
    const auto go = [&](Action direction, double p) {
      const State r = cell / kWidth, c = cell % kWidth;
      State next = cell;
      if (direction == 0 && r > 0) next = cell - kWidth;
      if (direction == 1 && c + 1 < kWidth) next = cell + 1;
      if (direction == 2 && r + 1 < kRows) next = cell + kWidth;
      if (direction == 3 && c > 0) next = cell - 1;
      const char what = kMap[next / kWidth][next % kWidth];
      if (what == '#' || (next == kDoor && !has_key)) next = cell;
      if (what == 'G')
        out.push_back({kEnd, p, 10});
      else
        out.push_back({next + (has_key || next == key ? kCells : 0), p, -0.1});
    };
    go(a, 0.9);
    go((a + 1) % 4, 0.05);
    go((a + 3) % 4, 0.05);
  });
}

// A robot fetches parcels at one corner of 4 x 4 cells and is paid at the other side; a charger is
// in between. Four moves, and one action to wait, which charges at the charger. A robot without
// charge is lost. In the cheap one moves need no charge.
std::shared_ptr<const TabularMdp> robot(double drain) {
  constexpr State kSide = 4, kCells = kSide * kSide, kCharges = 9, kEnd = 2 * kCells * kCharges;
  constexpr State kParcels = 0, kCharger = 6, kCustomer = 11;
  const auto of = [](State cell, State charge, State loaded) {
    return (cell * kCharges + charge) * 2 + loaded;
  };
  const auto row = [=](State s, Action a, Outcomes& out) {
    const State loaded = s % 2, charge = s / 2 % kCharges, cell = s / 2 / kCharges;
    if (a == 4) {
      const State more = cell == kCharger ? std::min(kCharges - 1, charge + 4) : charge;
      out.push_back({of(cell, more, loaded), 1, -0.05});
      return;
    }
    State next = cell;
    if (a == 0 && cell >= kSide) next = cell - kSide;
    if (a == 1 && cell % kSide + 1 < kSide) next = cell + 1;
    if (a == 2 && cell + kSide < kCells) next = cell + kSide;
    if (a == 3 && cell % kSide > 0) next = cell - 1;
    const bool delivers = loaded == 1 && next == kCustomer;
    const State carries = next == kParcels ? 1 : (delivers ? 0 : loaded);
    const double r = delivers ? 3 : -0.05;
    out.push_back({of(next, charge, carries), 1 - drain, r});
    if (charge > 0)
      out.push_back({of(next, charge - 1, carries), drain, r});
    else
      out.push_back({kEnd, drain, r - 4});
  };
  return tabulate(kEnd + 1, 5, {kEnd}, {of(5, 8, 0), of(1, 6, 0)},
                  with_chance_of_end(row, 0.01, kEnd));
}

// A car too weak for the hill has to swing up: back, roll, forth, each for five moments. The cheap
// one has half as many places and half as many speeds.
Fidelities valley() {
  const auto make = [](State places, State speeds) {
    const State end = places * speeds;
    const auto row = [=](State s, Action a, Outcomes& out) {
      double x = -1.2 + 1.8 * (s / speeds + 0.5) / places;
      double v = -0.07 + 0.14 * (s % speeds + 0.5) / speeds;
      for (int k = 0; k < 5; ++k) {
        v += 0.0015 * (static_cast<double>(a) - 1) - 0.0025 * std::cos(3 * x);
        v = std::clamp(v, -0.07, 0.07);
        x += v;
        if (x < -1.2) {
          x = -1.2;
          v = 0;
        }
        if (x >= 0.5) {
          out.push_back({end, 1, 1});
          return;
        }
      }
      // Between four neighbours, by its distance from each.
      const double i = std::clamp((x + 1.2) / 1.8 * places - 0.5, 0.0, places - 1.0);
      const double j = std::clamp((v + 0.07) / 0.14 * speeds - 0.5, 0.0, speeds - 1.0);
      for (State up = 0; up < 2; ++up)
        for (State on = 0; on < 2; ++on) {
          const State place = std::min(places - 1, static_cast<State>(i) + up);
          const State speed = std::min(speeds - 1, static_cast<State>(j) + on);
          const double p = (up == 1 ? i - std::floor(i) : 1 - i + std::floor(i)) *
                           (on == 1 ? j - std::floor(j) : 1 - j + std::floor(j));
          out.push_back({place * speeds + speed, p, -0.02});
        }
    };
    const State bottom = places * 7 / 18;  // where the car comes to rest
    return tabulate(end + 1, 3, {end}, {bottom * speeds + speeds / 2}, row);
  };
  std::vector<State> map;
  for (State s = 0; s < State{24 * 14}; ++s) map.push_back(s / 14 / 2 * 7 + s % 14 / 2);
  map.push_back(12 * 7);
  return {make_simulator(make(24, 14)), make_simulator(make(12, 7)), StateMap(map, 12 * 7 + 1)};
}

// A pole of 13 angles and 9 speeds; push left, nothing, push right. It pays while it is upright. In
// the cheap one left and right are exchanged.
std::shared_ptr<const TabularMdp> pole(double push) {
  constexpr State kAngles = 13, kSpeeds = 9, kEnd = kAngles * kSpeeds;
  const State upright = 6 * kSpeeds + 4;
  return tabulate(kEnd + 1, 3, {kEnd}, {upright - 1, upright, upright + 1},
                  [=](State s, Action a, Outcomes& out) {
                    const double angle = s / kSpeeds - 6.0, speed = s % kSpeeds - 4.0;
                    const double r = 0.02 * (1 - std::abs(angle) / 6);
                    const double mean = speed + 0.3 * angle + push * (static_cast<double>(a) - 1);
                    for (const auto& [shock, p] : {std::pair{-1.0, 0.2}, {0.0, 0.6}, {1.0, 0.2}}) {
                      const double v = std::clamp(std::round(mean + shock), -4.0, 4.0);
                      for (const double to : {angle + std::floor(v / 2), angle + std::ceil(v / 2)})
                        if (std::abs(to) > 6)
                          out.push_back({kEnd, p / 2, -0.2});
                        else
                          out.push_back({static_cast<State>((to + 6) * kSpeeds + v + 4), p / 2, r});
                    }
                  });
}

}  // namespace

void add_held_out_mazes(std::vector<SequentialProblem>& list) {
  const auto add = [&](const char* name, double gamma, std::uint32_t max_steps, Fidelities pair) {
    list.push_back({name, true, gamma, max_steps, std::move(pair)});
  };
  add("race-pedals-never-fail-in-low", 0.97, 150, pair_of(race(0.25), race(0)));
  add("ferry-weaker-current-in-low", 0.98, 100, pair_of(ferry(0.8), ferry(0.3)));
  add("key-elsewhere-in-low", 0.97, 200, pair_of(key_and_door(35), key_and_door(2)));
  add("robot-endless-battery-in-low", 0.97, 200, pair_of(robot(0.5), robot(0)));
  add("valley-aggregated", 0.98, 200, valley());
  add("pole-pushes-exchanged", 0.95, 150, pair_of(pole(1.5), pole(-1.5)));
}

}  // namespace hilo::testing
