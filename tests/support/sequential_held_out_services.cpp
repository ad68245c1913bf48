// Held out: a cache, a server farm, an option, a call centre.
#include <algorithm>
#include <array>
#include <bit>

#include "hilo/core/random.hpp"
#include "support/sequential_problems.hpp"

namespace hilo::testing {
namespace {

// A cache of three of six pages. On a miss one of the three has to go; pages cost differently to
// fetch. The cheap one has other habits of requests altogether.
std::shared_ptr<const TabularMdp> cache(std::uint64_t habits) {
  constexpr State kPages = 6, kEnd = 20 * kPages;
  std::vector<unsigned> sets;
  for (unsigned set = 0; set < 64; ++set)
    if (std::popcount(set) == 3) sets.push_back(set);
  const auto row = [=](State s, Action a, Outcomes& out) {
    const State page = s % kPages;
    unsigned held = sets[s / kPages];
    const bool hit = (held >> page & 1U) != 0;
    if (!hit) {
      unsigned rest = held;
      for (Action k = 0; k < a; ++k) rest &= rest - 1;
      held = (held & ~(rest & (~rest + 1))) | 1U << page;  // the a-th page has gone
    }
    const auto at = static_cast<State>(std::ranges::find(sets, held) - sets.begin());
    Rng rng(Stream(habits, Purpose::user, page));
    const State often = rng.below(kPages), sometimes = rng.below(kPages);
    for (State next = 0; next < kPages; ++next) {
      const double p = 0.04 + (next == often ? 0.46 : 0) + (next == sometimes ? 0.3 : 0);
      out.push_back({at * kPages + next, p, hit ? 0.0 : -0.8 - 0.1 * page});
    }
  };
  return tabulate(kEnd + 1, 3, {kEnd}, {0, 60}, with_chance_of_end(row, 0.02, kEnd));
}

// Ten servers; a small job needs one and a large job two. Whoever asks is turned away or admitted.
// In the cheap one a large job pays nothing.
std::shared_ptr<const TabularMdp> server_farm(double large_pays) {
  constexpr State kEnd = 11 * 6 * 3;
  const auto row = [=](State s, Action a, Outcomes& out) {
    const State asks = s % 3;  // 0 nobody, 1 small, 2 large
    State small = s / 3 % 11, large = s / 33;
    double r = 0;
    if (a == 1 && asks > 0 && small + 2 * large + asks <= 10) {
      r = asks == 1 ? 1 : large_pays;
      ++(asks == 1 ? small : large);
    }
    const double small_ends = 0.05 * small, large_ends = 0.05 * large;
    for (State next = 0; next < 3; ++next) {
      const double p = std::array<double, 3>{0.2, 0.6, 0.2}[next];
      const auto to = [&](State x, State y, double chance) {
        out.push_back({(y * 11 + x) * 3 + next, p * chance, r});
      };
      if (small > 0) to(small - 1, large, small_ends);
      if (large > 0) to(small, large - 1, large_ends);
      to(small, large, 1 - small_ends - large_ends);
    }
  };
  return tabulate(kEnd + 1, 2, {kEnd}, {0, 1, 2}, with_chance_of_end(row, 0.01, kEnd));
}

// The right to sell a share at 20 within 20 weeks; hold or use it. The right is gone once the share
// falls to `barrier`. The cheap one has no barrier.
std::shared_ptr<const TabularMdp> option(State barrier) {
  constexpr State kPrices = 24, kWeeks = 20, kEnd = kPrices * kWeeks;
  const std::vector<State> start = {14 * kWeeks + kWeeks - 1, 16 * kWeeks + kWeeks - 1};
  return tabulate(kEnd + 1, 2, {kEnd}, start, [=](State s, Action a, Outcomes& out) {
    const State price = s / kWeeks, weeks = s % kWeeks;
    if (a == 1 || weeks == 0) {
      out.push_back({kEnd, 1, a == 1 ? 20 - 1.3 * price : 0});
      return;
    }
    const State up = std::min(kPrices - 1, price + 1), down = price > 0 ? price - 1 : 0;
    for (const auto& [next, p] : {std::pair{up, 0.3}, {price, 0.3}, {down, 0.4}})
      out.push_back({next <= barrier && barrier > 0 ? kEnd : next * kWeeks + weeks - 1, p, 0});
  });
}

// Eight hours, up to 9 callers who wait, and 1 to 4 agents at work; one says who comes to work in
// the next hour. The cheap one is half a day ahead.
std::shared_ptr<const TabularMdp> call_centre(State shift) {
  constexpr State kMost = 9, kEnd = 8 * 4 * (kMost + 1);
  const auto row = [=](State s, Action a, Outcomes& out) {
    const State hour = s % 8, agents = s / 8 % 4 + 1, waiting = s / 32;
    const State calls = std::array<State, 8>{0, 0, 0, 3, 4, 3, 2, 0}[(hour + shift) % 8];
    const State left = waiting - std::min(waiting, agents);
    for (State k = 0; k < 3; ++k) {
      const State next = left + calls + k;
      const double lost = next > kMost ? next - kMost : 0;
      const State to = (std::min(kMost, next) * 4 + static_cast<State>(a)) * 8 + (hour + 1) % 8;
      const double r = -0.5 * left - 0.4 * agents - 3 * lost;
      out.push_back({to, std::array<double, 3>{0.5, 0.3, 0.2}[k], r});
    }
  };
  return tabulate(kEnd + 1, 4, {kEnd}, {0, 36}, with_chance_of_end(row, 0.02, kEnd));
}

}  // namespace

void add_held_out_services(std::vector<SequentialProblem>& list) {
  const auto add = [&](const char* name, double gamma, std::uint32_t max_steps, Fidelities pair) {
    list.push_back({name, true, gamma, max_steps, std::move(pair)});
  };
  add("cache-unrelated-requests", 0.9, 100, pair_of(cache(51), cache(52)));
  add("farm-large-jobs-unpaid-in-low", 0.98, 200, pair_of(server_farm(6), server_farm(0)));
  add("option-barrier-in-high", 0.99, 50, pair_of(option(9), option(0)));
  add("call-centre-shifted-hours", 0.95, 100, pair_of(call_centre(0), call_centre(4)));
}

}  // namespace hilo::testing
