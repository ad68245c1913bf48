#include "hilo/driver/learner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/driver/learn_json.hpp"
#include "hilo/env/random_mdp.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;
namespace fs = std::filesystem;

std::string spec_text(const std::string& budget = "episodes = 60", const std::string& more = "") {
  return "spec_version = 1\nname = \"plant\"\nseed = 3\n"
         "[problem]\nkind = \"random-mdp\"\nstates = 20\nactions = 3\n"
         "[train]\ngamma = 0.9\nmax_steps = 200\n[budget]\n" +
         budget + "\n[cost]\nhigh_episode = 5\nhigh_step = 1\nlow_step = 0.001\n" + more;
}

LearnSpec spec_of(const std::string& budget = "episodes = 60", const std::string& more = "") {
  return parse_learn_spec(spec_text(budget, more), "plant.toml");
}

// Everything that a run leaves behind and that must not depend on how it was interrupted.
std::string results_of(const Learner& learner) {
  const LearnOutcome outcome = learner.outcome();
  const Bill bill = learner.bill();
  std::string text = policy_json(learner);
  text += fmt::format("{:.17g} {:.17g} {} {} {} {:.17g} {:.17g}\n", outcome.value.returns.mean,
                      outcome.value.returns.high, bill.training, bill.testing, bill.steps,
                      bill.high_cost, bill.low_cost);
  for (const JournalledRun& run : learner.journal().runs())
    learner.journal().for_each_attempt(run.id, [&](const Attempt& a) {
      if (!a.failed)
        text += fmt::format("{} {} {:.17g}\n", a.at.episode, a.at.test.value_or(999),
                            a.paid.discounted_return);
    });
  return text;
}

std::string undisturbed(const TemporaryFolder& folder, const LearnSpec& spec) {
  Learner learner(spec, {.journal = folder.path() / "whole.journal", .durable = false});
  while (!learner.step()) {
  }
  return results_of(learner);
}

TEST(Learner, SpendsItsBudgetAndTestsItsPolicy) {
  const TemporaryFolder folder;
  Learner learner(spec_of(), {.journal = folder.path() / "a.journal", .durable = false});
  while (!learner.step()) {
  }
  const Bill bill = learner.bill();
  EXPECT_EQ(bill.training, 50U);
  EXPECT_EQ(bill.testing, 10U);
  EXPECT_EQ(bill.failed, 0U);
  const LearnOutcome outcome = learner.outcome();
  EXPECT_EQ(outcome.value.returns.n, 10U);
  EXPECT_LT(outcome.value.returns.low, outcome.value.returns.mean);
  EXPECT_NE(outcome.value.caution, "");
  EXPECT_TRUE(outcome.believed.has_value());
  EXPECT_EQ(outcome.stopped_by, "episodes");
  EXPECT_NE(learner.spec().choice.find("bayes"), std::string::npos);
  // The bill is the sum of the journal.
  const Spent spent = learner.journal().spent(learner.journal().runs().at(0).id);
  EXPECT_EQ(bill.high_cost, spent.cost);
  EXPECT_EQ(bill.steps, spent.steps);
  EXPECT_EQ(bill.high_cost, 60 * 5 + static_cast<double>(bill.steps));
  EXPECT_DOUBLE_EQ(bill.low_cost, 0.001 * static_cast<double>(bill.low_steps));
}

// Left after any episode and taken up again: with its checkpoint, without it, and with a damaged
// one.
TEST(Learner, GoesOnWithTheSameBitsFromJournalAndCheckpoint) {
  for (const char* agent : {"bayes", "mfmcrl", "q-learning"}) {
    const std::string more = std::string("[agent]\nkind = \"") + agent + "\"\n";
    const TemporaryFolder folder;
    const LearnSpec spec = spec_of("episodes = 40\nreserve = 5", more);
    const std::string whole = undisturbed(folder, spec);
    for (int harm = 0; harm < 3; ++harm) {
      const LearnFiles files = {.journal = folder.path() / fmt::format("{}.journal", harm),
                                .durable = false,
                                .checkpoint_every = 0};
      std::mt19937 random(static_cast<unsigned>(harm));
      std::string result;
      while (result.empty()) {
        Learner learner(spec, files);
        const int episodes = std::uniform_int_distribution<int>(1, 7)(random);
        for (int i = 0; i < episodes && result.empty(); ++i)
          if (learner.step()) result = results_of(learner);
        if (harm == 1) std::filesystem::remove(files.checkpoint());
        if (harm == 2) std::ofstream(files.checkpoint(), std::ios::app) << "x";
      }
      EXPECT_EQ(result, whole) << agent << " " << harm;
    }
  }
}

TEST(Learner, AChangedSpecIsRefusedUnlessItExtendsTheBudget) {
  const TemporaryFolder folder;
  const LearnFiles files = {.journal = folder.path() / "a.journal", .durable = false};
  {
    Learner learner(spec_of("episodes = 30"), files);
    while (!learner.step()) {
    }
  }
  const auto changed = [&](const std::string& text) {
    Learner(parse_learn_spec(text, "plant.toml"), files);
  };
  std::string gamma = spec_text("episodes = 30");
  gamma.replace(gamma.find("0.9\n"), 4, "0.8\n");
  expect_error([&] { changed(gamma); }, Errc::spec,
               {"a.journal", "train.gamma was 0.9 and is 0.8", "[budget]"});
  expect_error([&] { changed(spec_text("episodes = 30", "[agent]\nkind = \"mcrl\"\n")); },
               Errc::spec, {"agent.kind was \"bayes\" and is \"mcrl\""});

  Learner longer(spec_of("episodes = 70"), files);
  const std::uint64_t paid = longer.bill().episodes;
  EXPECT_EQ(paid, 30U);
  while (!longer.step()) {
  }
  EXPECT_EQ(longer.bill().episodes, 70U);
  EXPECT_EQ(longer.bill().testing, 3U + 10U);  // of the first policy, and of the last
  EXPECT_EQ(longer.outcome().value.returns.n, 10U);
}

TEST(Learner, ABudgetIsNotExceededByMoreThanOneEpisode) {
  for (const char* budget : {"cost = 700", "cost = 700\nreserve = 12", "steps = 500",
                             "cost = 500\nsteps = 100000", "cost = 700\nreserve = 0"}) {
    const TemporaryFolder folder;
    Learner learner(spec_of(budget), {.journal = folder.path() / "a.journal", .durable = false});
    double before = 0;
    double spent = 0;
    double last = 0;
    bool done = false;
    while (!done) {
      before = spent;
      done = learner.step();
      const Bill bill = learner.bill();
      spent = learner.spec().budget.cost > 0 ? bill.cost() : static_cast<double>(bill.steps);
      if (spent > before) last = before;
    }
    const Budget& limits = learner.spec().budget;
    const double limit = limits.cost > 0 ? limits.cost : static_cast<double>(limits.steps);
    EXPECT_LT(last, limit) << budget;
    const Bill bill = learner.bill();
    EXPECT_GT(bill.training, 5U) << budget;
    EXPECT_EQ(bill.testing > 0, !std::string(budget).ends_with("= 0")) << budget;
  }
}

// A problem whose expensive simulator fails at times, and another time does not.
class Flaky final : public EpisodeSimulator {
 public:
  Flaky(std::shared_ptr<const EpisodeSimulator> inner, double chance)
      : EpisodeSimulator(inner->num_states(), inner->num_actions()),
        inner_(std::move(inner)),
        chance_(chance) {}

  void run_episode(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                   Episode& episode) const override {
    if (std::uniform_real_distribution<>()(random_) < chance_)
      throw Error(Errc::simulator, "the licence server does not answer");
    inner_->run_episode(policy, streams, horizon, episode);
  }
  void run_episodes(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                    std::span<RolloutSummary> summaries) const override {
    inner_->run_episodes(policy, streams, horizon, summaries);
  }

 private:
  std::shared_ptr<const EpisodeSimulator> inner_;
  double chance_;
  mutable std::mt19937 random_{42};
};

std::shared_ptr<const ProblemKind> flaky_kind(double chance) {
  ProblemKind kind = problem_kind("random-mdp");
  const auto build = kind.build_high;
  const auto build_whole = kind.build;
  kind.build_high = [=](const Parameters& p, std::uint64_t seed) -> HighSimulator {
    return std::make_shared<const Flaky>(build(p, seed), chance);
  };
  kind.build = [=](const Parameters& p, std::uint64_t seed, const HighSimulator& high) {
    Problem problem = build_whole(p, seed, build(p, seed));
    problem.pair = Fidelities(high, problem.pair.shared_low(), problem.pair.map());
    return problem;
  };
  return std::make_shared<const ProblemKind>(std::move(kind));
}

TEST(Learner, FailuresThatRetriesOvercomeChangeNothing) {
  const TemporaryFolder folder;
  const std::string text = spec_text("episodes = 60", "[failures]\nretries = 5\n");
  const auto learn = [&](double chance, const char* file) {
    Learner learner(parse_learn_spec(text, "plant.toml", {}, flaky_kind(chance)),
                    {.journal = folder.path() / file, .durable = false});
    while (!learner.step()) {
    }
    EXPECT_EQ(learner.bill().failed > 0, chance > 0);
    EXPECT_EQ(learner.bill().skipped, 0U);
    return fmt::format("{}{:.17g}", policy_json(learner), learner.outcome().value.returns.mean);
  };
  EXPECT_EQ(learn(0.3, "flaky.journal"), learn(0, "whole.journal"));
}

TEST(Learner, FailuresAreSkippedOrStopAndNothingLearntIsLost) {
  const TemporaryFolder folder;
  const std::string skip = spec_text("episodes = 40", "[failures]\nretries = 0\n");
  Learner learner(parse_learn_spec(skip, "plant.toml", {}, flaky_kind(0.2)),
                  {.journal = folder.path() / "skip.journal", .durable = false});
  while (!learner.step()) {
  }
  const Bill bill = learner.bill();
  EXPECT_GT(bill.skipped, 0U);
  EXPECT_EQ(bill.skipped, bill.failed);
  EXPECT_EQ(bill.episodes + bill.skipped, 40U);
  EXPECT_EQ(bill.high_cost, 40 * 5 + static_cast<double>(bill.steps));  // failures cost, too

  const std::string stop =
      spec_text("episodes = 40", "[failures]\nretries = 1\non_failure = \"stop\"\n");
  const LearnFiles files = {.journal = folder.path() / "stop.journal", .durable = false};
  {
    Learner stopped(parse_learn_spec(stop, "plant.toml", {}, flaky_kind(1)), files);
    expect_error(
        [&] {
          while (!stopped.step()) {
          }
        },
        Errc::simulator, {"failed 2 times", "licence server", "the same command goes on"});
  }
  Learner mended(parse_learn_spec(stop, "plant.toml", {}, flaky_kind(0)), files);
  while (!mended.step()) {
  }
  EXPECT_EQ(mended.bill().episodes, 40U);
  EXPECT_EQ(mended.bill().failed, 2U);

  Learner hopeless(parse_learn_spec(skip, "plant.toml", {}, flaky_kind(1)),
                   {.journal = folder.path() / "hopeless.journal", .durable = false});
  expect_error(
      [&] {
        while (!hopeless.step()) {
        }
      },
      Errc::simulator, {"3 episodes in a row failed"});
}

// An episode that damage took away from the middle of a journal is made again, and all others are
// used: the result is that of an undisturbed run.
TEST(Learner, AGapInTheJournalIsFilledWhateverTheBudgetSays) {
  const TemporaryFolder folder;
  const LearnSpec spec = spec_of("episodes = 40\nreserve = 5", "[agent]\nkind = \"mfmcrl\"\n");
  undisturbed(folder, spec);
  const fs::path gap = folder.path() / "gap.journal";
  {
    const Journal whole = Journal::open_to_read(folder.path() / "whole.journal");
    Journal into = Journal::open(gap, false);
    const JournalledRun run = whole.runs().at(0);
    const std::int64_t id = into.find_or_add(run);
    whole.for_each_attempt(run.id, [&](const Attempt& attempt) {
      if (attempt.at.test || attempt.at.episode != 6) into.append(id, attempt);
    });
  }
  Learner learner(spec, {.journal = gap, .durable = false});
  while (!learner.step()) {
  }
  EXPECT_EQ(learner.bill().training, 35U);
  EXPECT_EQ(learner.bill().testing, 5U);
  Learner again(spec, {.journal = folder.path() / "whole.journal", .durable = false});
  while (!again.step()) {
  }
  EXPECT_EQ(policy_json(learner), policy_json(again));
  EXPECT_EQ(learner.outcome().value.returns.mean, again.outcome().value.returns.mean);
}

std::string undeclared(const std::string& budget, const std::string& more) {
  std::string text = spec_text(budget, more);
  const std::size_t at = text.find("[cost]");
  return text.erase(at, text.find("low_step = 0.001\n") + 17 - at);
}

// Costs that nobody declares are seconds, of preparation too, and are frozen in the journal.
TEST(Learner, MeasuredCostsCountTheCheapSimulatorAndStayAsTheyWere) {
  for (const char* agent : {"bayes", "mfmcrl"}) {
    const TemporaryFolder folder;
    const LearnSpec spec = parse_learn_spec(
        undeclared("episodes = 30", std::string("[agent]\nkind = \"") + agent + "\"\n"), "x.toml");
    const LearnFiles files = {.journal = folder.path() / "a.journal", .durable = false};
    Bill first;
    {
      Learner learner(spec, files);
      while (!learner.step()) {
      }
      first = learner.bill();
    }
    EXPECT_EQ(first.unit, CostUnit::seconds);
    EXPECT_GT(first.low_cost, 0) << agent;
    EXPECT_GT(first.high_cost, 0) << agent;
    EXPECT_LT(first.cost(), first.clock) << agent;
    std::filesystem::remove(files.checkpoint());
    Learner again(spec, files);
    EXPECT_TRUE(again.catch_up());
    EXPECT_EQ(again.bill().cost(), first.cost()) << agent;
  }
  // Expensive cheap steps count before the rate is frozen, too.
  const TemporaryFolder folder;
  Learner learner(parse_learn_spec(undeclared("cost = 0.02\nreserve = 0",
                                              "[agent]\nkind = \"mfmcrl\"\nlow_rollouts = 20000\n"),
                                   "x.toml"),
                  {.journal = folder.path() / "a.journal", .durable = false});
  while (!learner.step()) {
  }
  EXPECT_LE(learner.bill().training, 3U);
}

TEST(Learner, RetriesStopAtTheBudgetToo) {
  const TemporaryFolder folder;
  const std::string text =
      spec_text("cost = 20", "[failures]\nretries = 50\n[agent]\nkind = \"mcrl\"\n");
  Learner learner(parse_learn_spec(text, "plant.toml", {}, flaky_kind(1)),
                  {.journal = folder.path() / "a.journal", .durable = false});
  while (!learner.step()) {
  }
  EXPECT_LE(learner.bill().cost(), 25);  // an attempt costs 5
  EXPECT_EQ(learner.outcome().value.returns.n, 0U);
}

TEST(Learner, AWallRunThatIsDoneSpendsNothingMore) {
  const TemporaryFolder folder;
  const LearnSpec spec =
      spec_of("wall = 0.05", "[agent]\nkind = \"mfmcrl\"\nlow_rollouts = 3000\n");
  const LearnFiles files = {.journal = folder.path() / "a.journal", .durable = false};
  std::uint64_t episodes = 0;
  for (int i = 0; i < 3; ++i) {
    Learner learner(spec, files);
    while (!learner.step()) {
    }
    EXPECT_TRUE(i == 0 || learner.bill().episodes == episodes);
    episodes = learner.bill().episodes;
    EXPECT_EQ(learner.outcome().stopped_by, "wall");
  }
}

// Failures are counted over processes, as when each episode has one of its own.
TEST(Learner, ThreeFailedEpisodesInARowStopAcrossProcessesAndTestsAreTriedAgain) {
  const TemporaryFolder folder;
  const std::string text = spec_text("episodes = 20", "[failures]\nretries = 0\n");
  const LearnFiles files = {.journal = folder.path() / "a.journal", .durable = false};
  std::size_t attempts = 0;
  const auto fail_once = [&] {
    Learner learner(parse_learn_spec(text, "plant.toml", {}, flaky_kind(1)), files);
    ++attempts;
    learner.step();
  };
  fail_once();
  fail_once();
  expect_error(fail_once, Errc::simulator, {"3 episodes in a row failed"});
  EXPECT_EQ(attempts, 3U);
  {
    Learner mended(parse_learn_spec(text, "plant.toml", {}, flaky_kind(0)), files);
    while (mended.bill().training < 15) mended.step();
  }
  for (int i = 0; i < 2; ++i) fail_once();
  Learner mended(parse_learn_spec(text, "plant.toml", {}, flaky_kind(0)), files);
  while (!mended.step()) {
  }
  EXPECT_EQ(mended.outcome().value.returns.n, 2U);
}

TEST(Learner, EpisodesThatAreAllCutEndTheRunSoon) {
  const TemporaryFolder folder;
  const std::string text =
      "spec_version = 1\nname = \"dock\"\nagent = \"mcrl\"\n[problem]\nkind = \"docking\"\n"
      "[train]\nmax_steps = 1\n[budget]\nepisodes = 500\n";
  Learner learner(parse_learn_spec(text, "plant.toml"),
                  {.journal = folder.path() / "a.journal", .durable = false});
  expect_error(
      [&] {
        while (!learner.step()) {
        }
      },
      Errc::simulator, {"first 20 episodes", "max_steps is 1", "terminal"});
  EXPECT_EQ(learner.bill().training, 20U);
}

// A caller that makes the episodes itself, from what stands in the request alone.
TEST(Learner, AskAndTellThroughFilesGiveTheSameBits) {
  const TemporaryFolder folder;
  const LearnSpec spec = spec_of("episodes = 30", "[agent]\nkind = \"mfmcrl\"\n");
  const std::string whole = undisturbed(folder, spec);
  std::string result;
  while (result.empty()) {
    Learner learner(
        spec, {.journal = folder.path() / "told.journal", .durable = false, .checkpoint_every = 0});
    const auto request = learner.ask();
    if (!request) {
      result = results_of(learner);
      break;
    }
    EXPECT_NE(request_json(*request, spec).find("\"words\""), std::string::npos);
    const SingleRun simulator(spec.spec, "", spec.seed);
    Episode episode;
    simulator.high().run_episode(request->table(), request->streams, request->horizon, episode);
    const std::string told = fmt::format(
        "{{\"episode\": {}, \"test\": {}, \"states\": [{}], \"actions\": [{}], \"rewards\": "
        "[{:.17g}], \"truncated\": {}}}",
        request->at.episode, request->at.test ? fmt::format("{}", *request->at.test) : "null",
        fmt::join(episode.states, ","), fmt::join(episode.actions, ","),
        fmt::join(episode.rewards, ","), episode.truncated);
    learner.tell(*read_told(told, "told.json").episode);
  }
  EXPECT_EQ(result, whole);
}

TEST(Learner, BadAnswersAreRefusedAndCostNothing) {
  for (const auto& [text, word] :
       {std::pair("", "JSON"), std::pair("[1]", "JSON"), std::pair("{}", "episode"),
        std::pair("{\"episode\": -1}", "episode"), std::pair("{\"episode\": 0}", "states"),
        std::pair("{\"episode\": 0, \"states\": [0.5]}", "0.5"),
        std::pair("{\"episode\":0,\"states\":[0,1],\"actions\":[0],\"rewards\":[\"x\"]}",
                  "rewards"),
        std::pair("{\"episode\":0,\"states\":[0,1],\"actions\":[0],\"rewards\":[1]}", "truncated"),
        std::pair("{\"episode\": 0, \"failure\": 3}", "failure"),
        std::pair("{\"episode\": 0, \"cost\": -3}", "cost")})
    expect_error([&] { read_told(text, "told.json"); }, Errc::data, {"told.json", word});
  const TemporaryFolder folder;
  Learner learner(spec_of(), {.journal = folder.path() / "a.journal", .durable = false});
  expect_error([&] { learner.tell(Episode()); }, Errc::usage, {"not asked for"});
  learner.ask();
  Episode episode;
  episode.begin(0);
  expect_error([&] { learner.tell(episode); }, Errc::simulator, {"without a step"});
  episode.append(0, NAN, 1);
  expect_error([&] { learner.tell(episode); }, Errc::simulator, {"nan"});
  episode.rewards[0] = 1;
  EXPECT_EQ(learner.bill().attempts, 0U);
  Learner measured(parse_learn_spec(undeclared("episodes = 5", ""), "x.toml"),
                   {.journal = folder.path() / "b.journal", .durable = false});
  measured.ask();
  for (const double cost : {-5.0, static_cast<double>(NAN), static_cast<double>(INFINITY)})
    expect_error([&] { measured.tell(episode, cost); }, Errc::data, {"cost of an episode"});
  EXPECT_EQ(measured.bill().attempts, 0U);
  measured.tell(episode, 2.5);
  EXPECT_EQ(measured.bill().high_cost, 2.5);
  EXPECT_EQ(measured.bill().unit, CostUnit::reported);
}

}  // namespace
}  // namespace hilo
