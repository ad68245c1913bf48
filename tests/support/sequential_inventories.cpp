// Inventories for development.
#include <algorithm>
#include <array>
#include <cmath>

#include "support/sequential_problems.hpp"

namespace hilo::testing {
namespace {

double poisson(int k, double mean) {
  double p = std::exp(-mean);
  for (int i = 1; i <= k; ++i) p *= mean / i;
  return p;
}

// Stock, and what arrives tomorrow and the day after. One orders 0, 3, 6 or 9.
constexpr int kMostStock = 20, kSlots = 10;
constexpr std::array<int, 4> kOrders = {0, 3, 6, 9};
struct Demand {
  double mean = 4;
  int most = 12;
  double chance(int d) const {
    double total = 0;
    for (int k = 0; k <= most; ++k) total += poisson(k, mean);
    return poisson(d, mean) / total;
  }
};
double costs(int stock_before, int demand, int order) {
  const int missing = std::max(0, demand - stock_before);
  const int left = std::max(0, stock_before - demand);
  return -0.2 * left - 3.0 * missing - (order > 0 ? 1 : 0);
}

Fidelities inventory_with_lead_times() {
  const Demand demand;
  const State end = (kMostStock + 1) * kSlots * kSlots;
  const auto of = [](int stock, int tomorrow, int later) {
    return static_cast<State>((stock * kSlots + tomorrow) * kSlots + later);
  };
  const auto high = [=](State s, Action a, Outcomes& out) {
    const int stock = static_cast<int>(s) / (kSlots * kSlots);
    const int tomorrow = static_cast<int>(s) / kSlots % kSlots,
              later = static_cast<int>(s) % kSlots;
    for (int d = 0; d <= demand.most; ++d) {
      const int left = std::min(kMostStock, std::max(0, stock - d) + tomorrow);
      out.push_back({of(left, later, kOrders[a]), demand.chance(d), costs(stock, d, kOrders[a])});
    }
  };
  // The cheap one knows stock and a fifth of what is on its way, half of which arrives.
  constexpr int kBins = 5;
  const State low_end = (kMostStock + 1) * kBins;
  const auto low = [=](State s, Action a, Outcomes& out) {
    const int stock = static_cast<int>(s) / kBins, coming = static_cast<int>(s) % kBins * 4 + 1;
    const int arrives = (coming + 1) / 2;
    const int bin = std::min(kBins - 1, (coming - arrives + kOrders[a]) / 4);
    for (int d = 0; d <= demand.most; ++d) {
      const int left = std::min(kMostStock, std::max(0, stock - d) + arrives);
      out.push_back(
          {static_cast<State>(left * kBins + bin), demand.chance(d), costs(stock, d, kOrders[a])});
    }
  };
  std::vector<State> map;
  for (State s = 0; s < end; ++s) {
    const int coming = static_cast<int>(s) / kSlots % kSlots + static_cast<int>(s) % kSlots;
    map.push_back(s / (kSlots * kSlots) * kBins +
                  static_cast<State>(std::min(kBins - 1, coming / 4)));
  }
  map.push_back(low_end);
  return {make_simulator(tabulate(end + 1, 4, {end}, {of(5, 3, 3), of(0, 0, 0)},
                                  with_chance_of_end(high, 0.02, end))),
          make_simulator(tabulate(low_end + 1, 4, {low_end}, {5 * kBins + 1},
                                  with_chance_of_end(low, 0.02, low_end))),
          StateMap(map, low_end + 1)};
}

// Orders of 0 to 5 arrive at once; stock up to 40. `mean`: of the demand.
std::shared_ptr<const TabularMdp> inventory(double mean, double holding) {
  constexpr int kMost = 40;
  const Demand demand = {.mean = mean, .most = 10};
  const State end = kMost + 1;
  const auto row = [=](State s, Action a, Outcomes& out) {
    const int order = static_cast<int>(a) * 2;
    for (int d = 0; d <= demand.most; ++d) {
      const int stock = std::min(kMost, static_cast<int>(s) + order);
      const double r = 2 * std::min(stock, d) - holding * stock - (order > 0 ? 1.5 : 0);
      out.push_back({static_cast<State>(std::max(0, stock - d)), demand.chance(d), r});
    }
  };
  return tabulate(end + 1, 5, {end}, {0, 20}, with_chance_of_end(row, 0.02, end));
}

}  // namespace

// Stock of 0 to 100, and at most one order outstanding: none, or one of 5, 10, 15 or 20 with 1 to 5
// days left. Ordering while one is outstanding costs and has no effect. In the cheap one an order
// arrives after a day. 2121 states and an end against 101 and an end.
Fidelities inventory_with_one_order(bool map_counts_order) {
  constexpr int kMost = 100, kDays = 5, kSize = 5, kOutstanding = 21;
  const Demand demand = {.mean = 4, .most = 12};
  const auto pays = [](int stock, int d, bool orders) {
    return -0.2 * std::max(0, stock - d) - 5.0 * std::max(0, d - stock) - (orders ? 10 : 0);
  };
  // 0, or 1 + (size - 1) kDays + (days left - 1)
  const auto size_of = [](int outstanding) {
    return outstanding == 0 ? 0 : kSize * ((outstanding - 1) / kDays + 1);
  };
  const auto high = [=](State s, Action a, Outcomes& out) {
    const int stock = static_cast<int>(s) / kOutstanding, old = static_cast<int>(s) % kOutstanding;
    const int order = static_cast<int>(a);
    const bool arrives = old > 0 && (old - 1) % kDays == 0;
    const int outstanding = old == 0 ? kDays * order : (arrives ? 0 : old - 1);
    for (int d = 0; d <= demand.most; ++d) {
      const int left = std::min(kMost, std::max(0, stock - d) + (arrives ? size_of(old) : 0));
      out.push_back({static_cast<State>(left * kOutstanding + outstanding), demand.chance(d),
                     pays(stock, d, order > 0)});
    }
  };
  const auto low = [=](State s, Action a, Outcomes& out) {
    const int stock = static_cast<int>(s);
    for (int d = 0; d <= demand.most; ++d) {
      const int left = std::min(kMost, std::max(0, stock - d) + kSize * static_cast<int>(a));
      out.push_back({static_cast<State>(left), demand.chance(d), pays(stock, d, a > 0)});
    }
  };
  constexpr State kEnd = (kMost + 1) * kOutstanding, kLowEnd = kMost + 1;
  std::vector<State> map, starts, low_starts;
  for (int s = 0; s < static_cast<int>(kEnd); ++s) {
    const int coming = map_counts_order ? size_of(s % kOutstanding) : 0;
    map.push_back(static_cast<State>(std::min(kMost, s / kOutstanding + coming)));
  }
  map.push_back(kLowEnd);
  for (State stock = 0; stock <= kMost; ++stock) {
    starts.push_back(stock * kOutstanding);
    low_starts.push_back(stock);
  }
  return {
      make_simulator(tabulate(kEnd + 1, 5, {kEnd}, starts, with_chance_of_end(high, 0.02, kEnd))),
      make_simulator(
          tabulate(kLowEnd + 1, 5, {kLowEnd}, low_starts, with_chance_of_end(low, 0.02, kLowEnd))),
      StateMap(map, kLowEnd + 1)};
}

void add_inventories(std::vector<SequentialProblem>& list) {
  const auto add = [&](const char* name, double gamma, Fidelities pair) {
    list.push_back({name, false, gamma, 300, std::move(pair)});
  };
  add("inventory-lead-times", 0.98, inventory_with_lead_times());
  add("inventory-order-forgotten", 0.98, inventory_with_one_order(/*map_counts_order=*/false));
  add("inventory-wrong-demand", 0.97, pair_of(inventory(4, 0.15), inventory(2, 0.05)));
}

}  // namespace hilo::testing
