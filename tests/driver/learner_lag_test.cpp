#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hilo/driver/detail/arrival_files.hpp"
#include "hilo/driver/learn_json.hpp"
#include "hilo/driver/learner.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

std::string table_text(int lag, const std::string& budget) {
  return fmt::format(
      "spec_version = 1\nname = \"plant\"\nseed = 3\n[problem]\nkind = \"random-mdp\"\n"
      "states = 20\nactions = 3\n[train]\ngamma = 0.9\nmax_steps = 200\nlag = {}\n[budget]\n{}\n"
      "[cost]\nhigh_episode = 5\nhigh_step = 1\nlow_step = 0.001\n",
      lag, budget);
}

LearnSpec on_table(int lag, const std::string& budget = "episodes = 60") {
  return parse_learn_spec(table_text(lag, budget), "plant.toml");
}

// A corridor of the test program, whose episodes take between 0 and 30 ms.
LearnSpec on_program(int lag, int workers, const std::string& mode, const std::string& more = "",
                     const std::string& budget = "episodes = 30") {
  return parse_learn_spec(
      fmt::format(
          "spec_version = 1\nname = \"plant\"\nseed = 3\nagent = \"q-learning\"\n[problem]\n"
          "kind = \"program\"\n[problem.high]\ncommand = \"python3 {}/tests/programs/simulator.py "
          "{}\"\nworkers = {}\n[train]\ngamma = 0.9\nmax_steps = 60\nlag = {}\n[budget]\n{}\n"
          "[cost]\nhigh_episode = 5\nhigh_step = 1\n{}",
          HILO_SOURCE_DIR, mode, workers, lag, budget, more),
      "plant.toml");
}

// Everything that must not depend on the order in which episodes end.
std::string results_of(const Learner& learner) {
  const LearnOutcome outcome = learner.outcome();
  const Bill bill = learner.bill();
  std::string text = policy_json(learner);
  text += fmt::format("{:.17g} {:.17g} {} {} {:.17g}\n", outcome.value.returns.mean,
                      outcome.value.returns.high, bill.training, bill.testing, bill.low_cost);
  const auto run = learner.journal().runs().at(0).id;
  for (std::uint64_t e = 0; e < bill.training + bill.skipped; ++e)
    for (const Attempt& a : learner.journal().attempts_at(run, {.episode = e}))
      if (!a.failed) text += fmt::format("{} {:.17g}\n", e, a.paid.discounted_return);
  return text;
}

void finish(Learner& learner) {
  while (!learner.step()) {
  }
}

std::string whole(const TemporaryFolder& folder, const LearnSpec& spec, const std::string& name) {
  Learner learner(spec, {.journal = folder.path() / name, .durable = false});
  finish(learner);
  EXPECT_TRUE(learner.notes().empty());
  return results_of(learner);
}

// Episode e follows the policy after exactly the episodes 0 to e - lag: the learner's own requests
// are compared with those of an agent that is told in this order.
TEST(LearnerLag, AnEpisodeActsOnWhatWasLearntSoManyEpisodesBefore) {
  const TemporaryFolder folder;
  Learner learner(on_table(4), {.journal = folder.path() / "a.journal", .durable = false});
  finish(learner);
  const auto run = learner.journal().runs().at(0).id;
  SingleRun plain(on_table(1).spec, "", 3);
  std::vector<std::vector<GreedyHead>> heads;  // after 0, 1, 2, ... episodes
  for (std::uint64_t e = 0; e < learner.bill().training; ++e) {
    const TabularRequest request = plain.ask();
    heads.emplace_back(request.policy.heads.begin(), request.policy.heads.end());
    const Attempt made = learner.journal().attempts_at(run, {.episode = e}).at(0);
    const std::size_t seen = e < 4 ? 0 : e - 3;  // episodes that had been learnt from
    const Behaviour acted = {.heads = heads[seen],
                             .ties = request.policy.ties,
                             .num_actions = 3,
                             .epsilon = request.policy.epsilon};
    for (std::size_t t = 0; t < made.paid.path.length(); ++t) {
      Rng rng = Rng::of_step(request.streams.stream(), static_cast<std::uint32_t>(t) + 1);
      const ActionWords words = draw_action_words(rng);
      const State s = made.paid.path.states[t];
      if (acted.heads[s].count > 1) continue;
      EXPECT_EQ(made.paid.path.actions[t], acted.choose(s, words.explore, words.action))
          << e << " " << t;
    }
    plain.tell(made.paid.path);
  }
}

TEST(LearnerLag, GoesOnWithTheSameBitsWhereverItWasCutOff) {
  const TemporaryFolder folder;
  for (const char* budget :
       {"episodes = 60", "cost = 700", "cost = 700\nreserve = 4", "steps = 400\nreserve = 5"}) {
    const std::string expected = whole(folder, on_table(4, budget), std::string(budget) + ".j");
    for (const bool use_checkpoint : {true, false}) {
      const LearnFiles files = {
          .journal = folder.path() / fmt::format("{}{}.journal", budget, use_checkpoint),
          .durable = false,
          .checkpoint_every = 0,
          .use_checkpoint = use_checkpoint};
      for (const int steps : {1, 5, 2, 11, 20, 3}) {
        Learner part(on_table(4, budget), files);
        for (int i = 0; i < steps && !part.step(); ++i) {
        }
      }
      Learner last(on_table(4, budget), files);
      finish(last);
      EXPECT_EQ(results_of(last), expected) << budget << use_checkpoint;
    }
  }
}

TEST(LearnerLag, ALargerBudgetGoesOn) {
  const TemporaryFolder folder;
  const LearnFiles files = {.journal = folder.path() / "a.journal", .durable = false};
  {
    Learner learner(on_table(4), files);
    finish(learner);
    EXPECT_EQ(learner.bill().training, 50U);
  }
  Learner larger(on_table(4, "episodes = 90"), files);
  finish(larger);
  EXPECT_EQ(larger.bill().episodes, 90U);
  EXPECT_EQ(larger.bill().training, 70U);
}

TEST(LearnerLag, BelongsToTheIdentityOfARunUnlessItIsOne) {
  EXPECT_NE(on_table(2).identity, on_table(1).identity);
  EXPECT_EQ(on_table(1).identity.text().find("lag"), std::string::npos);
  EXPECT_EQ(on_program(4, 1, "good").identity, on_program(4, 3, "good").identity);
}

TEST(LearnerLag, WorkersDoNotChangeABit) {
  const TemporaryFolder folder;
  const std::string expected = whole(folder, on_program(4, 1, "shuffles"), "1.journal");
  for (const int workers : {2, 4})
    EXPECT_EQ(whole(folder, on_program(4, workers, "shuffles"), fmt::format("{}.journal", workers)),
              expected)
        << workers;
  // Nor do failures that retries overcome, and interruptions.
  const std::string retries = "[failures]\nretries = 50\n";
  const LearnSpec failing = on_program(4, 4, "sometimes", retries);
  const LearnFiles files = {
      .journal = folder.path() / "cut.journal", .durable = false, .checkpoint_every = 0};
  for (int part = 0; part < 6; ++part) {
    Learner learner(failing, files);
    for (int i = 0; i < 5 && !learner.step(); ++i) {
    }
  }
  Learner last(failing, files);
  finish(last);
  EXPECT_EQ(results_of(last), expected);
}

// What ended while the learner was busy, and was not in the journal when the process was killed.
TEST(LearnerLag, AnEpisodeThatHadEndedIsNotPaidTwice) {
  const TemporaryFolder folder;
  const LearnSpec spec = on_table(4);
  Learner undisturbed(spec, {.journal = folder.path() / "whole.journal", .durable = false});
  finish(undisturbed);
  const LearnFiles files = {.journal = folder.path() / "cut.journal", .durable = false};
  EpisodeAddress next;
  {
    Learner learner(spec, files);
    for (int i = 0; i < 9; ++i) learner.step();
    for (const auto run = learner.journal().runs().at(0).id;
         !learner.journal().attempts_at(run, next).empty();)
      ++next.episode;
  }
  const auto paid_for = [&](const Learner& learner) {
    return learner.journal().attempts_at(learner.journal().runs().at(0).id, next).at(0);
  };
  Arrival left;
  left.request.at = next;
  left.episode = paid_for(undisturbed).paid.path;
  left.seconds = 12345;  // to be known by
  const ArrivalFiles arrived(files.arrived(), fmt::format("{} {}", spec.identity.hash(), spec.seed),
                             false);
  arrived.keep(left);
  Learner learner(spec, files);
  finish(learner);
  EXPECT_EQ(paid_for(learner).seconds, 12345);
  EXPECT_EQ(results_of(learner), results_of(undisturbed));
  EXPECT_FALSE(std::filesystem::exists(files.arrived()));
}

// A budget is exceeded by at most so many episodes.
TEST(LearnerLag, ABudgetIsNotExceededByMoreThanTheLag) {
  const TemporaryFolder folder;
  Learner learner(on_table(4, "cost = 500"), {.journal = folder.path() / "a", .durable = false});
  finish(learner);
  double dearest = 0;
  const auto run = learner.journal().runs().at(0).id;
  learner.journal().for_each_attempt(
      run, [&](const Attempt& a) { dearest = std::max(dearest, a.cost); });
  EXPECT_GE(learner.bill().cost(), 500);
  EXPECT_LE(learner.bill().cost(), 500 + 4 * dearest);
}

// Which episodes are skipped, and whether there are too many in a row, is a matter of their order,
// not of the order in which they end.
TEST(LearnerLag, FailuresAreCountedInOrder) {
  const TemporaryFolder folder;
  std::string expected;
  for (const int workers : {1, 6}) {
    const LearnSpec spec = on_program(6, workers, "fails-by-seed", "[failures]\nretries = 0\n");
    const LearnFiles files = {.journal = folder.path() / fmt::format("{}.journal", workers),
                              .durable = false};
    std::string said;
    std::string results;
    for (int calls = 0; calls < 20 && results.empty(); ++calls) try {
        Learner learner(spec, files);
        finish(learner);
        results = results_of(learner);
      } catch (const Error&) {
        said += "stopped ";
      }
    if (workers == 1) expected = said + results;
    EXPECT_EQ(said + results, expected);
  }
}

TEST(LearnerLag, RetriesStayWithinTheBudget) {
  const TemporaryFolder folder;
  const LearnSpec spec =
      on_program(4, 4, "exits", "[failures]\nretries = 40\n", "cost = 50\nreserve = 0");
  Learner learner(spec, {.journal = folder.path() / "a.journal", .durable = false});
  try {
    finish(learner);
  } catch (const Error&) {
    // Three in a row.
  }
  EXPECT_LE(learner.bill().cost(), 50 + 4 * 20);
}

TEST(LearnerLag, FailuresStopTheRunOrAreSkipped) {
  const TemporaryFolder folder;
  const LearnSpec stops = on_program(3, 2, "exits", "[failures]\non_failure = \"stop\"\n");
  Learner learner(stops, {.journal = folder.path() / "a.journal", .durable = false});
  expect_error([&] { finish(learner); }, Errc::simulator, {"no disk space", "goes on"});
  EXPECT_GE(learner.bill().failed, 3U);
}

}  // namespace
}  // namespace hilo
