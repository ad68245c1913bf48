#include <cmath>

#include "hilo/report/figure.hpp"
#include "hilo/report/published.hpp"
#include "hilo/report/shipped.hpp"
#include "hilo/report/tables.hpp"
#include "support/expect_error.hpp"
#include "support/specs.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::TemporaryFolder;

// Two agents, three seeds: test_reward at 0 and 10 as given.
Store example_store(const std::filesystem::path& file) {
  const Spec spec = parse_spec(testing::tiny_spec("[[agent]]\nkind = \"mfmcrl\"\n"), "tiny");
  Store store = Store::open(file);
  store.define_experiment(spec);
  const double values[2][3] = {{1, 2, 6}, {2, 4, 9}};
  for (std::size_t agent = 0; agent < 2; ++agent)
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      RunRecord record;
      record.key = {spec.configs[agent].hash, seed, 1};
      record.canonical = spec.configs[agent].canonical;
      record.measurements = {{0, "test_reward", 0}, {10, "test_reward", values[agent][seed]}};
      store.append(record);
    }
  return store;
}

TEST(Statistics, StudentQuantilesMatchTheTables) {
  // Quantiles of any table of Student's t.
  const std::pair<std::uint64_t, double> known[] = {{1, 12.7062}, {5, 2.5706},  {6, 2.4469},
                                                    {10, 2.2281}, {35, 2.0301}, {1000, 1.9623}};
  for (const auto& [nu, t] : known) EXPECT_NEAR(student_t_975(nu), t, 1e-4) << nu;
}

TEST(Statistics, SummaryMatchesAHandComputedCase) {
  Moments m;
  for (const double x : {1.0, 2.0, 6.0}) m.add(x);
  const Summary s = summarise(m);
  EXPECT_DOUBLE_EQ(s.mean, 3);
  EXPECT_DOUBLE_EQ(s.sd, std::sqrt(7.0));
  EXPECT_DOUBLE_EQ(s.standard_error, std::sqrt(7.0 / 3));
  EXPECT_NEAR(s.high - s.mean, 4.302653 * std::sqrt(7.0 / 3), 1e-9);
  Moments one;
  one.add(4);
  EXPECT_EQ(summarise(one).low, 4);
  EXPECT_EQ(summarise(one).sd, 0);
}

TEST(Results, AggregatesAndPairsBySeed) {
  const TemporaryFolder folder;
  const Store store = example_store(folder.path() / "x.db");
  const Results results(store, "tiny");
  EXPECT_EQ(results.agents(), (std::vector<std::string>{"MCRL", "MFMCRL"}));
  EXPECT_EQ(results.last_episode(), 10U);
  EXPECT_EQ(results.num_seeds("MCRL"), 3U);
  EXPECT_DOUBLE_EQ(results.at("MCRL", "test_reward", 10).mean, 3);
  const Summary d = results.paired_difference("MFMCRL", "MCRL", "test_reward", 10);
  EXPECT_DOUBLE_EQ(d.mean, 2);  // 1, 2, 3
  EXPECT_DOUBLE_EQ(d.sd, 1);
  EXPECT_EQ(results.at("MCRL", "test_reward", 7).n, 0U);
  EXPECT_EQ(results.at("nobody", "test_reward", 10).n, 0U);
}

TEST(Results, SortsNumbersAsNumbers) {
  EXPECT_TRUE(naturally_less("m=5 x", "m=10 a"));
  EXPECT_FALSE(naturally_less("m=10 a", "m=5 x"));
  EXPECT_TRUE(naturally_less("MCRL", "MFMCRL"));
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

TEST(Published, ShipsTheCurvesOfFigure2a) {
  const auto points = published_points("figure-2a");
  EXPECT_EQ(points.size(), 20U);
  EXPECT_EQ(points[4].agent, "MCRL");
  EXPECT_EQ(points[4].mean, 0.5741);
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

// Ours 0.60 ± 0.01 (se) against 0.5741 ± 0.0278 over 36: the difference has the standard error
// sqrt(0.01^2 + 0.0278^2 / 36) = 0.01102, so that 0.0259 is 2.35 of them.
TEST(Published, ComparesInStandardErrorsOfTheDifference) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.path() / "x.db");
  const Spec spec = parse_spec(shipped_specs()[0].toml, "figure-2a");
  store.define_experiment(spec);
  const double spread = 0.01 * std::sqrt(2.0) / std::sqrt(2.0);
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    RunRecord record;
    record.key = {spec.configs[0].hash, seed, spec.configs[0].agent->algorithm_version};
    record.canonical = spec.configs[0].canonical;
    record.measurements = {{10'000, "test_reward", 0.60 + (seed == 0 ? spread : -spread)},
                           {0, "test_reward", seed == 0 ? 0.9 : 0.91}};
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
  record.key = {spec.configs[0].hash, 0, 1};
  record.canonical = spec.configs[0].canonical;
  record.measurements = {{0, "test_reward", 0}, {10, "test_reward", 1}};
  store.append(record);
  EXPECT_NO_THROW(draw_learning_curves(Results(store, "tiny"), "test_reward", folder.path()));
  EXPECT_FALSE(std::filesystem::exists(trap));
}

TEST(Figure, DrawsThreeFiles) {
  const TemporaryFolder folder;
  const Store store = example_store(folder.path() / "x.db");
  const auto files =
      draw_learning_curves(Results(store, "tiny"), "test_reward", folder.path() / "it's here");
  ASSERT_EQ(files.size(), 3U);
  for (const auto& file : files) EXPECT_GT(std::filesystem::file_size(file), 1000U) << file;
  EXPECT_NE(testing::read_text(files[0]).find("<svg"), std::string::npos);
  EXPECT_EQ(testing::read_text(files[1]).substr(0, 4), "%PDF");
  EXPECT_EQ(testing::read_text(files[2]).substr(1, 3), "PNG");
  testing::expect_error(
      [&] { draw_learning_curves(Results(store, "tiny"), "nonsense", folder.path()); }, Errc::data,
      {"no results to draw"});
}

}  // namespace
}  // namespace hilo
