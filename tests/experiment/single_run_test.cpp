#include "hilo/experiment/single_run.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "hilo/core/random.hpp"
#include "hilo/experiment/checkpoints.hpp"
#include "hilo/experiment/run.hpp"
#include "support/expect_error.hpp"
#include "support/specs.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

// All kinds of agents on a small problem, tests and exact values on the way.
Spec all_agents() {
  std::string agents = "[[agent]]\nkind = \"mfmcrl\"\nvariant = \"plus\"\n";
  for (const char* kind : {"mfmcrl", "bayes", "bayes-high", "q-learning", "expected-sarsa",
                           "dyna-q", "transfer", "low-only", "mfrl", "rmax"})
    agents += std::string("[[agent]]\nkind = \"") + kind + "\"\n" +
              (std::string(kind) == "mfrl" ? "known_steps = 200\n" : "");
  return parse_spec(testing::tiny_spec(agents), "tiny");
}

Spec search() {
  return parse_spec(
      "spec_version = 1\nname = \"search\"\nseeds = 1\n[problem]\nkind = \"nas-bench-201\"\n"
      "[train]\nepisodes = 30\n[test]\nevery = 5\nepisodes = 2\n[[agent]]\nkind = "
      "\"mfmcrl\"\n",
      "search");
}

// All but the time it took.
std::vector<std::tuple<std::uint64_t, std::string, double>> numbers(const RunRecord& record) {
  std::vector<std::tuple<std::uint64_t, std::string, double>> out;
  for (const Measurement& m : record.measurements)
    if (m.metric != "seconds") out.emplace_back(m.episode, m.metric, m.value);
  return out;
}

RunRecord finish(SingleRun run) {
  while (!run.step()) {
  }
  return run.record();
}

void expect_same(const RunRecord& a, const RunRecord& b) {
  EXPECT_EQ(numbers(a), numbers(b));
  EXPECT_EQ(a.policy, b.policy);
  EXPECT_EQ(a.standard_errors, b.standard_errors);
}

// Saved and loaded into another one after every step, or every few.
void expect_resumable(const Spec& spec, const std::string& label, int stride) {
  const RunRecord whole = finish(SingleRun(spec, label, 0));
  SingleRun run(spec, label, 0);
  for (int k = 0; !run.step(); ++k) {
    if (k % stride != 0) continue;
    ASSERT_TRUE(run.can_be_saved());
    SingleRun next(spec, label, 0);
    next.load(run.save());
    run = std::move(next);
  }
  expect_same(run.record(), whole);
}

TEST(SingleRun, GoesOnWithTheSameBitsWhereverItWasLeft) {
  const Spec spec = all_agents();
  for (const RunConfig& config : spec.configs) expect_resumable(spec, config.label, 3);
}

TEST(SingleRun, ObserversAreSavedToo) { expect_resumable(search(), "", 4); }

// Ask and tell are what step does.
TEST(SingleRun, AskAndTellGiveTheBitsOfARun) {
  const Spec spec = all_agents();
  for (const RunConfig& config : spec.configs) {
    SingleRun run(spec, config.label, 1);
    Episode episode;
    while (!run.is_done()) {
      const TabularRequest request = run.ask();
      EXPECT_EQ(run.ask().number, request.number);  // asking twice is no harm
      run.high().run_episode(request.policy, request.streams, request.horizon, episode);
      for (std::uint32_t t = 0; t < episode.length(); ++t)
        ASSERT_EQ(request.action(t, episode.states[t]), episode.actions[t]);
      run.tell(episode);
    }
    expect_same(run.record(), finish(SingleRun(spec, config.label, 1)));
  }
}

TEST(SingleRun, RefusesWhatDoesNotBelongToIt) {
  const Spec spec = all_agents();
  SingleRun run(spec, "MCRL", 0);
  Episode episode;
  expect_error([&] { run.tell(episode); }, Errc::usage, {"not asked for"});
  const TabularRequest request = run.ask();
  expect_error([&] { run.tell(episode); }, Errc::simulator, {"0 states"});
  episode.begin(0);
  episode.append(7, 1, 1);
  expect_error([&] { run.tell(episode); }, Errc::simulator, {"action of an episode is 7"});
  run.high().run_episode(request.policy, request.streams, request.horizon, episode);
  EXPECT_NO_THROW(run.tell(episode));  // nothing was lost
  // A step in between answers the request.
  const TabularRequest second = run.ask();
  run.high().run_episode(second.policy, second.streams, second.horizon, episode);
  run.step();
  expect_error([&] { run.tell(episode); }, Errc::usage, {"not asked for"});
  expect_error([&] { (void)run.record(); }, Errc::usage, {"not done"});
  expect_error([&] { SingleRun(spec, "MCLR", 0); }, Errc::usage, {"did you mean 'MCRL'"});
  SingleRun other(spec, "MCRL", 1);
  expect_error([&] { other.load(run.save()); }, Errc::data, {"seed"});
  std::vector<std::byte> bytes = run.save();
  bytes[bytes.size() / 2] ^= std::byte{1};
  expect_error([&] { run.load(bytes); }, Errc::data, {"damaged"});
  EXPECT_TRUE(run.can_be_saved());  // nothing was touched
}

// What was interrupted goes on, and what is wrong with a checkpoint costs time alone.
TEST(Checkpoints, AnInterruptedRunGoesOn) {
  const Spec spec = parse_spec(testing::tiny_spec(testing::kTwoMfmcrl), "tiny");
  const TemporaryFolder folder;
  const Checkpoints checkpoints(folder.path() / "running");
  const auto run_until = [&](std::size_t asked) {
    std::vector<RunRecord> records;
    std::size_t count = 0;
    run_all(plan(spec, {}), 1,
            {.on_record = [&](const RunRecord& r) { records.push_back(r); },
             .on_progress = {},
             .keep_going = [&] { return ++count < asked; },
             .checkpoints = &checkpoints});
    return std::pair(std::move(records), count);
  };
  const std::size_t kAll = 1'000'000;
  const auto [whole, steps] = run_until(kAll);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "running"));
  run_until(30);  // in the middle of the first one
  ASSERT_TRUE(std::filesystem::exists(folder.path() / "running"));
  const auto [rest, fewer] = run_until(kAll);
  EXPECT_EQ(steps - fewer, 28U);  // what was done is not done again
  ASSERT_EQ(rest.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) expect_same(rest[i], whole[i]);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "running"));

  run_until(30);
  for (const auto& file : std::filesystem::directory_iterator(folder.path() / "running"))
    std::ofstream(file.path()) << "somebody else's";
  const auto [again, all] = run_until(kAll);
  EXPECT_EQ(all, steps);
  for (std::size_t i = 0; i < whole.size(); ++i) expect_same(again[i], whole[i]);
}

}  // namespace
}  // namespace hilo
