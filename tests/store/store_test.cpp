#include "hilo/store/store.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sqlite3.h>

#include <cmath>
#include <fstream>
#include <map>

#include "hilo/store/detail/sqlite.hpp"
#include "support/expect_error.hpp"
#include "support/specs.hpp"
#include "support/stores.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::execute;
using testing::expect_error;
using testing::TemporaryFolder;

Spec tiny() { return parse_spec(testing::tiny_spec(testing::kTwoMfmcrl), "tiny"); }

RunRecord record_of(const RunConfig& config, std::uint64_t seed, double value = 0.5) {
  RunRecord record;
  record.key = {config.hash, seed, config.agent->algorithm_version};
  record.configuration = config.configuration;
  record.measurements = {
      {0, "test_reward", value}, {10, "test_reward", value + 1}, {10, "seconds", 3}};
  record.policy = q_table_artifact(2, 2, std::vector<double>{1, 2, 3, value});
  return record;
}

std::vector<ResultRow> rows(const Store& store) {
  std::vector<ResultRow> out;
  store.for_each_result("", [&](const ResultRow& row) { out.push_back(row); });
  return out;
}

TEST(Store, KeepsRunsAndShowsThemThroughExperiments) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "x.db";
  const Spec spec = tiny();
  {
    Store store = Store::open(file);
    store.define_experiment(spec);
    store.append(record_of(spec.configs[1], 2));
    store.append(record_of(spec.configs[0], 1, 0.25));
    EXPECT_EQ(store.finished().size(), 2U);
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "x.db-wal"));  // at rest it is one file
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "x.db.lock"));
  const Store store = Store::open_to_read(file);
  EXPECT_EQ(store.experiments(), (std::vector<std::string>{"tiny"}));
  EXPECT_EQ(store.agents("tiny").size(), 3U);
  const auto all = rows(store);
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0].agent, "MCRL");
  EXPECT_EQ(all[0].seed, 1U);
  EXPECT_EQ(all[0].value, 0.25);
  EXPECT_EQ(all[1].metric, "seconds");  // episode 10, by name
  EXPECT_EQ(all[3].agent, "MFMCRL m=1");
  EXPECT_EQ(store.policy("tiny", "MFMCRL m=1", 2).q, (std::vector<double>{1, 2, 3, 0.5}));
  expect_error([&] { store.policy("tiny", "MFMCRL m=1", 9); }, Errc::usage,
               {"seed 9", "MCRL, MFMCRL m=1"});
}

TEST(Store, AFinishedRunIsNeverReplacedAndAFailedOneIs) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.path() / "x.db");
  const Spec spec = tiny();
  store.define_experiment(spec);
  RunRecord failed = record_of(spec.configs[0], 0);
  failed.failed = true;
  failed.error = "boom";
  failed.measurements.clear();
  failed.policy = {};
  store.append(failed);
  EXPECT_TRUE(store.finished().empty());
  ASSERT_EQ(store.failed_runs("tiny").size(), 1U);
  EXPECT_EQ(store.failed_runs("")[0].error, "boom");
  store.append(record_of(spec.configs[0], 0, 0.5));
  EXPECT_TRUE(store.failed_runs("tiny").empty());
  store.append(record_of(spec.configs[0], 0, 0.75));
  store.append(failed);
  EXPECT_EQ(rows(store)[0].value, 0.5);
}

TEST(Store, ExperimentsShareRunsAndDropOldAgents) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.path() / "x.db");
  Spec spec = tiny();
  store.define_experiment(spec);
  for (const RunConfig& config : spec.configs) store.append(record_of(config, 0));
  Spec other = spec;
  other.name = "other";
  store.define_experiment(other);
  EXPECT_EQ(rows(store).size(), 18U);
  EXPECT_EQ(store.finished().size(), 3U);

  spec.configs[1].label = "renamed";
  spec.configs.pop_back();
  store.define_experiment(spec);
  EXPECT_EQ(store.agents("tiny"), (std::vector<std::string>{"MCRL", "renamed"}));
  EXPECT_EQ(store.finished().size(), 3U);  // runs stay
}

TEST(Store, ARelabelledAgentKeepsItsSeedsAndAnotherVersionIsDropped) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "x.db";
  Spec spec = tiny();
  {
    Store store = Store::open(file);
    store.define_experiment(spec);
    for (std::uint64_t seed = 0; seed < 3; ++seed) store.append(record_of(spec.configs[1], seed));
    spec.configs[1].label = "renamed";
    spec.seeds = {0, 0};
    EXPECT_TRUE(store.define_experiment(spec).empty());
    EXPECT_EQ(rows(store).size(), 9U);
    EXPECT_EQ(rows(store)[0].agent, "renamed");
  }
  execute(
      file,
      "UPDATE run SET algorithm_version = 99, checksum = NULL; "
      "UPDATE experiment_run SET algorithm_version = 99; UPDATE experiment SET checksum = NULL");
  Store store = Store::open(file);
  EXPECT_EQ(store.define_experiment(spec).size(), 3U);
  EXPECT_TRUE(rows(store).empty());  // old results are not mixed with new ones
}

TEST(Store, TwoLabelsShareTheirRunsAndKeepThem) {
  const TemporaryFolder folder;
  const Spec spec =
      parse_spec(testing::tiny_spec("[[agent]]\nkind = \"mcrl\"\nlabel = \"again\"\n"), "tiny");
  Store store = testing::filled_store(folder.path() / "x.db", spec, [](std::size_t, std::uint64_t) {
    return std::vector<Measurement>{{10, "test_reward", 0.5}};
  });
  EXPECT_TRUE(store.define_experiment(spec).empty());  // the same again changes nothing
  EXPECT_EQ(store.agents("tiny"), (std::vector<std::string>{"MCRL", "again"}));
  std::map<std::string, int> rows;
  store.for_each_result("tiny", [&](const ResultRow& row) { ++rows[row.agent]; });
  EXPECT_EQ(rows["MCRL"], 3);
  EXPECT_EQ(rows["again"], 3);
  EXPECT_EQ(store.runs_of("tiny").size(), 3U);
}

TEST(Store, KeepsErrorsAndDiagnoses) {
  const testing::TemporaryFolder folder;
  const Spec spec = parse_spec(testing::tiny_spec(), "tiny");
  {
    Store store = Store::open(folder.path() / "a.db");
    store.define_experiment(spec);
    RunRecord record;
    record.key = {spec.configs[0].hash, 0, spec.configs[0].agent->algorithm_version};
    record.configuration = spec.configs[0].configuration;
    record.policy = q_table_artifact(2, 1, std::vector<double>{1, 2});
    record.standard_errors = {0.5, std::numeric_limits<double>::infinity()};
    store.append(record);
    store.keep_diagnosis("tiny", "old");
    store.keep_diagnosis("tiny", "new");
    EXPECT_EQ(store.policy("tiny", "MCRL", 0).standard_errors, record.standard_errors);
    Store merged = Store::open(folder.path() / "b.db");
    merged.merge({&store, 1});
    EXPECT_EQ(merged.policy("tiny", "MCRL", 0).standard_errors, record.standard_errors);
    EXPECT_EQ(merged.diagnosis("tiny"), "new");
    EXPECT_EQ(merged.diagnosed(), std::vector<std::string>{"tiny"});
  }
}

TEST(Store, ALinkIsTheStoreItLeadsTo) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "x.db";
  const auto link = folder.path() / "link.db";
  std::filesystem::create_symlink("x.db", link);
  Store store = Store::open(link);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  expect_error([&] { Store::open(file); }, Errc::io, {"in use"});
  const Spec spec = tiny();
  store.define_experiment(spec);
  store.append(record_of(spec.configs[0], 0));
  EXPECT_EQ(rows(Store::open_to_read(link)).size(), 3U);
}

TEST(Store, RefusesASecondWriterButNotReaders) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "x.db";
  Store store = Store::open(file);
  const Spec spec = tiny();
  store.define_experiment(spec);
  store.append(record_of(spec.configs[0], 0));
  expect_error([&] { Store::open(file); }, Errc::io, {"x.db", "in use by another process"});
  EXPECT_EQ(rows(Store::open_to_read(file)).size(), 3U);
}

TEST(Store, RefusesWhatIsNoStore) {
  const TemporaryFolder folder;
  expect_error([&] { Store::open_to_read(folder.path() / "none.db"); }, Errc::io,
               {"no such store"});
  expect_error([&] { Store::open(folder.path()); }, Errc::data, {"is not a hilo store"});
  const auto text = folder.write("text.db", std::string(5000, 'x'));
  expect_error([&] { Store::open(text); }, Errc::data, {"text.db", "is not a hilo store"});
  EXPECT_EQ(testing::read_text(text), std::string(5000, 'x'));
  execute(folder.path() / "foreign.db", "CREATE TABLE run (x); PRAGMA user_version = 1;");
  expect_error([&] { Store::open(folder.path() / "foreign.db"); }, Errc::data,
               {"not a hilo store"});
  { Store::open(folder.path() / "future.db"); }
  execute(folder.path() / "future.db", "PRAGMA user_version = 5");
  expect_error([&] { Store::open(folder.path() / "future.db"); }, Errc::data,
               {"version 5", "versions 2 to 4"});
  expect_error([&] { Store::open_to_read(folder.path() / "future.db"); }, Errc::data,
               {"version 5"});
  const auto empty = folder.write("empty.db", "");
  expect_error([&] { Store::open(empty); }, Errc::data, {"empty.db", "is empty"});
  expect_error([&] { Store::open_to_read(empty); }, Errc::data, {"is empty"});
  EXPECT_EQ(std::filesystem::file_size(empty), 0U);
}

TEST(Store, MergesStoresAndRefusesConflicts) {
  const TemporaryFolder folder;
  const Spec spec = tiny();
  const auto make = [&](const char* name, std::uint64_t seed, const Spec& of) {
    Store store = Store::open(folder.path() / name);
    store.define_experiment(of);
    for (const RunConfig& config : of.configs) store.append(record_of(config, seed));
  };
  make("a.db", 0, spec);
  make("b.db", 1, spec);
  make("whole.db", 0, spec);
  make("whole.db", 1, spec);
  {
    Store merged = Store::open(folder.path() / "merged.db");
    std::vector<Store> both;
    both.push_back(Store::open_to_read(folder.path() / "a.db"));
    both.push_back(Store::open_to_read(folder.path() / "b.db"));
    merged.merge(both);
    merged.merge(both);  // once more changes nothing
    EXPECT_EQ(merged.finished().size(), 6U);
    EXPECT_EQ(merged.policy("tiny", "MCRL", 1).q[3], 0.5);
    const auto whole = rows(Store::open_to_read(folder.path() / "whole.db"));
    const auto ours = rows(merged);
    ASSERT_EQ(ours.size(), whole.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      EXPECT_EQ(ours[i].agent, whole[i].agent);
      EXPECT_EQ(ours[i].seed, whole[i].seed);
      EXPECT_EQ(ours[i].value, whole[i].value);
    }
  }
  make("c.db", 2, parse_spec(testing::tiny_spec(testing::kTwoMfmcrl), "tiny", {"train.gamma=0.5"}));
  Store merged = Store::open(folder.path() / "merged.db");
  expect_error(
      [&] {
        const Store other = Store::open_to_read(folder.path() / "c.db");
        merged.merge({&other, 1});
      },
      Errc::data, {"agent 'MCRL' of experiment 'tiny' is another one in"});
  EXPECT_EQ(merged.finished().size(), 6U);  // nothing was added
}

RC_GTEST_PROP(Store, NumbersRoundTrip, ()) {
  const TemporaryFolder folder;
  const Spec spec = tiny();
  Store store = Store::open(folder.path() / "x.db");
  store.define_experiment(spec);
  RunRecord record = record_of(spec.configs[0], 0);
  record.measurements.clear();
  std::vector<double> q;
  for (std::uint64_t i = 0; i < 10; ++i) {
    const auto value =
        *rc::gen::suchThat(rc::gen::arbitrary<double>(), [](double x) { return std::isfinite(x); });
    record.measurements.push_back({i, "test_reward", value});
    q.push_back(value);
  }
  record.policy = q_table_artifact(5, 2, q);
  store.append(record);
  const auto all = rows(store);
  for (std::size_t i = 0; i < 10; ++i) RC_ASSERT(all[i].value == record.measurements[i].value);
  RC_ASSERT(store.policy("tiny", "MCRL", 0).q == q);
}

}  // namespace
}  // namespace hilo
