// Rivers, a queue, maintenance and an epidemic for development.
#include <algorithm>
#include <array>
#include <cmath>

#include "support/sequential_problems.hpp"

namespace hilo::testing {
namespace {

// Against the current: action 1 swims up, action 0 drifts down. The upper bank pays, the lower one
// hardly. Every step ends with chance 0.01.
struct River {
  State length = 25;
  double up = 0.6, down = 0.05;
  double pays = 1, bank = 0.002;
};
std::shared_ptr<const TabularMdp> make_river(const River& river) {
  const State end = river.length;
  const auto row = [=](State s, Action a, Outcomes& out) {
    const bool top = s + 1 == river.length;
    if (a == 0) {
      out.push_back({s > 0 ? s - 1 : 0, 1, s == 0 ? river.bank : 0});
      return;
    }
    const double r = top ? river.pays : 0;
    out.push_back({top ? s : s + 1, river.up, r});
    out.push_back({s, 1 - river.up - river.down, r});
    out.push_back({s > 0 ? s - 1 : 0, river.down, r});
  };
  return tabulate(end + 1, 2, {end}, {0, 1}, with_chance_of_end(row, 0.01, end));
}

// A queue of up to 40 before one server. Admit or not; work slow or fast.
std::shared_ptr<const TabularMdp> queue(double arrival, double slow, double fast) {
  constexpr State kMost = 40, kEnd = kMost + 1;
  const auto row = [=](State s, Action a, Outcomes& out) {
    const bool admits = a % 2 == 1 && s < kMost;
    const double leaves = s > 0 ? (a / 2 == 1 ? fast : slow) : 0;
    const double comes = admits ? arrival : 0;
    const double pays = 1.0 * comes - 0.02 * s - (a / 2 == 1 ? 0.15 : 0);
    out.push_back({s + 1, comes * (1 - leaves), pays});
    out.push_back({s, comes * leaves + (1 - comes) * (1 - leaves), pays});
    if (s > 0) out.push_back({s - 1, (1 - comes) * leaves, pays});
  };
  return tabulate(kEnd + 1, 4, {kEnd}, {0, 30}, with_chance_of_end(row, 0.02, kEnd));
}

// A machine wears in 30 steps of condition and 2 loads; run it light, run it hard, mend it.
std::shared_ptr<const TabularMdp> maintenance(double wear, double scale, double offset) {
  constexpr State kWorn = 30, kEnd = kWorn + 1;
  const auto row = [=](State s, Action a, Outcomes& out) {
    const auto pays = [&](double r) { return offset + scale * r; };
    if (a == 2 || s == kWorn) {
      out.push_back({0, 1, pays(s == kWorn ? -12 : -3)});
      return;
    }
    const double p = a == 1 ? 2 * wear : wear;
    const double r = (a == 1 ? 1.6 : 1.0) - 0.03 * s;
    out.push_back({std::min<State>(kWorn, s + 1), p, pays(r)});
    out.push_back({std::min<State>(kWorn, s + 3), p / 4, pays(r)});
    out.push_back({s, 1 - 1.25 * p, pays(r)});
  };
  return tabulate(kEnd + 1, 3, {kEnd}, {0}, with_chance_of_end(row, 0.02, kEnd));
}

// Of 20 people some are susceptible, some ill. Nothing, distance, lockdown. `spread`: infections.
// `rounded`: the number of new cases is its mean.
std::shared_ptr<const TabularMdp> epidemic(double spread, bool rounded) {
  constexpr int kPeople = 15;
  const auto of = [](int well, int ill) { return static_cast<State>(well * (kPeople + 1) + ill); };
  const State end = of(kPeople + 1, 0);
  const auto row = [=](State s, Action a, Outcomes& out) {
    const int well = static_cast<int>(s) / (kPeople + 1), ill = static_cast<int>(s) % (kPeople + 1);
    const double measure = std::array<double, 3>{1, 0.5, 0.15}[a];
    const double cost = std::array<double, 3>{0, 0.4, 1.2}[a] + 0.5 * ill;
    if (ill == 0 || well + ill > kPeople) {
      out.push_back({end, 1, -cost});
      return;
    }
    const double p = 1 - std::pow(1 - measure * spread / kPeople, ill);
    const auto add = [&](int cases, int recovered, double chance) {
      out.push_back({of(well - cases, ill + cases - recovered), chance, -cost});
    };
    const auto binomial = [](int n, int k, double q) {
      double c = 1;
      for (int i = 0; i < k; ++i) c *= static_cast<double>(n - i) / (k - i);
      return c * std::pow(q, k) * std::pow(1 - q, n - k);
    };
    if (rounded) {
      const int cases = static_cast<int>(std::lround(p * well));
      add(cases, std::max(1, static_cast<int>(std::lround(0.3 * ill))), 1);
      return;
    }
    for (int k = 0; k <= well; ++k)
      for (int j = 0; j <= ill; ++j) add(k, j, binomial(well, k, p) * binomial(ill, j, 0.3));
  };
  return tabulate(end + 1, 3, {end}, {of(kPeople - 2, 2)}, row);
}

}  // namespace

void add_processes(std::vector<SequentialProblem>& list) {
  const auto add = [&](const char* name, double gamma, Fidelities pair) {
    list.push_back({name, false, gamma, 300, std::move(pair)});
  };
  add("river-flipped", 0.98, pair_of(make_river({}), make_river({.pays = -1, .bank = -0.002})));
  add("river-without-current", 0.98, pair_of(make_river({}), make_river({.up = 1, .down = 0})));
  add("queue-wrong-rates", 0.98, pair_of(queue(0.6, 0.4, 0.7), queue(0.4, 0.5, 0.6)));
  add("maintenance-rescaled", 0.98, pair_of(maintenance(0.3, 1, 0), maintenance(0.2, 0.3, 2)));
  add("epidemic-rounded", 0.99, pair_of(epidemic(0.8, false), epidemic(0.8, true)));
}

}  // namespace hilo::testing
