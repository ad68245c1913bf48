#include "hilo/studies/control_guide.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hilo/studies/control_contest.hpp"
#include "support/expect_error.hpp"
#include "support/stores.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

const auto kScale = [](const std::string&) { return ControlScale{.zero = -100, .best = 0}; };

// `corrected` goes from -50 to -5 in one episode with the usual cheap simulator, and stays at -50
// with a reversed one; `corrected-high` goes to -20.
Store control_store(const std::filesystem::path& file) {
  const Spec spec = parse_spec(R"(spec_version = 1
name = "control-cart-pole"
seeds = 4
[problem]
kind = "cart-pole"
sweep."low.strength" = [1, -1]
[train]
episodes = 2
gamma = 1
[test]
every = 1
[[agent]]
kind = "corrected"
[[agent]]
kind = "corrected-high"
)",
                               "control");
  return testing::filled_store(
      file, spec, [&](std::size_t agent, std::uint64_t seed) -> std::vector<Measurement> {
        const std::string strength =
            spec.configs[agent].configuration.value("problem.low.strength");
        const double end = strength.empty() ? -20 : strength == "1" ? -5 : -50;
        return {{0, "test_return", -50},
                {1, "test_return", seed == 3 ? -50 : end},
                {2, "test_return", end}};
      });
}

TEST(ControlGuide, ReadsScoresByQualityAndSeed) {
  const testing::TemporaryFolder folder;
  const auto tables = read_control(control_store(folder.path() / "c.db"), kScale);
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].entries.size(), 3U);
  const ControlEntry* good = tables[0].find("corrected", "good");
  ASSERT_NE(good, nullptr);
  EXPECT_EQ(good->at(1), (std::vector<double>{0.95, 0.95, 0.95, 0.5}));
  EXPECT_EQ(good->needed(0.9), (std::vector<double>{1, 1, 1, 2}));
  EXPECT_NEAR(good->means()[1], (3 * 0.95 + 0.5) / 4, 1e-12);
  const ControlEntry* misleading = tables[0].find("corrected", "misleading");
  ASSERT_NE(misleading, nullptr);
  EXPECT_TRUE(std::isinf(misleading->needed(0.9)[0]));
  // It never sees the cheap simulator, so it is the one for every quality.
  EXPECT_EQ(tables[0].find("corrected (high only)", "good"),
            tables[0].find("corrected (high only)", "misleading"));
  EXPECT_EQ(tables[0].find("corrected", "poor"), nullptr);
}

TEST(ControlGuide, SaysWhatWasMeasured) {
  const testing::TemporaryFolder folder;
  const Store store = control_store(folder.path() / "c.db");
  const std::string text = make_control_guide(store, "hilo report c.db", "figures", kScale);
  for (const char* part :
       {"`hilo report c.db`", "Zero action has -100.0, the best policy 0.0; 4 seeds",
        "| corrected | good | 0.50 [0.50, 0.50] | 0.95 [0.84, 0.95] |",
        "| corrected | misleading |", "not reached [–, –]; 0 of 4 seeds",
        "| corrected (high only) | none |", "| corrected minus corrected (high only) | good |",
        "| +0.150 [+0.150, +0.150] |"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(draw_control_guide(store, folder.path() / "figures", kScale).size(), 3U);
}

TEST(ControlGuide, RefusesAStoreWithoutTheStudy) {
  const testing::TemporaryFolder folder;
  const Store store = Store::open(folder.path() / "c.db");
  testing::expect_error([&] { read_control(store, kScale); }, Errc::usage,
                        {"hilo reproduce control"});
}

}  // namespace
}  // namespace hilo
