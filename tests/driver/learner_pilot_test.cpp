#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hilo/agent/catalogue.hpp"
#include "hilo/diagnose/pilot.hpp"
#include "hilo/driver/learn_json.hpp"
#include "hilo/driver/learner.hpp"
#include "hilo/env/catalogue.hpp"
#include "hilo/env/table_csv.hpp"
#include "hilo/report/learn_page.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

std::string text_of(const std::string& problem, const std::string& agent, const std::string& more) {
  return fmt::format(
      "spec_version = 1\nname = \"plant\"\nseed = 3\nagent = {}\n[problem]\n{}\n"
      "[train]\ngamma = 0.9\nmax_steps = 200\n[cost]\nhigh_step = 1\nlow_step = 0.001\n{}",
      agent, problem, more);
}

const std::string kPlus = "{kind = \"mfmcrl\", variant = \"plus\", low_rollouts = 3}";
const std::string kNoisy = "kind = \"random-mdp\"\nstates = 20\nactions = 3";
const std::string kBudget = "[budget]\nepisodes = 120\n[pilot]\nepisodes = 40\n";

LearnSpec spec_of(const std::string& problem = kNoisy, const std::string& agent = kPlus,
                  const std::string& more = kBudget) {
  return parse_learn_spec(text_of(problem, agent, more), "plant.toml");
}

// The same expensive simulator, and a cheap one that never pays, so that it tells nothing.
std::string useless_pair(const TemporaryFolder& folder) {
  const auto high = testing::small_mdp(5);
  save_pair(*high, *testing::with_rewards(*high, [](State, Action) { return 0.0; }),
            StateMap::identity(high->num_states()), folder.path() / "pair");
  return fmt::format("kind = \"table\"\nfolder = \"{}\"", (folder.path() / "pair").string());
}

Fidelities learner_pair(const LearnSpec& spec) {
  return build_problem("table", spec.config().problem, spec.seed).pair;
}

void finish(Learner& learner) {
  while (!learner.step()) {
  }
}

std::string results_of(const Learner& learner) {
  return fmt::format("{} {:.17g} {} {} {:.17g}", policy_json(learner),
                     learner.outcome().value.returns.mean, learner.bill().training,
                     learner.bill().low_steps, learner.bill().cost());
}

TEST(LearnerPilot, IsPartOfTheBudgetAndIsLearntFrom) {
  const TemporaryFolder folder;
  Learner learner(spec_of(), {.journal = folder.path() / "a.journal", .durable = false});
  finish(learner);
  EXPECT_EQ(learner.bill().training, 108U);
  EXPECT_EQ(learner.bill().pilot, 40U);
  EXPECT_EQ(learner.agent().episodes(), 108U);
  ASSERT_TRUE(learner.pilot().has_value());
  EXPECT_EQ(learner.pilot()->diagnosis.episodes, 40U);
  EXPECT_EQ(learner.pilot()->diagnosis.train_episodes, 108U);
  EXPECT_EQ(learner.pilot()->goes_on_with, learner.agent_label());
  // The first episodes take uniform actions.
  const auto run = learner.journal().runs().at(0).id;
  for (const std::uint64_t episode : {0U, 39U, 40U}) {
    const auto attempt = learner.journal().attempts_at(run, {.episode = episode}).at(0);
    const bool uniform = attempt.paid.probabilities.at(0) == 1.0 / 3;
    EXPECT_EQ(uniform, episode < 40) << episode;
  }
  EXPECT_NE(make_learn_page(learner, "test").find("The pilot: "), std::string::npos);
}

// The judgement is that of `hilo diagnose` with the same episodes.
TEST(LearnerPilot, SaysWhatDiagnoseSays) {
  const TemporaryFolder folder;
  Learner learner(spec_of(), {.journal = folder.path() / "a.journal", .durable = false});
  finish(learner);
  const Problem problem =
      build_problem("random-mdp", {{"states", std::int64_t{20}}, {"actions", std::int64_t{3}}}, 3);
  const Pilot pilot = run_pilot(problem.pair, QTable(20, 3),
                                {.episodes = 40,
                                 .low_rollouts = 3,
                                 .gamma = 0.9,
                                 .epsilon = 0.1,
                                 .max_steps = 200,
                                 .seed = 3},
                                [] { return true; });
  const Diagnosis expected =
      diagnose(problem.pair, pilot, {.train_episodes = 108, .cost_high = 1, .cost_low = 0.001});
  const Diagnosis said = learner.pilot()->diagnosis;
  EXPECT_EQ(said.change.value, expected.change.value);
  EXPECT_EQ(said.change.low, expected.change.low);
  EXPECT_EQ(said.reason, expected.reason);
  EXPECT_EQ(said.cost_ratio, expected.cost_ratio);
}

TEST(LearnerPilot, DropsAUselessSimulatorAndKeepsWhatWasPaidFor) {
  const TemporaryFolder folder;
  const LearnSpec spec = spec_of(useless_pair(folder));
  Learner learner(spec, {.journal = folder.path() / "a.journal", .durable = false});
  finish(learner);
  EXPECT_EQ(learner.pilot()->advice, Advice::drop);
  EXPECT_EQ(learner.agent_label(), "MCRL");
  EXPECT_EQ(learner.agent().episodes(), 108U);  // those of the pilot among them
  // The cheap simulator is not used after the pilot, and what it cost before stays on the bill.
  const auto run = learner.journal().runs().at(0).id;
  const auto low_steps = [&](std::uint64_t episode) {
    return learner.journal().attempts_at(run, {.episode = episode}).at(0).low_steps;
  };
  EXPECT_GT(low_steps(40), low_steps(39));
  EXPECT_EQ(low_steps(107), low_steps(40));
  EXPECT_EQ(learner.bill().low_steps, low_steps(40));
  // It learns what Monte Carlo control learns from the same episodes.
  const auto plain = build_agent(agent_kind("mcrl"), learner_pair(spec), {{"weights", "recency"}},
                                 {.gamma = 0.9, .max_steps = 200, .seed = 3});
  for (std::uint64_t episode = 0; episode < 108; ++episode)
    plain->learn(learner.journal().attempts_at(run, {.episode = episode}).at(0).paid.path);
  EXPECT_TRUE(std::ranges::equal(plain->q().values(), learner.table_agent()->q().values()));
  EXPECT_NE(make_learn_page(learner, "test").find("drop it"), std::string::npos);
}

TEST(LearnerPilot, GoesOnWithTheSameBitsWhereverItWasCutOff) {
  const TemporaryFolder folder;
  for (const std::string& problem : {kNoisy, useless_pair(folder)}) {
    const std::string name = problem == kNoisy ? "noisy" : "useless";
    const LearnSpec spec = spec_of(problem);
    Learner whole(spec, {.journal = folder.path() / (name + "-whole.journal"), .durable = false});
    finish(whole);
    for (const bool use_checkpoint : {true, false}) {
      const LearnFiles files = {
          .journal = folder.path() / fmt::format("{}-{}.journal", name, use_checkpoint),
          .durable = false,
          .checkpoint_every = 0,
          .use_checkpoint = use_checkpoint};
      for (const int steps : {39, 1, 1, 1, 30}) {
        Learner part(spec, files);
        for (int i = 0; i < steps; ++i) part.step();
      }
      {
        Learner last(spec, files);
        finish(last);
        EXPECT_EQ(results_of(last), results_of(whole)) << name << use_checkpoint;
      }
      // Another process says the same of the pilot, whatever its budget.
      LearnSpec larger = spec;
      larger.budget.episodes = 150;
      Learner later(larger, files);
      finish(later);
      EXPECT_EQ(later.pilot()->advice, whole.pilot()->advice);
      EXPECT_EQ(later.pilot()->diagnosis.reason, whole.pilot()->diagnosis.reason);
      EXPECT_EQ(later.bill().training, 123U);
    }
  }
}

TEST(LearnerPilot, RefusesWhatItCannotJudge) {
  const auto refuse = [](const std::string& agent, const std::string& more,
                         const std::string& expected) {
    expect_error([&] { spec_of(kNoisy, agent, more); }, Errc::spec, {expected});
  };
  refuse("\"bayes\"", kBudget, "of which a pilot says nothing; a pilot is for agent = \"mfmcrl\"");
  refuse("\"auto\"", kBudget, "hilo chose it");
  refuse("{kind = \"mfmcrl\", coupling = \"none\"}", kBudget, "pilot: a pilot couples by the path");
  refuse(kPlus, "[budget]\nepisodes = 120\n[pilot]\nepisodes = 19", "0, or at least 20");
  refuse(kPlus, "[budget]\nepisodes = 120\n[pilot]\nepisodes = 108",
         "episodes is 108, but must be below the 108 episodes to learn from");
  refuse(kPlus, "[budget]\nepisodes = 120\n[pilot]\nepisode = 30", "unknown key 'episode'");
}

TEST(LearnerReuse, LearnsFromWhatAnotherRunHasPaidFor) {
  const TemporaryFolder folder;
  const std::string budget = "[budget]\nepisodes = 40\n";
  Learner first(spec_of(kNoisy, "\"mcrl\"", budget),
                {.journal = folder.path() / "first.journal", .durable = false});
  finish(first);
  LearnSpec spec = spec_of(kNoisy, "\"bayes\"", budget);
  spec.spec.name = "second";
  const LearnFiles files = {.journal = folder.path() / "second.journal",
                            .durable = false,
                            .reuse = {folder.path() / "first.journal"}};
  const LearnFiles alone = {.journal = folder.path() / "alone.journal", .durable = false};
  {
    Learner second(spec, files);
    finish(second);
    EXPECT_EQ(second.agent().episodes(), 40U + 36U);  // tests are data for another run
    EXPECT_EQ(second.bill().reused, 40U);
    EXPECT_EQ(second.bill().episodes, 40U);
    EXPECT_EQ(second.bill().high_cost, static_cast<double>(second.bill().steps));
    Learner without(spec, alone);
    finish(without);
    EXPECT_NE(policy_json(second), policy_json(without));
    EXPECT_GE(*second.reference().policy, *without.reference().policy - 0.2);
  }

  // The same command goes on, and the first journal is not needed any more.
  LearnSpec larger = spec;
  larger.budget.episodes = 60;
  std::filesystem::remove(folder.path() / "first.journal");
  Learner later(larger, {.journal = files.journal, .durable = false, .use_checkpoint = false});
  finish(later);
  EXPECT_EQ(later.bill().reused, 40U);
  EXPECT_EQ(later.bill().episodes, 60U);
  EXPECT_TRUE(later.notes().empty());
}

TEST(LearnerReuse, RefusesWhatItCannotLearnFrom) {
  const TemporaryFolder folder;
  const std::string budget = "[budget]\nepisodes = 30\n";
  const LearnFiles first = {.journal = folder.path() / "first.journal", .durable = false};
  Learner made(spec_of(kNoisy, "\"mcrl\"", budget), first);
  finish(made);
  const auto refuse = [&](const LearnSpec& spec, Errc code, const std::string& expected) {
    LearnSpec other = spec;
    other.spec.name = "other";
    const LearnFiles files = {
        .journal = folder.path() / "other.journal", .durable = false, .reuse = {first.journal}};
    expect_error([&] { Learner(other, files); }, code, {expected});
  };
  refuse(spec_of(kNoisy, "\"mfmcrl\"", budget), Errc::spec,
         "cannot be reused by mfmcrl, which learns from episodes of its own policy alone");
  refuse(spec_of("kind = \"random-mdp\"\nstates = 21\nactions = 3", "\"bayes\"", budget),
         Errc::data,
         "no finished episode of the expensive simulator 'random-mdp' with the same parameters");
  // Nothing is begun by what was refused, and a run that has begun takes no more.
  EXPECT_TRUE(Journal::open_to_read(folder.path() / "other.journal").runs().empty());
  LearnSpec begun = spec_of(kNoisy, "\"bayes\"", budget);
  begun.spec.name = "other";
  {
    Learner learner(begun, {.journal = folder.path() / "other.journal", .durable = false});
    learner.step();
  }
  refuse(begun, Errc::usage, "has begun without the episodes");
}

}  // namespace
}  // namespace hilo
