// What happens to a store from outside: damage, removal, other names, readers that stay.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>

#include "hilo/core/random.hpp"
#include "hilo/store/store.hpp"
#include "support/expect_error.hpp"
#include "support/specs.hpp"
#include "support/stores.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::execute;
using testing::expect_error;
using testing::read_text;
using testing::TemporaryFolder;
namespace fs = std::filesystem;

Spec tiny() { return parse_spec(testing::tiny_spec(testing::kTwoMfmcrl), "tiny"); }

RunRecord record_of(const RunConfig& config, std::uint64_t seed, double value = 0.5) {
  RunRecord record;
  record.key = {config.hash, seed, config.agent->algorithm_version};
  record.configuration = config.configuration;
  for (std::uint64_t k = 0; k < 20; ++k)
    record.measurements.push_back({k, "test_reward", value + static_cast<double>(k)});
  record.measurements.push_back({10, "seconds", static_cast<double>(seed)});
  record.policy = q_table_artifact(2, 2, std::vector<double>{1, 2, 3, value});
  record.standard_errors = {1, 1, 1, value};
  return record;
}

void fill(const fs::path& file, double value = 0.5) {
  const Spec spec = tiny();
  Store store = Store::open(file);
  store.define_experiment(spec);
  for (const RunConfig& config : spec.configs)
    for (std::uint64_t seed = 0; seed < 3; ++seed) store.append(record_of(config, seed, value));
  store.keep_diagnosis("tiny", "{\"verdict\": \"use it\"}");
}

// All that can be asked of a store, as one text.
std::string everything(const fs::path& file) {
  const Store store = Store::open_to_read(file);
  std::string text;
  store.for_each_result("", [&](const ResultRow& row) {
    text += row.experiment + '|' + row.agent + '|' + std::to_string(row.seed) + '|' +
            std::to_string(row.episode) + '|' + row.metric + '|' + std::to_string(row.value) + '\n';
  });
  for (const std::string& experiment : store.experiments()) {
    text += store.diagnosis(experiment) + store.provenance(experiment).spec;
    for (const AgentStatus& status : store.agent_status(experiment)) {
      text += status.agent + status.configuration.text() + std::to_string(status.finished);
      for (std::uint64_t seed = 0; seed < 3; ++seed)
        if (const auto policy = store.find_policy(experiment, status.agent, seed))
          for (const auto* values : {&policy->q, &policy->standard_errors})
            for (const double value : *values) text += std::to_string(value);
    }
  }
  return text;
}

// Any bit flipped: an error, or all as it was. Never a crash, and never other numbers.
TEST(StoreDamage, AFlippedBitIsNoticedOrHarmless) {
  const TemporaryFolder folder;
  fill(folder.path() / "x.db");
  const std::string good = read_text(folder.path() / "x.db");
  const std::string before = everything(folder.path() / "x.db");
  Rng rng(Stream(1, Purpose::user, 1));
  int refused = 0;
  for (int k = 0; k < 400; ++k) {
    std::string broken = good;
    const auto place = static_cast<std::size_t>(rng.below(static_cast<std::uint32_t>(good.size())));
    broken[place] = static_cast<char>(broken[place] ^ (1 << rng.below(8)));
    const auto path = folder.write("broken.db", broken);
    try {
      EXPECT_EQ(everything(path), before) << "byte " << place;
    } catch (const Error& e) {
      ++refused;
      EXPECT_TRUE(e.code() == Errc::data || e.code() == Errc::io) << e.what();
    }
    EXPECT_EQ(read_text(path), broken);  // looking at it changes nothing
  }
  EXPECT_GT(refused, 40);
}

TEST(StoreDamage, ACutStoreIsRefused) {
  const TemporaryFolder folder;
  fill(folder.path() / "x.db");
  const std::string good = read_text(folder.path() / "x.db");
  Rng rng(Stream(2, Purpose::user, 1));
  for (int k = 0; k < 60; ++k) {
    const std::string cut = good.substr(0, rng.below(static_cast<std::uint32_t>(good.size())));
    const auto path = folder.write("cut.db", cut);
    EXPECT_THROW(everything(path), Error) << cut.size();
    EXPECT_THROW(Store::open(path), Error) << cut.size();
    EXPECT_EQ(read_text(path), cut);
  }
}

TEST(StoreDamage, OverwrittenPagesAreNoticedOrHarmless) {
  const TemporaryFolder folder;
  fill(folder.path() / "x.db");
  const std::string good = read_text(folder.path() / "x.db");
  const std::string before = everything(folder.path() / "x.db");
  for (std::size_t i = 0; i + 200 < good.size(); i += 1024) {
    std::string broken = good;
    broken.replace(i, 200, std::string(200, '\xff'));
    const auto path = folder.write("broken.db", broken);
    try {
      EXPECT_EQ(everything(path), before) << i;
    } catch (const Error& e) {
      EXPECT_TRUE(e.code() == Errc::data || e.code() == Errc::io) << e.what();
    }
  }
}

// Changes by hand, as other programs could make them.
TEST(StoreDamage, AChangedRowIsNamed) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.db";
  fill(file);
  const auto changed = [&](const char* sql) {
    fs::copy_file(file, folder.path() / "changed.db", fs::copy_options::overwrite_existing);
    execute(folder.path() / "changed.db", sql);
    return folder.path() / "changed.db";
  };
  const auto refuses = [&](const char* sql, const std::vector<std::string>& words) {
    const fs::path path = changed(sql);
    expect_error([&] { everything(path); }, Errc::data, words);
  };
  refuses("UPDATE measurement SET value = 7 WHERE run = 2 AND episode = 3",
          {"experiment 'tiny', agent 'MCRL', seed 1", "--skip-damaged"});
  refuses("DELETE FROM measurement WHERE run = 2 AND episode = 3", {"seed 1"});
  refuses("UPDATE policy SET shape = '4,1' WHERE run = 1", {"seed 0"});
  refuses("UPDATE experiment_run SET seed = 9 WHERE seed = 2", {"experiment 'tiny'"});
  refuses("UPDATE metric SET name = 'rest_reward' WHERE name = 'test_reward'", {"seed 0"});
  refuses("UPDATE diagnosis SET json = '{}'", {"diagnosis"});
  refuses("UPDATE config_value SET value = value || ' '", {"configuration"});
  // Changes that hide a run, or an agent.
  refuses("UPDATE run SET seed = 99 WHERE id = 1", {"seed 99"});
  refuses("UPDATE run SET error = 'boom' WHERE id = 1", {"seed 0"});
  refuses(
      "PRAGMA foreign_keys = OFF; DELETE FROM config WHERE hash = (SELECT min(hash) FROM config)",
      {"experiment 'tiny'"});
  refuses("DROP TABLE diagnosis", {"damaged", "no such table"});
  refuses("PRAGMA user_version = 2", {"damaged"});
  refuses("PRAGMA user_version = 3", {"damaged"});
  refuses("DELETE FROM config_value WHERE position = 3", {"configuration"});
  refuses("DROP TRIGGER run_removed; DELETE FROM run WHERE id = 3", {"table 'run'"});
}

// Whatever is damaged, all else can be had.
TEST(StoreDamage, MergeLeavesOutWhatIsDamagedAndNothingElse) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.db";
  const auto merged = [&](const char* sql, const std::vector<std::string>& words) {
    for (const char* name : {"x.db", "merged.db"}) fs::remove(folder.path() / name);
    fill(file);
    execute(file, sql);
    const Store damaged = Store::open_to_read(file, Damaged::leave_out);
    Store into = Store::open(folder.path() / "merged.db");
    expect_error([&] { into.merge({&damaged, 1}); }, Errc::data, words);
    const MergeOutcome outcome = into.merge({&damaged, 1}, Damaged::leave_out);
    EXPECT_GE(outcome.left_out.size(), 1U) << sql;
    into.close();
    everything(folder.path() / "merged.db");
    return outcome.added;
  };
  EXPECT_EQ(merged("UPDATE experiment SET spec = 'name = 1'", {"experiment 'tiny'"}), 9U);
  EXPECT_EQ(merged("UPDATE experiment_run SET seed = 9 WHERE seed = 2", {"experiment 'tiny'"}), 9U);
  EXPECT_EQ(merged("UPDATE run SET seed = 99 WHERE id = 1", {"seed 99"}), 8U);
  EXPECT_EQ(merged("UPDATE diagnosis SET json = '{}'", {"diagnosis of experiment 'tiny'"}), 9U);
  EXPECT_EQ(merged("DROP TRIGGER run_removed; DELETE FROM run WHERE id = 3", {"table 'run'"}), 8U);
  EXPECT_EQ(merged("UPDATE config_value SET value = value || ' ' WHERE config = "
                   "(SELECT min(hash) FROM config)",
                   {"configuration"}),
            6U);
}

// A configuration that is not there takes its runs and its experiment with it, and all are named.
TEST(StoreDamage, MergeNamesRunsWithoutAConfiguration) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.db";
  fill(file);
  execute(file, "DELETE FROM config");
  const Store damaged = Store::open_to_read(file, Damaged::leave_out);
  Store into = Store::open(folder.path() / "merged.db");
  expect_error([&] { into.merge({&damaged, 1}); }, Errc::data, {"is damaged"});
  const MergeOutcome outcome = into.merge({&damaged, 1}, Damaged::leave_out);
  EXPECT_EQ(outcome.added, 0U);
  EXPECT_EQ(outcome.left_out.size(), 10U);  // nine runs and their experiment
}

TEST(StoreDamage, MergeCanBeInterrupted) {
  const TemporaryFolder folder;
  fill(folder.path() / "x.db");
  const Store source = Store::open_to_read(folder.path() / "x.db");
  Store into = Store::open(folder.path() / "merged.db");
  int asked = 0;
  expect_error(
      [&] {
        into.merge({&source, 1}, Damaged::stop, [&] { return ++asked < 5; });
      },
      Errc::io, {"interrupted"});
  EXPECT_TRUE(into.finished().empty());
}

// What SQLite would take for something else.
TEST(StoreDamage, NamesAreNames) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  fill("b.db");
  for (const char* name : {"file:b.db", ":memory:", "file:b.db?mode=memory"}) {
    { Store::open(name).define_experiment(tiny()); }
    EXPECT_TRUE(fs::exists(folder.path() / name)) << name;
    EXPECT_TRUE(Store::open_to_read(name).finished().empty()) << name;
  }
  EXPECT_EQ(Store::open_to_read("b.db").finished().size(), 9U);
  fs::current_path(before);
}

// What a killed process left of a store that it was making goes with the next one.
TEST(StoreDamage, AnUnfinishedStoreIsRemoved) {
  const TemporaryFolder folder;
  folder.write("x.db.new", "half of it");
  { Store::open(folder.path() / "x.db"); }
  EXPECT_FALSE(fs::exists(folder.path() / "x.db.new"));
}

TEST(StoreDamage, MergeLeavesDamagedRunsOutIfTold) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.db";
  fill(file);
  execute(file, "UPDATE measurement SET value = 7 WHERE run = 2 AND episode = 3");
  const Store damaged = Store::open_to_read(file);
  Store merged = Store::open(folder.path() / "merged.db");
  expect_error([&] { merged.merge({&damaged, 1}); }, Errc::data, {"seed 1", "--skip-damaged"});
  EXPECT_TRUE(merged.finished().empty());
  const MergeOutcome outcome = merged.merge({&damaged, 1}, Damaged::leave_out);
  EXPECT_EQ(outcome.added, 8U);
  ASSERT_EQ(outcome.left_out.size(), 1U);
  EXPECT_EQ(merged.finished().size(), 8U);
  merged.close();
  everything(folder.path() / "merged.db");
}

// The same run with different numbers: one of the two is wrong. Its seconds may differ.
TEST(StoreDamage, MergeStopsWhereOneRunHasTwoResults) {
  const TemporaryFolder folder;
  const Spec spec = tiny();
  const auto make = [&](const char* name, double value, double seconds, double q) {
    Store store = Store::open(folder.path() / name);
    store.define_experiment(spec);
    RunRecord record = record_of(spec.configs[0], 1, value);
    record.measurements.back().value = seconds;
    record.policy = q_table_artifact(2, 2, std::vector<double>{1, 2, 3, q});
    store.append(record);
  };
  make("a.db", 0.5, 1, 0);
  make("b.db", 0.5, 2, 0);
  make("c.db", 0.75, 1, 0);
  make("d.db", 0.5, 1, 1);
  Store into = Store::open(folder.path() / "a.db");
  const auto merge = [&](const char* name) {
    const Store other = Store::open_to_read(folder.path() / name);
    return into.merge({&other, 1});
  };
  EXPECT_EQ(merge("b.db").added, 0U);
  expect_error([&] { merge("c.db"); }, Errc::data,
               {"experiment 'tiny', agent 'MCRL', seed 1", "a.db", "c.db",
                "test_reward at episode 0 is 0.5 and 0.75"});
  expect_error([&] { merge("d.db"); }, Errc::data, {"policies differ"});
}

// Written by hilo 0.1: read, continued and merged, and known to be without checksums.
TEST(StoreDamage, AStoreOfTheFirstVersionOpensAsUnverified) {
  const TemporaryFolder folder;
  const fs::path data = fs::path(HILO_SOURCE_DIR) / "tests/store/data";
  const fs::path file = folder.path() / "old.db";
  fs::copy_file(data / "store-0.1.db", file);
  const std::string before = everything(file);
  EXPECT_EQ(read_text(file), read_text(data / "store-0.1.db"));
  {
    const Store store = Store::open_to_read(file);
    EXPECT_EQ(store.unverified(), 4U);
    EXPECT_EQ(store.policy("small", "MCRL", 1).q.size(), 24U);
    EXPECT_FALSE(store.diagnosis("small").empty());
    Store merged = Store::open(folder.path() / "merged.db");
    merged.merge({&store, 1});
    EXPECT_EQ(merged.unverified(), 4U);
  }
  EXPECT_EQ(everything(folder.path() / "merged.db"), before);
  {
    const Spec spec = load_spec(data / "small.toml");
    Store store = Store::open(file);
    EXPECT_TRUE(store.define_experiment(spec).empty());
    EXPECT_EQ(store.finished().size(), 4U);
    for (const RunKey& key : store.runs_of("small")) EXPECT_TRUE(store.finished().contains(key));
    store.append(record_of(spec.configs[0], 7));
    EXPECT_EQ(store.unverified(), 4U);
  }
  const Store store = Store::open_to_read(file);
  EXPECT_EQ(store.unverified(), 4U);
  EXPECT_EQ(store.finished().size(), 5U);
}

// Results must not go into a file that nobody will find.
TEST(StoreDamage, ARemovedOrReplacedStoreIsNoticedAndKept) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.db";
  const fs::path kept = folder.path() / "x.db.rescued", again = folder.path() / "x.db.rescued-1";
  const Spec spec = tiny();
  {
    Store store = Store::open(file);
    store.define_experiment(spec);
    store.append(record_of(spec.configs[0], 0));
    fs::remove(file);
    expect_error([&] { store.append(record_of(spec.configs[0], 1)); }, Errc::io,
                 {"removed or replaced", "x.db.rescued"});
  }
  EXPECT_EQ(Store::open_to_read(kept).finished().size(), 2U);  // the last one too
  // SQLite would take a log that is left for that of the next store of this name.
  EXPECT_FALSE(fs::exists(folder.path() / "x.db-wal"));
  {
    Store store = Store::open(file);
    store.define_experiment(spec);
    store.append(record_of(spec.configs[0], 0));
    fs::copy_file(kept, folder.path() / "other.db");
    fs::rename(folder.path() / "other.db", file);
    expect_error([&] { store.close(); }, Errc::io, {"removed or replaced", "x.db.rescued-1"});
  }
  EXPECT_EQ(Store::open_to_read(again).finished().size(), 1U);
  EXPECT_EQ(Store::open_to_read(file).finished().size(), 2U);
}

// One writer's store was removed, and another made one of the same name: the first leaves its log
// and its lock alone.
TEST(StoreDamage, AWriterThatLostItsStoreLeavesTheNextOneAlone) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.db";
  const Spec spec = tiny();
  std::optional<Store> second;
  {
    Store first = Store::open(file);
    first.define_experiment(spec);
    first.append(record_of(spec.configs[0], 0));
    for (const char* suffix : {"", "-wal", "-shm", ".lock"}) fs::remove(file.string() + suffix);
    second.emplace(Store::open(file));
    second->define_experiment(spec);
    second->append(record_of(spec.configs[0], 1));
    expect_error([&] { first.append(record_of(spec.configs[0], 2)); }, Errc::io, {"removed"});
    expect_error([&] { first.append(record_of(spec.configs[0], 3)); }, Errc::io, {"removed"});
    EXPECT_FALSE(fs::exists(folder.path() / "x.db.rescued-1"));
  }
  EXPECT_TRUE(fs::exists(file.string() + "-wal"));
  expect_error([&] { Store::open(file); }, Errc::io, {"in use"});
  EXPECT_EQ(Store::open_to_read(file).finished().size(), 1U);
  EXPECT_EQ(second->close(), "");
}

// A log whose store is gone is no part of the next one.
TEST(StoreDamage, AnOrphanedLogIsSetAside) {
  const TemporaryFolder folder;
  folder.write("x.db-wal", "what is left of another");
  { Store::open(folder.path() / "x.db").define_experiment(tiny()); }
  EXPECT_EQ(read_text(folder.path() / "x.db-wal.orphan"), "what is left of another");
  EXPECT_TRUE(Store::open_to_read(folder.path() / "x.db").finished().empty());
}

TEST(StoreDamage, MergeMakesNothingIntact) {
  const TemporaryFolder folder;
  fill(folder.path() / "a.db");
  fill(folder.path() / "b.db");
  execute(folder.path() / "a.db", "UPDATE experiment_run SET seed = 9 WHERE seed = 2");
  execute(folder.path() / "b.db", "UPDATE diagnosis SET json = '{}'");
  Store damaged = Store::open(folder.path() / "a.db");
  const Store other = Store::open_to_read(folder.path() / "b.db");
  expect_error([&] { damaged.merge({&other, 1}); }, Errc::data, {"experiment 'tiny'"});
  Store fresh = Store::open(folder.path() / "c.db");
  expect_error([&] { fresh.merge({&other, 1}); }, Errc::data, {"diagnosis"});
}

TEST(StoreDamage, AFileWithTwoNamesIsNotWritten) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.db";
  fill(file);
  fs::create_hard_link(file, folder.path() / "y.db");
  for (const char* name : {"x.db", "y.db"}) {
    expect_error([&] { Store::open(folder.path() / name); }, Errc::io, {name, "2 names"});
    everything(folder.path() / name);
  }
}

// At rest a store is one file, also when somebody has it open; while it is being read, it is said
// that it is not.
TEST(StoreDamage, WhatAReaderKeepsInTheLogIsSaid) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.db";
  const Spec spec = tiny();
  Store store = Store::open(file);
  store.define_experiment(spec);
  store.append(record_of(spec.configs[0], 0));
  const Store reader = Store::open_to_read(file);
  EXPECT_EQ(reader.finished().size(), 1U);
  store.append(record_of(spec.configs[0], 1));
  EXPECT_EQ(store.close(), "");
  fs::copy_file(file, folder.path() / "copy.db");  // the file alone
  EXPECT_EQ(Store::open_to_read(folder.path() / "copy.db").finished().size(), 2U);

  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  Store second = Store::open(file);
  ASSERT_EQ(sqlite3_exec(db, "BEGIN; SELECT * FROM run;", nullptr, nullptr, nullptr), SQLITE_OK);
  second.append(record_of(spec.configs[0], 2));
  const std::string note = second.close();
  EXPECT_NE(note.find("x.db-wal"), std::string::npos) << note;
  sqlite3_close(db);
  EXPECT_EQ(Store::open_to_read(file).finished().size(), 3U);
  EXPECT_EQ(Store::open(file).close(), "");
}

}  // namespace
}  // namespace hilo
