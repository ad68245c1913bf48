#include "hilo/report/page.hpp"

#include <gtest/gtest.h>

#include "hilo/report/experiment_report.hpp"
#include "hilo/report/html.hpp"
#include "hilo/report/markdown.hpp"
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
  EXPECT_EQ(make_markdown(store, source_of(store), "").find("<img"), std::string::npos);
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
       {make_page(store, source_of(store)), make_markdown(store, source_of(store), "")}) {
    EXPECT_NE(text.find("MCRL: 1 of 3 runs are there"), std::string::npos);
    EXPECT_NE(text.find("does not hold figure-2a, figure-2c, figure-4a"), std::string::npos);
  }
  EXPECT_TRUE(missing_of_studies({"mine"}).empty());
}

TEST(Page, OfAnEmptyStoreSaysSo) {
  const TemporaryFolder folder;
  const Store store = Store::open(folder.path() / "x.db");
  EXPECT_NE(make_page(store, source_of(store)).find("The store is empty."), std::string::npos);
  const Store planned = filled_store(
      folder.path() / "y.db", parse_spec(testing::tiny_spec(testing::kTwoMfmcrl), "tiny"),
      [](std::size_t, std::uint64_t) { return std::vector<Measurement>(); });
  EXPECT_NE(make_page(planned, source_of(planned)).find("0 of 3 runs are there"),
            std::string::npos);
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
  EXPECT_EQ(group_digits(10000), "10 000");
  EXPECT_EQ(group_digits(1234567), "1 234 567");
  EXPECT_EQ(group_digits(-123456), "-123 456");
}

}  // namespace
}  // namespace hilo
