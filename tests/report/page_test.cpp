#include "hilo/report/page.hpp"

#include <gtest/gtest.h>

#include "hilo/report/experiment_report.hpp"
#include "hilo/report/html.hpp"
#include "hilo/report/markdown.hpp"
#include "hilo/report/shipped.hpp"
#include "support/stores.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::filled_store;
using testing::TemporaryFolder;

ReportSource source_of(const Store& store, const std::string& date = "today") {
  return {.store = "x.db",
          .command = "hilo report x.db --out x.html",
          .date = date,
          .experiments = store.experiments()};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t i = 0; (i = text.find(part, i)) != std::string::npos; i += part.size()) ++n;
  return n;
}

TEST(Page, EscapesWhatStoresContain) {
  EXPECT_EQ(escape_html("a<b>&\"c\x01"), "a&lt;b&gt;&amp;&quot;c ");
  Spec spec = parse_spec(testing::tiny_spec(), "tiny");
  spec.configs[0].label = "</script><img src=x onerror=alert(1)>|`*";
  const TemporaryFolder folder;
  const Store store = filled_store(folder.path() / "x.db", spec,
                                   [](std::size_t, std::uint64_t) -> std::vector<Measurement> {
                                     return {{0, "test_reward", 0.5},
                                             {10, "test_reward", 0.6},
                                             {10, "correlation", 0.1},
                                             {10, "variance_ratio_last_1000", 0.9}};
                                   });
  const std::string page = make_page(store, source_of(store));
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(count(page, "</script>"), 3U);  // the page's own
  EXPECT_NE(page.find("&lt;/script&gt;&lt;img"), std::string::npos);
  EXPECT_EQ(make_markdown(store, source_of(store), {}).find("<img"), std::string::npos);
}

TEST(Page, IsTheSameButForTheDate) {
  const TemporaryFolder folder;
  const Store store = testing::example_store(folder.path() / "x.db");
  const std::string one = make_page(store, source_of(store, "monday"));
  std::string two = make_page(store, source_of(store, "friday"));
  EXPECT_NE(one, two);
  ASSERT_EQ(count(two, "friday"), 1U);
  two.replace(two.find("friday"), 6, "monday");
  EXPECT_EQ(one, two);
}

TEST(Page, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  const Store store = filled_store(folder.path() / "x.db",
                                   parse_spec(testing::tiny_spec(), "tiny", {"name=figure-2b"}),
                                   [](std::size_t, std::uint64_t seed) -> std::vector<Measurement> {
                                     if (seed > 0) return {};
                                     return {{0, "test_reward", 0.5}};
                                   });
  for (const std::string& text :
       {make_page(store, source_of(store)), make_markdown(store, source_of(store), {})}) {
    EXPECT_NE(text.find("MCRL: 1 of 3 runs are there"), std::string::npos);
    EXPECT_NE(text.find("does not hold figure-2a, figure-2c, figure-4a"), std::string::npos);
  }
  EXPECT_TRUE(missing_of_studies({"mine"}).empty());
}

// Names that the page uses itself are no trouble.
TEST(Page, NamesOfExperimentsCannotClash) {
  for (const char* name : {"data", "main", "theme"}) {
    const TemporaryFolder folder;
    const Store store =
        filled_store(folder.path() / "x.db",
                     parse_spec(testing::tiny_spec(), "tiny", {std::string("name=") + name}),
                     [](std::size_t, std::uint64_t) -> std::vector<Measurement> {
                       return {{0, "test_reward", 0.5}};
                     });
    const std::string page = make_page(store, source_of(store));
    EXPECT_EQ(count(page, std::string("id=\"") + name + "\""), 1U) << name;
  }
}

// One experiment of several: what the others hold is neither missing nor referred to.
TEST(Page, OfOneExperimentStandsByItself) {
  const TemporaryFolder folder;
  const auto measure = [](std::size_t, std::uint64_t) -> std::vector<Measurement> {
    return {{0, "test_reward", 0.5}, {40, "test_reward", 0.6}};
  };
  const Spec part = parse_spec(testing::tiny_spec(), "tiny", {"name=part"});
  filled_store(folder.path() / "x.db", part, measure);
  const Store store = filled_store(
      folder.path() / "x.db", parse_spec(testing::tiny_spec(testing::kTwoMfmcrl), "tiny"), measure);
  ReportSource source = source_of(store);
  EXPECT_NE(make_page(store, source).find("These runs are part of tiny"), std::string::npos);
  source.experiments = {"part"};
  const std::string page = make_page(store, source);
  EXPECT_EQ(page.find("These runs are part of"), std::string::npos);
  EXPECT_NE(page.find("Where they end"), std::string::npos);
}

// Runs that end at different episodes are drawn where all of them are, and told at their ends.
TEST(Page, OfAStepBudgetShowsTheEnds) {
  const TemporaryFolder folder;
  const Store store = filled_store(
      folder.path() / "x.db", parse_spec(testing::tiny_spec(), "tiny"),
      [](std::size_t, std::uint64_t seed) -> std::vector<Measurement> {
        return {{0, "test_reward", 0.25}, {10, "test_reward", 0.5}, {11 + seed, "test_reward", 8}};
      });
  const Results results(store, "tiny");
  EXPECT_EQ(results.common_episodes("MCRL", "test_reward"), (std::vector<std::uint64_t>{0, 10}));
  const std::string page = make_page(store, source_of(store));
  EXPECT_NE(page.find("8.0000 ± 0.0000"), std::string::npos);
  EXPECT_NE(page.find("\"x\":[0,10]"), std::string::npos);
}

TEST(Page, OfOneSeedClaimsNoInterval) {
  const TemporaryFolder folder;
  const Store store =
      filled_store(folder.path() / "x.db", parse_spec(testing::tiny_spec(), "tiny", {"seeds=1"}),
                   [](std::size_t, std::uint64_t) -> std::vector<Measurement> {
                     return {{0, "test_reward", 0.25}, {40, "test_reward", 0.5}};
                   });
  const std::string page = make_page(store, source_of(store));
  EXPECT_NE(page.find("\"half\":[null,null]"), std::string::npos);
  EXPECT_NE(page.find("1 seeds in common: too few"), std::string::npos);
}

TEST(Page, OfAnEmptyStoreSaysSo) {
  const TemporaryFolder folder;
  const Store store = Store::open(folder.path() / "x.db");
  EXPECT_NE(make_page(store, source_of(store)).find("the store is empty."), std::string::npos);
  const Store planned = filled_store(
      folder.path() / "y.db", parse_spec(testing::tiny_spec(testing::kTwoMfmcrl), "tiny"),
      [](std::size_t, std::uint64_t) { return std::vector<Measurement>(); });
  EXPECT_NE(make_page(planned, source_of(planned)).find("0 of 3 runs are there"),
            std::string::npos);
}

// Made-up data is called that everywhere, and is never held against the paper.
TEST(Page, LabelsStandInsAndDoesNotCompareThem) {
  const auto shipped = std::ranges::find(shipped_specs(), "figure-3", &ShippedSpec::name);
  const TemporaryFolder folder;
  const Store store =
      filled_store(folder.path() / "x.db", parse_spec(shipped->toml, "figure-3", {"seeds=6"}),
                   [](std::size_t agent, std::uint64_t seed) -> std::vector<Measurement> {
                     const double y = 38 + 0.1 * static_cast<double>(seed + agent);
                     return {{0, "test_reward", 36.8},       {10'000, "test_reward", y},
                             {10'000, "best_accuracy", 47},  {10'000, "best_architecture", 12},
                             {10'000, "best_rank", 3},       {10'000, "random_search_best", 46},
                             {10'000, "evolution_best", 47}, {10'000, "architectures_high", 100},
                             {10'000, "training_epochs", 5}, {10'000, "high_steps", 1}};
                   });
  const std::string page = make_page(store, source_of(store));
  EXPECT_EQ(page.find("Against the paper"), std::string::npos);
  EXPECT_EQ(count(page, "<caption>"), count(page, "(stand-in data)</caption>"));
  EXPECT_EQ(count(page, "<h3>"), count(page, "(stand-in data)</h3>"));
  EXPECT_NE(page.find("figure-3 (stand-in data)</h2>"), std::string::npos);
  EXPECT_NE(page.find("1 of them on stand-in data"), std::string::npos);
  EXPECT_NE(page.find("svg class=\"cell\""), std::string::npos);
  const std::string markdown =
      make_markdown(store, source_of(store), {{"figure-3", "figures/figure-3.png"}});
  EXPECT_NE(markdown.find("The best architecture found (stand-in data)"), std::string::npos);
  EXPECT_NE(markdown.find("![figure-3 (stand-in data)"), std::string::npos);
}

// What a document links to must be there, and the link must not end at a space or a bracket.
TEST(Markdown, ShowsThePicturesThatThereAre) {
  const TemporaryFolder folder;
  const Store store = testing::example_store(folder.path() / "x.db");
  EXPECT_EQ(make_markdown(store, source_of(store), {}).find("!["), std::string::npos);
  EXPECT_NE(make_markdown(store, source_of(store), {{"tiny", "my figures (1)/10% tiny.png"}})
                .find("![tiny: learning curves](my%20figures%20%281%29/10%25%20tiny.png)"),
            std::string::npos);
}

TEST(Markdown, NamesStandAsTheyAre) {
  Spec spec = parse_spec(testing::tiny_spec(), "tiny");
  spec.configs[0].label = "_a_b $x$ ~~c~~ &lt; 'd' 10%";
  const TemporaryFolder folder;
  const Store store = filled_store(folder.path() / "x.db", spec,
                                   [](std::size_t, std::uint64_t) -> std::vector<Measurement> {
                                     return {{0, "test_reward", 0.5}};
                                   });
  EXPECT_NE(make_markdown(store, source_of(store), {})
                .find("| \\_a_b \\$x\\$ \\~\\~c\\~\\~ &amp;lt; 'd' 10% |"),
            std::string::npos);
}

TEST(SharedRuns, FindTheWholeOfAPart) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.path() / "x.db");
  const auto define = [&](const char* name, const std::string& agents, const char* seeds) {
    store.define_experiment(
        parse_spec(testing::tiny_spec(agents), "tiny", {std::string("name=") + name, seeds}));
  };
  define("part", "", "seeds=3");
  define("more-seeds", "", "seeds=5");
  define("more-agents", testing::kTwoMfmcrl, "seeds=3");
  define("same", "", "seeds=3");
  define("other", "", "train.episodes=50");
  const SharedRuns shared(store, {"part", "same", "other", "more-agents", "more-seeds"});
  EXPECT_EQ(shared.whole_of("part"), "more-agents");  // the first
  EXPECT_EQ(shared.whole_of("same"), "more-agents");
  for (const char* whole : {"more-agents", "more-seeds", "other", "unknown"})
    EXPECT_EQ(shared.whole_of(whole), "") << whole;
  EXPECT_EQ(SharedRuns(store, {"part", "same"}).whole_of("part"), "");  // no more than it
}

TEST(Page, TablesEscapeAndMarkVerdicts) {
  const Table table{.title = "T & U", .rows = {{"a", "b"}, {"<x>", "agrees"}}, .note = "n"};
  const std::string html = html_table(table);
  EXPECT_NE(html.find("<th scope=\"row\">&lt;x&gt;</th><td class=\"good\">agrees</td>"),
            std::string::npos);
  EXPECT_NE(html.find("<caption>T &amp; U</caption>"), std::string::npos);
  EXPECT_EQ(html_table({}), "");
}

TEST(ExperimentReport, GroupsDigits) {
  EXPECT_EQ(group_digits(0), "0");
  EXPECT_EQ(group_digits(999), "999");
  EXPECT_EQ(group_digits(10000), "10\u202f000");
  EXPECT_EQ(group_digits(1234567), "1\u202f234\u202f567");
  EXPECT_EQ(group_digits(-123456), "-123\u202f456");
}

}  // namespace
}  // namespace hilo
