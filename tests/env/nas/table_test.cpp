#include "hilo/env/nas/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "hilo/agent/mfmcrl.hpp"
#include "hilo/env/catalogue.hpp"
#include "hilo/env/nas/stand_in.hpp"
#include "hilo/experiment/spec.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

// A table of accuracies 10 + a / 1000 and 20 + a / 1000, one line for each architecture a.
std::vector<std::string> good_lines() {
  std::vector<std::string> lines;
  for (Architecture a = 0; a < 15'625; ++a)
    lines.push_back(
        fmt::format("{},{},{}", nasbench201::to_string(a), 10 + a / 1000.0, 20 + a / 1000.0));
  return lines;
}

std::string text_of(const std::vector<std::string>& lines,
                    const std::string& header = "arch_str,high,low") {
  return fmt::format("{}\n{}\n", header, fmt::join(lines, "\n"));
}

std::vector<Accuracies> load(const std::filesystem::path& file,
                             AccuracyScale scale = AccuracyScale::percent) {
  return load_accuracies(file, {"low", "high"}, scale);
}

TEST(NasTable, ReadsColumnsInAnyOrderOfLines) {
  const TemporaryFolder folder;
  std::vector<std::string> lines = good_lines();
  std::ranges::reverse(lines);
  const auto columns = load(folder.write("t.csv", text_of(lines)));
  EXPECT_DOUBLE_EQ((*columns[0])[7], 20.007);
  EXPECT_DOUBLE_EQ((*columns[1])[15'624], 25.624);
}

TEST(NasTable, ReadsGzipAndNoticesDamage) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "t.csv.gz";
  const std::string text = text_of(good_lines());
  gzFile out = gzopen(file.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  EXPECT_EQ((*load(file)[1])[3], 10.003);
  const std::string packed = testing::read_text(file);
  folder.write("cut.csv.gz", packed.substr(0, packed.size() / 2));
  expect_error([&] { load(folder.path() / "cut.csv.gz"); }, Errc::data, {"cut.csv.gz"});
}

TEST(NasTable, RefusesBadTablesWithTheLine) {
  const TemporaryFolder folder;
  const auto bad = [&](const std::vector<std::string>& lines) {
    return [&folder, lines] { load(folder.write("t.csv", text_of(lines))); };
  };
  std::vector<std::string> lines = good_lines();
  lines.resize(15'000);
  expect_error(bad(lines), Errc::data,
               {"t.csv:15001", "15000 architectures, but there are 15625", "is missing"});
  lines = good_lines();
  lines[100] = lines[3];
  expect_error(bad(lines), Errc::data, {"t.csv:102", "already given in line 5"});
  for (const char* value : {"nan", "inf", "", "x", "101", "-1"}) {
    lines = good_lines();
    lines[41] = fmt::format("{},{},5", nasbench201::to_string(41), value);
    expect_error(bad(lines), Errc::data, {"t.csv:43", "high is", "must be"});
  }
  lines = good_lines();
  lines[9] = "|conv~0|,1,2";
  expect_error(bad(lines), Errc::data, {"t.csv:11", "no NAS-Bench-201 architecture"});
  lines[9] = "1,2";
  expect_error(bad(lines), Errc::data, {"t.csv:11", "2 fields"});

  expect_error([&] { load(folder.write("t.csv", "")); }, Errc::data, {"no header"});
  expect_error([&] { load(folder.write("t.csv", text_of({}, "arch,high,low,low"))); }, Errc::data,
               {"t.csv:1", "'low' is there more than once"});
  EXPECT_NO_THROW(load(folder.write("t.csv", "\xef\xbb\xbf" + text_of(good_lines()) + "\n")));
  expect_error([&] { load(folder.write("t.csv", text_of({}, "x,high,low"))); }, Errc::data,
               {"t.csv:1", "names the architecture"});
  expect_error([&] { load(folder.write("t.csv", text_of({}, "arch,high,loww"))); }, Errc::data,
               {"no column 'low'", "did you mean 'loww'"});
  expect_error([&] { load(folder.path() / "none.csv"); }, Errc::io, {"none.csv"});
}

TEST(NasTable, FractionsAreRefusedOrConverted) {
  const TemporaryFolder folder;
  std::vector<std::string> lines;
  for (Architecture a = 0; a < 15'625; ++a)
    lines.push_back(fmt::format("{},0.5,{}", nasbench201::to_string(a), a / 20'000.0));
  const auto file = folder.write("t.csv", text_of(lines));
  expect_error([&] { load(file); }, Errc::data, {"fractions", "scale"});
  EXPECT_EQ((*load(file, AccuracyScale::fraction)[1])[5], 50);
  expect_error([&] { load(folder.write("u.csv", text_of(good_lines())), AccuracyScale::fraction); },
               Errc::data, {"u.csv:2", "[0, 1]"});
}

TEST(NasTable, RoundTripsAndListsColumns) {
  const TemporaryFolder folder;
  std::vector<std::string> lines = good_lines();
  lines[5] = fmt::format("{},5,", nasbench201::to_string(5));
  const auto file = folder.write("t.csv", text_of(lines));
  const AccuracyColumns columns = list_accuracies(file, AccuracyScale::percent);
  EXPECT_EQ(columns.usable, std::vector<std::string>{"high"});
  EXPECT_EQ(columns.others, std::vector<std::string>{"low"});
  EXPECT_TRUE(list_accuracies(file, AccuracyScale::fraction).usable.empty());
  const auto high = load_accuracies(file, {"high"}, AccuracyScale::percent);
  save_accuracies(folder.path() / "u.csv", {"a"}, high);
  EXPECT_EQ(*load_accuracies(folder.path() / "u.csv", {"a"}, AccuracyScale::percent)[0], *high[0]);
}

std::string nas_spec(const std::string& agent, const std::string& table = "stand-in") {
  return fmt::format(
      "spec_version = 1\nname = \"n\"\n[problem]\nkind = \"nas-bench-201\"\ntable = \"{}\"\n"
      "{}[train]\nepisodes = 10\n[[agent]]\nkind = \"mfmcrl\"\n{}\n",
      table, table == "stand-in" ? "" : "high = \"high\"\nlow = \"low\"\n", agent);
}

TEST(NasProblem, RefusesTheAccidentOfTheSyntheticRuns) {
  for (const char* agent : {"low_policy = \"action-0\"", "variant = \"as-published\""})
    expect_error([&] { parse_spec(nas_spec(agent), "n.toml"); }, Errc::spec,
                 {": agent 1 (mfmcrl)", "must be 'policy'", "by accident"});
  EXPECT_NO_THROW(parse_spec(nas_spec("pool = \"first-visits\"\ncase = \"ii\""), "n.toml"));
}

// Runs are known by the accuracies they use: neither the order of the lines nor the place of the
// file nor another column matters.
TEST(NasProblem, IsKnownByItsAccuracies) {
  const TemporaryFolder folder;
  std::vector<std::string> lines = good_lines();
  const auto one = folder.write("a.csv", text_of(lines));
  std::ranges::reverse(lines);
  const auto two = folder.write("b.csv", text_of(lines));
  std::ranges::reverse(lines);
  lines[0] = fmt::format("{},11,21", nasbench201::to_string(0));
  const auto other = folder.write("c.csv", text_of(lines));
  const auto hash = [](const std::filesystem::path& file) {
    return parse_spec(nas_spec("", file.string()), "n.toml").configs[0].hash;
  };
  EXPECT_EQ(hash(one), hash(two));
  EXPECT_NE(hash(one), hash(other));
  EXPECT_NE(hash(one), parse_spec(nas_spec(""), "n.toml").configs[0].hash);
}

// Watching changes nothing, and counts what a replay of the episodes counts.
TEST(NasProblem, ObserverCountsWithoutDisturbing) {
  const Problem problem = build_problem("nas-bench-201", {{"case", "ii"}}, 0);
  const auto observer = problem.watch(3);
  const MfmcrlOptions options = {.low_rollouts = 2, .pool = Pool::first_visits};
  Mfmcrl watched(observer->pair(), options, 3);
  Mfmcrl plain(problem.pair, options, 3);
  const auto high = stand_in_accuracies("in16_valid200_s888", 0.9);
  std::set<Architecture> trained;
  double best = 0;
  Episode episode;
  for (std::uint32_t k = 0; k < 50; ++k) {
    problem.pair.high().run_episode(plain.behaviour(), {.seed = 3, .episode = k}, {}, episode);
    watched.learn(episode);
    plain.learn(episode);
    observer->see(episode);
    for (std::size_t t = 1; t < episode.states.size(); ++t) trained.insert(episode.states[t] / 7);
    for (const double reward : episode.rewards) best = std::max(best, reward);
  }
  EXPECT_TRUE(std::ranges::equal(watched.q().values(), plain.q().values()));
  std::map<std::string, double> facts;
  for (const Fact& fact : observer->at_test()) facts[fact.name] = fact.value;
  EXPECT_EQ(facts.at("architectures_high"), static_cast<double>(trained.size()));
  EXPECT_EQ(facts.at("best_accuracy"), best);
  EXPECT_GT(facts.at("architectures_low"), 10);
  EXPECT_LE(facts.at("architectures_low"), 3125);
  EXPECT_EQ(facts.at("training_epochs"),
            200 * facts.at("architectures_high") + 12 * facts.at("architectures_low"));
  for (const Fact& fact : observer->at_end()) facts[fact.name] = fact.value;
  EXPECT_EQ((*high)[static_cast<std::size_t>(facts.at("best_architecture"))], best);
  EXPECT_EQ(facts.at("best_rank"),
            1 + std::ranges::count_if(*high, [&](double accuracy) { return accuracy > best; }));
}

TEST(NasProblem, RealTableHasItsKnownBest) {
  const char* table = std::getenv("HILO_NB201_TABLE");
  if (table == nullptr) GTEST_SKIP() << "HILO_NB201_TABLE does not name the real table";
  const auto columns =
      load_accuracies(table, {"in16_valid200_s888", "c10_valid200_mean"}, AccuracyScale::percent);
  const auto best = std::ranges::max_element(*columns[0]);
  EXPECT_EQ(*best, 47.2);
  EXPECT_NEAR((*columns[0])[nasbench201::kStart], 39.7, 1e-9);
  EXPECT_NEAR(*std::ranges::max_element(*columns[1]), 91.6067, 1e-4);
}

}  // namespace
}  // namespace hilo
