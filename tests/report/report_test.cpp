#include <cmath>

#include "hilo/report/figure.hpp"
#include "hilo/report/published.hpp"
#include "hilo/report/shipped.hpp"
#include "hilo/report/text_tables.hpp"
#include "support/expect_error.hpp"
#include "support/specs.hpp"
#include "support/stores.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::example_store;
using testing::TemporaryFolder;

TEST(Results, AggregatesAndPairsBySeed) {
  const TemporaryFolder folder;
  const Store store = example_store(folder.path() / "x.db");
  const Results results(store, "tiny");
  EXPECT_EQ(results.agents(), (std::vector<std::string>{"MCRL", "MFMCRL"}));
  EXPECT_EQ(results.last_episode(), 10U);
  EXPECT_EQ(results.num_seeds("MCRL"), 3U);
  EXPECT_DOUBLE_EQ(results.at("MCRL", "test_reward", 10).mean, 3);
  const Summary d = results.paired_difference("MFMCRL", "MCRL", "test_reward");
  EXPECT_DOUBLE_EQ(d.mean, 2);  // 1, 2, 3
  EXPECT_DOUBLE_EQ(d.sd, 1);
  EXPECT_EQ(results.at("MCRL", "test_reward", 7).n, 0U);
  EXPECT_EQ(results.at("nobody", "test_reward", 10).n, 0U);
}

TEST(Results, SortsNumbersAsNumbers) {
  EXPECT_TRUE(naturally_less("m=5 x", "m=10 a"));
  EXPECT_FALSE(naturally_less("m=10 a", "m=5 x"));
  EXPECT_TRUE(naturally_less("MCRL", "MFMCRL"));
  EXPECT_TRUE(naturally_less("MFMCRL -10 dB a", "MFMCRL -3 dB a"));
  EXPECT_TRUE(naturally_less("MFMCRL -3 dB a", "MFMCRL +3 dB a"));
  EXPECT_TRUE(naturally_less("MFMCRL +3 dB a", "MFMCRL +3 dB b"));
  EXPECT_TRUE(naturally_less("figure-2", "figure-10"));
  EXPECT_TRUE(naturally_less("a", "ab"));
  EXPECT_FALSE(naturally_less("a", "a"));
}

TEST(Tables, AreAligned) {
  EXPECT_EQ(format_table({{"a", "b"}, {"long", "1 ± 2"}}), "a         b\nlong  1 ± 2\n");
  const TemporaryFolder folder;
  const Store store = example_store(folder.path() / "x.db");
  const Results results(store, "tiny");
  EXPECT_EQ(learning_table(results, "test_reward"),
            "test_reward  seeds                0               10\n"
            "MCRL             3  0.0000 ± 0.0000  3.0000 ± 1.5275\n"
            "MFMCRL           3  0.0000 ± 0.0000  5.0000 ± 2.0817\n");
  EXPECT_NE(difference_table(results, "MCRL", "test_reward").find("+2.0000"), std::string::npos);
}

TEST(Published, ShipsTheFiguresOfThePaper) {
  const auto points = published_points("figure-2a");
  EXPECT_EQ(points.size(), 20U);
  EXPECT_EQ(published_points("figure-2b").size(), 25U);
  EXPECT_EQ(points[4].agent, "MCRL");
  EXPECT_EQ(points[4].value, 0.5741);
  const auto boxes = published_points("figure-2c");
  ASSERT_EQ(boxes.size(), 4U);
  EXPECT_EQ(boxes[0].statistic, Statistic::median);
  EXPECT_EQ(boxes[0].q3, 0.571);
  // 1.2533 (0.571 - 0.470) / 1.349 / 6
  EXPECT_NEAR(boxes[0].standard_error(), 0.015639, 1e-6);
  EXPECT_EQ(points[4].seeds, 36U);
  EXPECT_TRUE(published_points("nothing").empty());
  for (const ShippedSpec& shipped : shipped_specs()) {
    const Spec spec = parse_spec(shipped.toml, std::string(shipped.name));
    EXPECT_EQ(spec.name, shipped.name);
    for (const PublishedPoint& p : published_points(spec.name))
      EXPECT_NE(std::ranges::find(spec.configs, p.agent, &RunConfig::label), spec.configs.end())
          << p.agent;
  }
}

// Ours 0.60 ± 0.01 (se) over 6 seeds against 0.5741 ± 0.0278 over 36: the difference has the
// standard error sqrt(0.01^2 + 0.0278^2 / 36) = 0.01102, so that 0.0259 is 2.35 of them.
TEST(Published, ComparesInStandardErrorsOfTheDifference) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.path() / "x.db");
  const Spec spec = parse_spec(
      std::ranges::find(shipped_specs(), "figure-2a", &ShippedSpec::name)->toml, "figure-2a");
  store.define_experiment(spec);
  const double spread = 0.01 * std::sqrt(5.0);  // +- of six seeds, whose standard error is 0.01
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    RunRecord record;
    record.key = {spec.configs[0].hash, seed, spec.configs[0].agent->algorithm_version};
    record.configuration = spec.configs[0].configuration;
    record.measurements = {{10'000, "test_reward", 0.60 + (seed % 2 == 0 ? spread : -spread)},
                           {0, "test_reward", 0.9 + 0.001 * static_cast<double>(seed)}};
    if (seed < 4) record.measurements.push_back({1000, "test_reward", 0.4});
    store.append(record);
  }
  const auto comparisons = compare_with_published(Results(store, "figure-2a"));
  ASSERT_EQ(comparisons.size(), 20U);
  EXPECT_NEAR(comparisons[4].difference, 2.35, 0.01);
  EXPECT_EQ(comparisons[4].verdict, Verdict::agrees);
  EXPECT_EQ(comparisons[0].verdict, Verdict::differs);
  EXPECT_EQ(comparisons[1].verdict, Verdict::too_few_seeds);
  EXPECT_NE(comparison_table(comparisons).find("DIFFERS"), std::string::npos);
}

// Another experiment of the same name is not compared with the paper.
TEST(Published, ComparesOnlyTheShippedSpec) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.path() / "x.db");
  store.define_experiment(parse_spec(testing::tiny_spec(), "tiny", {"name=figure-2a"}));
  EXPECT_TRUE(compare_with_published(Results(store, "figure-2a")).empty());
}

// A label is text, never a command.
TEST(Figure, LabelsCannotRunAnything) {
  const TemporaryFolder folder;
  const auto trap = folder.path() / "trap";
  Spec spec = parse_spec(testing::tiny_spec(), "tiny");
  spec.configs[0].label = "a`touch " + trap.string() + "`'\"\\\n b";
  Store store = Store::open(folder.path() / "x.db");
  store.define_experiment(spec);
  RunRecord record;
  record.key = {spec.configs[0].hash, 0, spec.configs[0].agent->algorithm_version};
  record.configuration = spec.configs[0].configuration;
  record.measurements = {{0, "test_reward", 0}, {10, "test_reward", 1}};
  store.append(record);
  EXPECT_NO_THROW(draw_curves(Results(store, "tiny"), "test_reward", folder.path(), "x"));
  EXPECT_FALSE(std::filesystem::exists(trap));
}

TEST(Figure, DrawsThreeFiles) {
  const TemporaryFolder folder;
  const Store store = example_store(folder.path() / "x.db");
  const auto files =
      draw_figure(Results(store, "tiny"), FigureKind::learning, true, folder.path() / "it's here");
  ASSERT_EQ(files.size(), 3U);
  for (const auto& file : files) EXPECT_GT(std::filesystem::file_size(file), 1000U) << file;
  EXPECT_NE(testing::read_text(files[0]).find("<svg"), std::string::npos);
  EXPECT_EQ(testing::read_text(files[1]).substr(0, 4), "%PDF");
  EXPECT_EQ(testing::read_text(files[2]).substr(1, 3), "PNG");
  testing::expect_error(
      [&] { draw_curves(Results(store, "tiny"), "nonsense", folder.path(), "x"); }, Errc::data,
      {"no results to draw"});
}

}  // namespace
}  // namespace hilo
