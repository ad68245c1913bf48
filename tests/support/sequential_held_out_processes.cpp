// Held out: seats, a storage of energy, a blood bank, a forest, a treatment, crops.
#include <algorithm>
#include <array>

#include "support/sequential_problems.hpp"

namespace hilo::testing {
namespace {

// 14 seats and 20 days to sell them, at one of four prices; up to two customers come in a day. The
// last ones pay more. The cheap one does not know that, and counts in hundreds.
std::shared_ptr<const TabularMdp> seats(bool late_pay_more, double unit) {
  constexpr State kSeats = 14, kDays = 20, kEnd = (kSeats + 1) * kDays;
  const State start = kSeats * kDays + kDays - 1;
  return tabulate(kEnd + 1, 4, {kEnd}, {start}, [=](State s, Action a, Outcomes& out) {
    const State left = s / kDays, days = s % kDays;
    const double price = std::array<double, 4>{40, 70, 110, 160}[a];
    const double early = std::array<double, 4>{0.8, 0.5, 0.2, 0.05}[a];
    const double late = std::array<double, 4>{0.9, 0.8, 0.7, 0.5}[a];
    const double buys = 0.7 * (late_pay_more && days < 6 ? late : early);
    const auto sell = [&](State sold, double p) {
      sold = std::min(sold, left);
      out.push_back({days == 0 ? kEnd : s - sold * kDays - 1, p, unit * price * sold});
    };
    sell(0, (1 - buys) * (1 - buys));
    sell(1, 2 * buys * (1 - buys));
    sell(2, buys * buys);
  });
}

// 8 levels of charge, 8 hours and 3 moods of the market; buy, hold, sell. Some of what is bought
// gets lost. The cheap one knows no moods and no losses.
Fidelities storage() {
  const auto make = [](State moods, double loss) {
    const State end = 64 * moods;
    const auto row = [=](State s, Action a, Outcomes& out) {
      const State mood = s % moods, hour = s / moods % 8, charge = s / moods / 8;
      const double base = std::array<double, 8>{2, 1, 2, 4, 5, 4, 6, 4}[hour];
      const double price =
          0.01 * base * (moods == 1 ? 1 : std::array<double, 3>{0.5, 1, 1.8}[mood]);
      for (State next = 0; next < moods; ++next) {
        const double p = moods == 1 ? 1 : (next == mood ? 0.6 : 0.2);
        const auto to = [&](State level, double chance, double r) {
          out.push_back({(level * 8 + (hour + 1) % 8) * moods + next, p * chance, r});
        };
        if (a == 0 && charge < 7) {
          to(charge + 1, 1 - loss, -price);
          to(charge, loss, -price);
        } else if (a == 2 && charge > 0) {
          to(charge - 1, 1, price);
        } else {
          to(charge, 1, 0);
        }
      }
    };
    return tabulate(end + 1, 3, {end}, {3 * 8 * moods}, with_chance_of_end(row, 0.02, end));
  };
  std::vector<State> map;
  for (State s = 0; s < State{192}; ++s) map.push_back(s / 3);
  map.push_back(64);
  return {make_simulator(make(3, 0.2)), make_simulator(make(1, 0)), StateMap(map, 65)};
}

// Units of blood of three ages, up to 4 each; order 0, 1, 2 or 4. The oldest are used first, and
// what is left of them expires. The cheap one only knows how many there are, and none expires.
Fidelities blood_bank() {
  constexpr std::array<State, 4> kOrders = {0, 1, 2, 4};
  constexpr std::array<double, 5> kDemand = {0.2, 0.3, 0.25, 0.15, 0.1};
  const auto high = [=](State s, Action a, Outcomes& out) {
    for (State d = 0; d < kDemand.size(); ++d) {
      State fresh = s / 25, older = s / 5 % 5, oldest = s % 5, wanted = d;
      for (State* kind : {&oldest, &older, &fresh}) {
        const State used = std::min(*kind, wanted);
        *kind -= used;
        wanted -= used;
      }
      const double r = 5.0 * (d - wanted) - 12.0 * wanted - 8.0 * oldest - 2.0 * kOrders[a];
      out.push_back({(kOrders[a] * 5 + fresh) * 5 + older, kDemand[d], r});
    }
  };
  const auto low = [=](State s, Action a, Outcomes& out) {
    for (State d = 0; d < kDemand.size(); ++d) {
      const State used = std::min(s, d);
      const double r = 5.0 * used - 12.0 * (d - used) - 2.0 * kOrders[a];
      out.push_back({std::min<State>(12, s - used + kOrders[a]), kDemand[d], r});
    }
  };
  std::vector<State> map;
  for (State s = 0; s < State{125}; ++s) map.push_back(s / 25 + s / 5 % 5 + s % 5);
  map.push_back(13);
  return {make_simulator(tabulate(126, 4, {125}, {2 * 25, 0}, with_chance_of_end(high, 0.02, 125))),
          make_simulator(tabulate(14, 4, {13}, {2, 0}, with_chance_of_end(low, 0.02, 13))),
          StateMap(map, 14)};
}

// Trees of 20 ages over 5 grades of brush, in wet and dry years; wait, clear the brush, fell. Brush
// burns. In the cheap one what felling pays has the wrong sign.
std::shared_ptr<const TabularMdp> forest(double sign) {
  constexpr State kAges = 20, kBrush = 5, kEnd = kAges * kBrush * 2;
  const auto row = [=](State s, Action a, Outcomes& out) {
    const State dry = s % 2, brush = s / 2 % kBrush, age = s / 2 / kBrush;
    const double burns = a == 2 ? 0 : (0.005 + 0.03 * (a == 1 ? 0 : brush)) * (dry == 1 ? 2 : 1);
    for (State next_dry = 0; next_dry < 2; ++next_dry) {
      const double p = next_dry == 1 ? 0.3 : 0.7;
      const State older = std::min(kAges - 1, age + 1), more = std::min(kBrush - 1, brush + 1);
      const double sale = 3.0 * age - 10;
      if (a == 2) {
        out.push_back({next_dry, p, sign * sale});
        continue;
      }
      const double r = a == 1 ? -1.5 : 0;
      out.push_back({next_dry, p * burns, r - 10});
      const double kept = p * (1 - burns);
      out.push_back({(older * kBrush + (a == 1 ? 0 : brush)) * 2 + next_dry, kept / 2, r});
      out.push_back({(older * kBrush + (a == 1 ? 0 : more)) * 2 + next_dry, kept / 2, r});
    }
  };
  return tabulate(kEnd + 1, 3, {kEnd}, {0, 5 * kBrush * 2}, with_chance_of_end(row, 0.02, kEnd));
}

// A tumour of 15 sizes and 10 grades of a drug in the blood; doses 0 to 3. Too much of it kills.
Fidelities treatment() {
  constexpr State kCured = 150, kDead = 151;
  const RowFunction day = [=](State s, Action a, Outcomes& out) {
    const State size = s / 10, drug = s % 10;
    const double shrinks = std::min(0.9, 0.13 * drug), grows = (1 - shrinks) * 0.5;
    const double r = -0.3 * drug - 0.1 * size;
    const auto to = [&](State next, double p) {
      for (const State decays : {State{1}, State{3}}) {
        const State level = drug - std::min(drug, decays) + static_cast<State>(a);
        if (next >= 15 || level >= 10)
          out.push_back({kDead, p / 2, r - 30});
        else
          out.push_back({next * 10 + level, p / 2, r});
      }
    };
    if (size == 0)
      out.push_back({kCured, shrinks, r + 30});
    else
      to(size - 1, shrinks);
    to(size + 1, grows);
    to(size, 1 - shrinks - grows);
  };
  // The cheap one gives the same dose on two days and counts them as one.
  const RowFunction two_days = [=](State s, Action a, Outcomes& out) {
    Outcomes first, second;
    day(s, a, first);
    for (const Outcome& o : first) {
      second.clear();
      if (o.next >= kCured)
        out.push_back(o);
      else
        day(o.next, a, second);
      for (const Outcome& then : second)
        out.push_back({then.next, o.probability * then.probability, o.reward + then.reward});
    }
  };
  const auto make = [=](const RowFunction& row) {
    return tabulate(152, 4, {kCured, kDead}, {60, 80}, row);
  };
  return pair_of(make(day), make(two_days));
}

// Ten grades of soil, the last crop and three grades of rain; fallow, beans, maize, wheat. The
// cheap one knows no rain, and pays a subsidy for each year.
Fidelities crops() {
  const auto make = [](State rains, double subsidy) {
    const State end = 40 * rains;
    const auto row = [=](State s, Action a, Outcomes& out) {
      const State rain = s % rains, last = s / rains % 4, soil = s / rains / 4;
      const double wet = rains == 1 ? 1 : rain;
      const double fits = std::array<double, 4>{0, 1, 0.3 + 0.7 * wet, 1.3 - 0.3 * wet}[a];
      const double again = a == last ? 0.5 : 1;
      const double r =
          subsidy + std::array<double, 4>{0, 1, 4, 3}[a] * fits * again * soil / 9 - 0.5 * (a > 0);
      const int feeds = std::array<int, 4>{2, 1, -3, -2}[a];
      for (State next = 0; next < rains; ++next)
        for (int luck = 0; luck < 2; ++luck) {
          const double p = rains == 1 ? 1 : (next == rain ? 0.5 : 0.25);
          const auto to =
              static_cast<State>(std::clamp(static_cast<int>(soil) + feeds + luck, 0, 9));
          out.push_back({(to * 4 + static_cast<State>(a)) * rains + next, p / 2, r});
        }
    };
    return tabulate(end + 1, 4, {end}, {5 * 4 * rains}, with_chance_of_end(row, 0.02, end));
  };
  std::vector<State> map;
  for (State s = 0; s < State{120}; ++s) map.push_back(s / 3);
  map.push_back(40);
  return {make_simulator(make(3, 0)), make_simulator(make(1, 1)), StateMap(map, 41)};
}

}  // namespace

void add_held_out_processes(std::vector<SequentialProblem>& list) {
  const auto add = [&](const char* name, double gamma, std::uint32_t max_steps, Fidelities pair) {
    list.push_back({name, true, gamma, max_steps, std::move(pair)});
  };
  add("seats-all-customers-alike-in-low", 0.99, 50, pair_of(seats(true, 1), seats(false, 0.01)));
  add("storage-without-moods-in-low", 0.98, 200, storage());
  add("blood-never-expires-in-low", 0.95, 100, blood_bank());
  add("forest-flipped-sales", 0.98, 200, pair_of(forest(1), forest(-1)));
  add("treatment-coarser-time", 0.99, 150, treatment());
  add("crops-without-rain-in-low", 0.95, 100, crops());
}

}  // namespace hilo::testing
