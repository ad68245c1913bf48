// What a page of many agents costs.
#include "hilo/report/page.hpp"

#include <gtest/gtest.h>

#include <ctime>

#include "support/stores.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

// Seconds of the processor that a page of so many agents takes. They share their runs, which keeps
// the store small; names hold what must be escaped.
double seconds_of_page(std::size_t num_agents) {
  Spec spec = parse_spec(testing::tiny_spec(), "tiny");
  spec.configs.resize(num_agents, spec.configs[0]);
  for (std::size_t i = 0; i < num_agents; ++i)
    spec.configs[i].label = "<agent> of a sweep, m=" + std::to_string(i);
  const testing::TemporaryFolder folder;
  const Store store = testing::filled_store(
      folder.path() / "x.db", spec,
      [](std::size_t agent, std::uint64_t seed) -> std::vector<Measurement> {
        if (agent > 0) return {};
        // No test_reward: that it is missing must not be found out by looking at all agents.
        return {{0, "train_reward", 0},
                {10, "train_reward", 0.1 * static_cast<double>(seed)},
                {10, "correlation", 0.5},
                {10, "variance_ratio_last_1000", 0.5 + 0.1 * static_cast<double>(seed)}};
      });
  const std::clock_t start = std::clock();
  const std::string page = make_page(
      store, {.store = "x", .command = "", .date = "", .experiments = store.experiments()});
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_GT(page.size(), 500 * num_agents);
  return seconds;
}

// Sixteen times the agents cost about sixteen times as much; what is quadratic would cost 256 times
// as much, and is a part of the whole alone. Other work on the machine does not count, as the clock
// is that of the processor.
TEST(Page, CostsWhatItsAgentsDo) {
  const double few = seconds_of_page(1000);
  const double many = seconds_of_page(16'000);
  EXPECT_LT(many, 40 * few) << few << " s for 1000 agents, " << many << " s for 16000";
}

}  // namespace
}  // namespace hilo
