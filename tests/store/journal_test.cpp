#include "hilo/store/journal.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "support/expect_error.hpp"
#include "support/stores.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;
using testing::execute;
using testing::expect_error;
using testing::TemporaryFolder;

JournalledRun run_of(const std::string& name = "plant") {
  return {.id = 0,
          .name = name,
          .seed = 7,
          .identity = Configuration::from_text("agent.kind = \"bayes\"\n"),
          .spec = "name = \"plant\"",
          .program = {},
          .started = {},
          .simulators = {{"high", "plant", "1.2", "abc"}, {"low", "sketch", "0", ""}}};
}

Attempt attempt_of(std::uint64_t episode) {
  Attempt attempt{.at = {.episode = episode},
                  .seed = 12,
                  .steps = 3,
                  .cost = 1.5,
                  .cost_source = "declared",
                  .low_steps = 100 * episode,
                  .seconds = 0.25,
                  .clock = static_cast<double>(episode)};
  attempt.paid.path.begin(static_cast<State>(episode));
  for (int t = 0; t < 3; ++t)
    attempt.paid.path.append(static_cast<Action>(t), 0.1 * t + static_cast<double>(episode), 1);
  attempt.paid.probabilities = {0.5, 0.25, 1};
  attempt.paid.discounted_return = static_cast<double>(episode) / 3;
  return attempt;
}

void fill(const fs::path& file, std::uint64_t episodes = 40) {
  Journal journal = Journal::open(file, false);
  const std::int64_t run = journal.find_or_add(run_of());
  for (std::uint64_t e = 0; e < episodes; ++e) {
    if (e % 10 == 3) {
      Attempt failed{.at = {.episode = e}, .failed = true, .error = "no licence", .cost = 0.5};
      journal.append(run, failed);
    }
    Attempt attempt = attempt_of(e);
    attempt.number = e % 10 == 3 ? 1 : 0;
    journal.append(run, attempt);
  }
  journal.decide(run, "rate", 0.125);
}

// Episode by episode, as far as they are there; throws on damage unless it is to be left out.
std::map<std::uint64_t, std::string> episodes_of(const Journal& journal) {
  std::map<std::uint64_t, std::string> out;
  for (const JournalledRun& run : journal.runs())
    journal.for_each_attempt(run.id, [&](const Attempt& a) {
      if (a.failed) return;
      std::string text = std::to_string(a.paid.discounted_return);
      for (const State s : a.paid.path.states) text += " " + std::to_string(s);
      for (const double r : a.paid.path.rewards) text += " " + std::to_string(r);
      for (const double p : a.paid.probabilities) text += " " + std::to_string(p);
      out[a.at.episode] = text;
    });
  return out;
}

TEST(Journal, KeepsWhatWasPaidFor) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "a.journal";
  fill(file);
  const Journal journal = Journal::open_to_read(file);
  const JournalledRun run = journal.runs().at(0);
  EXPECT_EQ(run.name, "plant");
  EXPECT_EQ(run.identity, run_of().identity);
  ASSERT_EQ(run.simulators.size(), 2U);
  EXPECT_EQ(run.simulators[1].name, "sketch");
  const Spent spent = journal.spent(run.id);
  EXPECT_EQ(spent.attempts, 44U);
  EXPECT_EQ(spent.failed, 4U);
  EXPECT_EQ(spent.training, 40U);
  EXPECT_EQ(spent.steps, 120U);
  EXPECT_EQ(spent.cost, 40 * 1.5 + 4 * 0.5);
  EXPECT_EQ(spent.low_steps, 3900U);
  const auto attempts = journal.attempts_at(run.id, {.episode = 13});
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_TRUE(attempts[0].failed);
  EXPECT_EQ(attempts[0].error, "no licence");
  EXPECT_EQ(attempts[1].paid.path.states, attempt_of(13).paid.path.states);
  EXPECT_EQ(attempts[1].paid.path.rewards, attempt_of(13).paid.path.rewards);
  EXPECT_EQ(attempts[1].paid.probabilities, attempt_of(13).paid.probabilities);
  EXPECT_EQ(journal.decided(run.id, "rate"), 0.125);
  EXPECT_EQ(journal.given_up(run.id, 0), 0U);
  EXPECT_NE(journal.digest(run.id, 10), journal.digest(run.id, 11));
}

TEST(Journal, RefusesASecondWriterAndForeignFiles) {
  const TemporaryFolder folder;
  fill(folder.path() / "a.journal", 2);
  Journal journal = Journal::open(folder.path() / "a.journal", false);
  expect_error([&] { Journal::open(folder.path() / "a.journal"); }, Errc::io,
               {"a.journal", "the journal is in use"});
  expect_error([&] { Journal::open_to_read(folder.path() / "none"); }, Errc::io,
               {"no such journal"});
  testing::example_store(folder.path() / "store.db");
  expect_error([&] { Journal::open(folder.path() / "store.db"); }, Errc::data,
               {"store.db", "is not a hilo journal"});
  expect_error([&] { Store::open_to_read(folder.path() / "a.journal"); }, Errc::data,
               {"is not a hilo store"});
  folder.write("text", std::string(5000, 'x'));
  expect_error([&] { Journal::open(folder.path() / "text"); }, Errc::data, {"text"});
  // The same episode cannot be written twice.
  const std::int64_t run = journal.find_or_add(run_of());
  expect_error([&] { journal.append(run, attempt_of(1)); }, Errc::data, {"a.journal"});
  JournalledRun other = run_of();
  other.identity = Configuration::from_text("agent.kind = \"mcrl\"\nx = 1\n");
  expect_error([&] { journal.find_or_add(other); }, Errc::spec,
               {"agent.kind was \"bayes\" and is \"mcrl\"", "x was absent and is 1"});
}

TEST(Journal, NamesDamage) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "a.journal";
  const auto refuses = [&](const char* sql, const std::vector<std::string>& words) {
    fs::remove(file);
    fill(file);
    execute(file, sql);
    expect_error([&] { Journal::open_to_read(file); }, Errc::data, words);
    expect_error([&] { Journal::open(file); }, Errc::data, words);
  };
  refuses("UPDATE attempt SET cost = 0 WHERE position = 5", {"attempt 5", "--skip-damaged"});
  refuses("DELETE FROM attempt WHERE position = 7", {"attempt 7", "missing"});
  refuses("UPDATE attempt SET path = x'00' WHERE position = 7", {"attempt 7"});
  refuses("UPDATE run SET spec = ''", {"run 1"});
  refuses("UPDATE decision SET value = 1", {"'rate'"});
  refuses("PRAGMA user_version = 9", {"version 9"});
}

// Never a crash and never another episode: what is read is what was written.
TEST(Journal, CutAndFlippedFilesGiveWhatIsWholeOrAnError) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "a.journal";
  fill(file, 200);
  const auto whole = episodes_of(Journal::open_to_read(file));
  ASSERT_EQ(whole.size(), 200U);
  const std::string bytes = testing::read_text(file);
  std::mt19937 random(20261116);
  std::size_t refused = 0;
  std::size_t saved = 0;
  const auto look_at = [&](const std::string& damaged) {
    const fs::path harmed = folder.path() / "harmed.journal";
    std::ofstream(harmed, std::ios::binary) << damaged;
    try {
      EXPECT_EQ(episodes_of(Journal::open_to_read(harmed)), whole);
    } catch (const Error&) {
      ++refused;
    }
    const fs::path rescued = folder.path() / "rescued.journal";
    fs::remove(rescued);
    try {
      const Journal source = Journal::open_to_read(harmed, Damaged::leave_out);
      Journal into = Journal::open(rescued, false);
      into.merge({&source, 1});
      const auto rest = episodes_of(into);
      saved += rest.size();
      for (const auto& [episode, text] : rest) EXPECT_EQ(text, whole.at(episode));
    } catch (const Error&) {
    }
  };
  for (int i = 0; i < 50; ++i) {
    const auto at = std::uniform_int_distribution<std::size_t>(0, bytes.size() - 1)(random);
    look_at(bytes.substr(0, at));
  }
  EXPECT_EQ(refused, 50U);
  saved = 0;
  for (int i = 0; i < 200; ++i) {
    std::string flipped = bytes;
    const auto at = std::uniform_int_distribution<std::size_t>(0, bytes.size() * 8 - 1)(random);
    flipped[at / 8] = static_cast<char>(flipped[at / 8] ^ (1 << (at % 8)));
    look_at(flipped);
  }
  EXPECT_GT(saved, 200U * 200 * 3 / 4);  // a flipped bit takes a page with it at most
}

TEST(Journal, MergesAndRefusesContradictions) {
  const TemporaryFolder folder;
  fill(folder.path() / "a.journal", 5);
  fill(folder.path() / "b.journal", 9);
  const Journal b = Journal::open_to_read(folder.path() / "b.journal");
  {
    Journal a = Journal::open(folder.path() / "a.journal", false);
    EXPECT_EQ(a.merge({&b, 1}), 4U);
    EXPECT_EQ(a.merge({&b, 1}), 0U);
    EXPECT_EQ(episodes_of(a), episodes_of(b));
  }
  {
    Journal c = Journal::open(folder.path() / "c.journal", false);
    Attempt other = attempt_of(8);
    other.paid.path.rewards[0] = 99;
    c.append(c.find_or_add(run_of()), other);
    expect_error([&] { c.merge({&b, 1}); }, Errc::data, {"training episode 8", "b.journal"});
    EXPECT_EQ(episodes_of(c).size(), 1U);  // nothing was added
  }
}

}  // namespace
}  // namespace hilo
