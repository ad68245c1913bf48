#include "support/unseen_pairs.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/core/random.hpp"
#include "hilo/env/tabular_mdp.hpp"

namespace hilo::testing {
namespace {

// A dense MDP whose last state is terminal; starts uniformly on all others.
struct Dense {
  std::size_t states, actions;
  std::vector<double> p, r;  // [(s * actions + a) * states + next]

  Dense(std::size_t num_states, std::size_t num_actions)
      : states(num_states),
        actions(num_actions),
        p(num_states * num_actions * num_states),
        r(p.size()) {}
  std::size_t at(std::size_t s, std::size_t a, std::size_t next) const {
    return (s * actions + a) * states + next;
  }
  std::size_t end() const { return states - 1; }
};

using Rewards = std::function<double(double reward, std::size_t s, std::size_t a)>;

std::shared_ptr<const Simulator> simulator_of(const Dense& d) {
  const auto terminal = static_cast<State>(d.end());
  TabularBuilder builder(d.states, d.actions, {&terminal, 1});
  for (std::size_t s = 0; s + 1 < d.states; ++s)
    for (std::size_t a = 0; a < d.actions; ++a) {
      double sum = 0;
      for (std::size_t n = 0; n < d.states; ++n) sum += d.p[d.at(s, a, n)];
      std::vector<Outcome> row;
      for (std::size_t n = 0; n < d.states; ++n)
        if (d.p[d.at(s, a, n)] > 0)
          row.push_back({static_cast<State>(n), d.p[d.at(s, a, n)] / sum, d.r[d.at(s, a, n)]});
      builder.add_row(row);
    }
  for (std::size_t a = 0; a < d.actions; ++a) builder.add_absorbing_row();
  std::vector<StartProbability> start;
  for (std::size_t s = 0; s + 1 < d.states; ++s)
    start.push_back({static_cast<State>(s), 1 / static_cast<double>(d.states - 1)});
  return make_simulator(builder.build(start));
}

Fidelities pair_of(const Dense& high, const Dense& low) {
  return {simulator_of(high), simulator_of(low)};
}

Fidelities aggregated(const Dense& high, const Dense& low, std::size_t width) {
  std::vector<State> low_of;
  for (std::size_t s = 0; s + 1 < high.states; ++s) low_of.push_back(static_cast<State>(s / width));
  low_of.push_back(static_cast<State>(low.end()));
  return {simulator_of(high), simulator_of(low), StateMap(low_of, low.states)};
}

// The mean over the states that T takes together.
Dense aggregate(const Dense& high, std::size_t width) {
  Dense low((high.states - 1 + width - 1) / width + 1, high.actions);
  const auto to = [&](std::size_t s) { return s == high.end() ? low.end() : s / width; };
  std::vector<double> weight(low.p.size());
  for (std::size_t s = 0; s + 1 < high.states; ++s)
    for (std::size_t a = 0; a < high.actions; ++a)
      for (std::size_t n = 0; n < high.states; ++n) {
        const std::size_t i = low.at(to(s), a, to(n));
        const double p = high.p[high.at(s, a, n)];
        low.p[i] += p;
        low.r[i] += p * high.r[high.at(s, a, n)];
      }
  for (std::size_t i = 0; i < low.p.size(); ++i)
    if (low.p[i] > 0) low.r[i] /= low.p[i];
  return low;
}

Dense random_dense(std::uint64_t seed, std::size_t states = 25, std::size_t actions = 3,
                   double end = 0.12) {
  Dense d(states, actions);
  Rng rng(Stream(seed, Purpose::user, 11));
  for (std::size_t s = 0; s + 1 < states; ++s)
    for (std::size_t a = 0; a < actions; ++a) {
      const double reward = rng.uniform();
      double sum = 0;
      for (std::size_t n = 0; n + 1 < states; ++n) {
        const double u = rng.uniform();
        sum += d.p[d.at(s, a, n)] = rng.uniform() < 0.3 ? u * u : 0;
      }
      if (sum == 0) sum = d.p[d.at(s, a, (s + 1) % (states - 1))] = 1;
      for (std::size_t n = 0; n + 1 < states; ++n) d.p[d.at(s, a, n)] *= (1 - end) / sum;
      d.p[d.at(s, a, d.end())] = end;
      for (std::size_t n = 0; n < states; ++n) d.r[d.at(s, a, n)] = reward;
    }
  return d;
}

Dense with_rewards(Dense d, const Rewards& f) {
  for (std::size_t s = 0; s + 1 < d.states; ++s)
    for (std::size_t a = 0; a < d.actions; ++a)
      for (std::size_t n = 0; n < d.states; ++n) d.r[d.at(s, a, n)] = f(d.r[d.at(s, a, n)], s, a);
  return d;
}

// Rows (1 - share) of one and `share` of the other.
Dense mixed(Dense d, const Dense& other, double share) {
  for (std::size_t i = 0; i < d.p.size(); ++i) d.p[i] = (1 - share) * d.p[i] + share * other.p[i];
  return d;
}

Dense with_end(Dense d, double end) {
  for (std::size_t s = 0; s + 1 < d.states; ++s)
    for (std::size_t a = 0; a < d.actions; ++a) {
      const double go = 1 - d.p[d.at(s, a, d.end())];
      for (std::size_t n = 0; n + 1 < d.states; ++n) d.p[d.at(s, a, n)] *= (1 - end) / go;
      d.p[d.at(s, a, d.end())] = end;
    }
  return d;
}

double noise(std::uint64_t seed, std::size_t s, std::size_t a) {
  return Rng(Stream(seed, Purpose::user, 12, static_cast<std::uint32_t>(s * 64 + a))).uniform() -
         0.5;
}

// A birth-and-death process on 0..top, such as a queue or a stock: an action changes the rates.
struct Rates {
  double up = 0.4, down = 0.3, effect = 0.15, end = 0.08;
};
Dense birth_death(std::size_t top, std::size_t actions, const Rates& rates,
                  const std::function<double(double x, std::size_t a)>& reward) {
  Dense d(top + 2, actions);
  for (std::size_t s = 0; s <= top; ++s)
    for (std::size_t a = 0; a < actions; ++a) {
      const double go = 1 - rates.end;
      const double down = rates.down + rates.effect * static_cast<double>(a);
      d.p[d.at(s, a, std::min(s + 1, top))] += go * rates.up;
      d.p[d.at(s, a, s == 0 ? 0 : s - 1)] += go * std::min(down, 1 - rates.up);
      d.p[d.at(s, a, s)] += go * std::max(0.0, 1 - rates.up - down);
      d.p[d.at(s, a, d.end())] = rates.end;
      for (std::size_t n = 0; n < d.states; ++n)
        d.r[d.at(s, a, n)] = reward(static_cast<double>(s), a);
    }
  return d;
}

double between(std::uint64_t seed, std::uint32_t which, double low, double high) {
  return low + (high - low) * Rng(Stream(seed, Purpose::user, 13, which)).uniform();
}

Rates rates_of(std::uint64_t seed) {
  return {.up = between(seed, 0, 0.25, 0.5),
          .down = between(seed, 1, 0.1, 0.3),
          .effect = between(seed, 2, 0.05, 0.15),
          .end = between(seed, 3, 0.04, 0.12)};
}

double queue_cost(double x, std::size_t a) { return -x - 2 * static_cast<double>(a); }

}  // namespace

std::vector<PairKind> unseen_pair_kinds() {
  using Seed = std::uint64_t;
  std::vector<PairKind> kinds;
  const auto add = [&](const char* name, std::function<Fidelities(Seed)> make) {
    kinds.push_back({name, std::move(make)});
  };
  // Small processes whose cheap simulator has other rates or costs.
  const auto process = [&](const char* name, std::size_t top, const auto& change,
                           const auto& cost) {
    add(name, [=](Seed seed) {
      const Rates high = rates_of(seed);
      Rates low = high;
      change(low);
      return pair_of(birth_death(top, 3, high, queue_cost), birth_death(top, 3, low, cost));
    });
  };
  const auto same = [](Rates&) {};
  process(
      "queue, faster arrivals", 12, [](Rates& r) { r.up *= 1.3; }, queue_cost);
  process(
      "queue, slower service", 12, [](Rates& r) { r.down *= 0.5; }, queue_cost);
  process(
      "queue, action without effect", 12, [](Rates& r) { r.effect = 0; }, queue_cost);
  process(
      "queue, ends too soon", 12, [](Rates& r) { r.end *= 2.5; }, queue_cost);
  process(
      "queue, hardly ends", 12, [](Rates& r) { r.end *= 0.6; }, queue_cost);
  process("queue, squared cost", 12, same,
          [](double x, std::size_t a) { return -x * x - 2. * double(a); });
  process("queue, saturated cost", 12, same,
          [](double x, std::size_t) { return -std::min(x, 3.0); });
  process(
      "queue, cost of the other sign", 8, [](Rates& r) { r.up *= 1.1; },
      [](double x, std::size_t a) { return x + double(a); });
  process(
      "long queue, everything slightly wrong", 24,
      [](Rates& r) {
        r = {r.up * 1.05, r.down * 0.95, r.effect * 0.9, r.end * 1.1};
      },
      [](double x, std::size_t a) { return -1.1 * x - 1.8 * double(a); });
  process("queue, reward for being full", 12, same,
          [](double x, std::size_t) { return x >= 10 ? -10.0 : 0.0; });

  // Aggregated states.
  add("queue in steps of two", [](Seed seed) {
    const Dense high = birth_death(15, 3, rates_of(seed), queue_cost);
    return aggregated(high, aggregate(high, 2), 2);
  });
  add("queue in steps of four", [](Seed seed) {
    const Dense high = birth_death(15, 3, rates_of(seed), queue_cost);
    return aggregated(high, aggregate(high, 4), 4);
  });
  add("random, three states in one", [](Seed seed) {
    const Dense high = random_dense(seed, 31);
    return aggregated(high, aggregate(high, 3), 3);
  });
  add("random, all states in one", [](Seed seed) {
    const Dense high = random_dense(seed);
    return aggregated(high, aggregate(high, 24), 24);
  });

  // The same dynamics, other rewards.
  const auto rewarded = [&](const char* name, const auto& f) {
    add(name, [=](Seed seed) {
      const Dense high = random_dense(seed);
      return pair_of(high, with_rewards(high, [=](double r, std::size_t s, std::size_t a) {
                       return f(r, noise(seed, s, a), s, a);
                     }));
    });
  };
  using Z = std::size_t;
  rewarded("signs by action", [](double r, double, Z, Z a) { return a == 0 ? -r : r; });
  rewarded("signs by state", [](double r, double, Z s, Z) { return s % 2 == 0 ? -r : r; });
  rewarded("mostly one sign", [](double r, double, Z s, Z) { return s % 5 == 0 ? -r : r; });
  rewarded("rounded rewards", [](double r, double, Z, Z) { return r > 0.5 ? 1.0 : 0.0; });
  rewarded("cubed rewards", [](double r, double, Z, Z) { return r * r * r; });
  rewarded("half noise", [](double r, double z, Z, Z) { return 0.5 * r + z; });
  rewarded("nearly constant", [](double, double z, Z, Z) { return 1 + 0.01 * z; });
  rewarded("a million times as large", [](double r, double z, Z, Z) { return 1e6 * (r + z); });
  rewarded("rare reward in low",
           [](double r, double, Z s, Z a) { return s == 3 && a == 1 ? r : 0.; });
  rewarded("reward of the next state",
           [](double, double z, Z s, Z) { return z + 0.1 * double(s); });

  // Other dynamics.
  const auto moved = [&](const char* name, const auto& f) {
    add(name, [=](Seed seed) {
      const Dense high = random_dense(seed);
      return pair_of(high, f(high, seed));
    });
  };
  moved("ends twice as often", [](const Dense& d, Seed) { return with_end(d, 0.24); });
  moved("ends half as often", [](const Dense& d, Seed) { return with_end(d, 0.06); });
  moved("a tenth of another problem",
        [](const Dense& d, Seed seed) { return mixed(d, random_dense(seed + 500), 0.1); });
  moved("half of another problem",
        [](const Dense& d, Seed seed) { return mixed(d, random_dense(seed + 500), 0.5); });
  moved("actions in another order", [](const Dense& d, Seed) {
    Dense low = d;
    const std::size_t row = d.states;
    for (std::size_t s = 0; s < d.states; ++s)
      for (std::size_t a = 0; a < d.actions; ++a)
        std::copy_n(d.p.begin() + static_cast<std::ptrdiff_t>(d.at(s, (a + 1) % d.actions, 0)), row,
                    low.p.begin() + static_cast<std::ptrdiff_t>(d.at(s, a, 0)));
    return low;
  });
  moved("only the likeliest successor", [](const Dense& d, Seed) {
    Dense low = d;
    for (std::size_t s = 0; s + 1 < d.states; ++s)
      for (std::size_t a = 0; a < d.actions; ++a) {
        const auto row = low.p.begin() + static_cast<std::ptrdiff_t>(d.at(s, a, 0));
        const auto best = std::max_element(row, row + static_cast<std::ptrdiff_t>(d.end()));
        for (auto i = row; i != row + static_cast<std::ptrdiff_t>(d.end()); ++i)
          *i = i == best ? 1 - 0.12 : 0;
      }
    return low;
  });
  moved("heavy rewards, noisy dynamics", [](const Dense& d, Seed seed) {
    return mixed(
        with_rewards(d, [](double r, std::size_t, std::size_t) { return std::exp(4 * r); }),
        random_dense(seed + 700), 0.2);
  });

  // Hardly any pairs.
  add("one state, three actions", [](Seed seed) {
    return pair_of(random_dense(seed, 2, 3, 0.3), random_dense(seed + 1, 2, 3, 0.3));
  });
  add("one pair", [](Seed seed) {
    const Dense high = birth_death(0, 1, {.end = between(seed, 4, 0.1, 0.4)},
                                   [](double, std::size_t) { return 1.0; });
    return pair_of(high, high);
  });
  add("two pairs", [](Seed seed) {
    const Dense high = birth_death(0, 2, {.end = between(seed, 4, 0.1, 0.4)},
                                   [](double, std::size_t a) { return 1.0 + double(a); });
    return pair_of(high, high);
  });
  return kinds;
}

}  // namespace hilo::testing
