#include "hilo/driver/evaluator.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "hilo/driver/evaluation_outcome.hpp"
#include "hilo/driver/evaluation_run.hpp"
#include "hilo/driver/learner.hpp"
#include "hilo/exact/evaluate.hpp"
#include "hilo/exact/policy_matrix.hpp"
#include "hilo/report/evaluation_report.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

std::string plant(const std::string& evaluate, const std::string& more = "") {
  return fmt::format(
      "spec_version = 1\nname = \"plant\"\nseed = 3\n[problem]\nkind = \"random-mdp\"\n"
      "states = 20\nactions = 3\nsnr_db = 20\nsampling = \"inverse-cdf\"\n[train]\ngamma = 0.9\n"
      "max_steps = 200\n[cost]\nhigh_step = 1\nlow_step = 0.01\n[evaluate]\n{}\n{}",
      evaluate, more);
}

EvaluateSpec spec_of(const std::string& evaluate) {
  return parse_evaluate_spec(plant(evaluate), "plant.toml");
}

// A corridor of the test program.
EvaluateSpec corridor(const std::string& mode, const std::string& evaluate,
                      const std::string& high = "", const std::string& more = "") {
  const std::string program =
      fmt::format("python3 {}/tests/programs/simulator.py", HILO_SOURCE_DIR);
  return parse_evaluate_spec(
      fmt::format("spec_version = 1\nname = \"corridor\"\n[problem]\nkind = \"program\"\n"
                  "[problem.high]\ncommand = \"{0} {1}\"\n{2}\n[[problem.low]]\ncommand = \"{0} "
                  "good\"\n[train]\ngamma = 0.9\nmax_steps = 60\n[cost]\nhigh_step = 1\nlow_step = "
                  "0.05\n[evaluate]\n{3}\n{4}",
                  program, mode, high, evaluate, more),
      "corridor.toml");
}

std::string table_policy(std::size_t states, std::size_t actions, Action a) {
  std::string greedy, values;
  for (std::size_t s = 0; s < states; ++s) {
    greedy += fmt::format("{}[{}]", s > 0 ? ", " : "", a);
    values += s > 0 ? ", [" : "[";
    for (Action b = 0; b < actions; ++b)
      values += fmt::format("{}{}", b > 0 ? ", " : "", b == a ? 1 : 0);
    values += "]";
  }
  return fmt::format(
      R"({{"hilo_policy": 1, "kind": "table", "states": {}, "actions": {}, "greedy": [{}], "values": [{}]}})",
      states, actions, greedy, values);
}

EvaluationOutcome finish(EvaluationRun& run) {
  while (!run.step()) {
  }
  return outcome_of(run.evaluator(), run.coupling(), run.notes());
}

EvaluationOutcome evaluate(const EvaluateSpec& spec, const std::vector<std::string>& policies,
                           const EvaluationFiles& files = {}) {
  EvaluationRun run(spec, parse_policies(policies), files);
  return finish(run);
}

TEST(Evaluator, AgreesWithTheExactValueOfATable) {
  const TemporaryFolder folder;
  const auto file = folder.write("right.json", table_policy(20, 3, 1));
  const EvaluateSpec spec = spec_of("episodes = 400");
  const EvaluationOutcome outcome = evaluate(spec, {file.string()});
  const RunConfig& config = spec.config();
  const HighSimulator high = build_high_fidelity(*config.problem_kind, config.problem, spec.seed);
  const Model& model = *high->model();
  QTable q(20, 3);
  for (State s = 0; s < 20; ++s) q.set(s, 1, 1);
  const double exact =
      start_value(model, evaluate_policy(model, policy_matrix(q.behaviour(0)), 0.9).v);
  const ValueEstimate& value = outcome.policies[0].value.best;
  EXPECT_TRUE(value.controlled);  // one seed: within 4 standard errors
  EXPECT_NEAR(value.value, exact, 4 * value.standard_error);
  EXPECT_LT(value.standard_error, outcome.policies[0].value.plain.standard_error);
  EXPECT_NE(headline(outcome).find("as sharp as"), std::string::npos);
  EXPECT_NE(evaluation_text(outcome).find("cheap"), std::string::npos);
}

// Tables run in lockstep, which must not be told of ties that are not there.
TEST(Evaluator, EvaluatesTheUniformPolicyOfATable) {
  EvaluateSpec spec =
      parse_evaluate_spec(plant("episodes = 60"), "plant.toml", {"problem.sampling=alias"});
  const EvaluationOutcome outcome = evaluate(spec, {"uniform"});
  EXPECT_EQ(outcome.policies.size(), 1U);
  EXPECT_NE(outcome.notes.at(0).find("inverse-cdf"), std::string::npos);
}

TEST(Evaluator, SaysThatAJournalHasEpisodesOfSomethingElse) {
  const TemporaryFolder folder;
  const EvaluationFiles files{.journal = folder.path() / "a.journal"};
  const auto file = folder.write("p.json", table_policy(20, 3, 1));
  evaluate(spec_of("episodes = 20"), {file.string()}, files);
  folder.write("p.json", table_policy(20, 3, 2));
  const EvaluationOutcome outcome = evaluate(spec_of("episodes = 20"), {file.string()}, files);
  EXPECT_EQ(outcome.replayed, 0U);
  EXPECT_NE(outcome.notes.at(0).find("not used"), std::string::npos);
}

TEST(Evaluator, GoesOnFromItsJournalWithTheSameResults) {
  const TemporaryFolder folder;
  const auto file = folder.write("right.json", table_policy(20, 3, 1));
  const EvaluateSpec spec = spec_of("episodes = 80");
  const std::vector<std::string> policies = {file.string(), "uniform"};
  const std::string whole = evaluation_json(evaluate(spec, policies));
  for (const int steps : {1, 7, 30, 100}) {
    const EvaluationFiles files{.journal = folder.path() / fmt::format("{}.journal", steps)};
    {
      EvaluationRun run(spec, parse_policies(policies), files);
      for (int i = 0; i < steps && !run.step(); ++i) {
      }
    }
    EvaluationOutcome outcome = evaluate(spec, policies, files);
    EXPECT_GT(outcome.replayed, 0U);
    outcome.replayed = 0;
    outcome.paid = evaluate(spec, policies).paid;
    EXPECT_EQ(evaluation_json(outcome), whole) << steps;
    EXPECT_EQ(evaluate(spec, policies, files).paid, 0U);
  }
  // A larger budget pays only for what is new.
  const EvaluationFiles files{.journal = folder.path() / "7.journal"};
  const EvaluationOutcome more = evaluate(spec_of("episodes = 200"), policies, files);
  EXPECT_GT(more.replayed, 20U);
  EXPECT_GT(more.paid, 20U);
}

TEST(Evaluator, ComparesPoliciesAndSaysWhichIsBest) {
  const TemporaryFolder folder;
  const auto good = folder.write("good.json", table_policy(10, 2, 1));
  const auto bad = folder.write("bad.json", table_policy(10, 2, 0));
  const EvaluationOutcome outcome =
      evaluate(corridor("good", "episodes = 45"), {good.string(), bad.string(), "uniform"});
  ASSERT_TRUE(outcome.best.has_value());
  EXPECT_EQ(outcome.policies[*outcome.best].name, "good.json");
  EXPECT_EQ(outcome.comparisons.size(), 3U);
  EXPECT_NE(headline(outcome).find("best of 3"), std::string::npos);
  const std::string page = make_evaluation_page(outcome, "hilo evaluate <corridor>");
  EXPECT_NE(page.find("&lt;corridor&gt;"), std::string::npos);
  // The two simulators are the same, share start and seed, and so cannot be told apart.
  EXPECT_NE(outcome.coupling.find("start"), std::string::npos);
  EXPECT_NEAR(outcome.correlations[0][1], 1, 1e-9);
}

TEST(Evaluator, WithoutCouplingThereIsNoCorrelation) {
  const EvaluationOutcome outcome =
      evaluate(corridor("good", "episodes = 40\ncoupling = \"none\""), {"uniform"});
  EXPECT_LT(std::abs(outcome.correlations[0][1]), 0.8);
  EXPECT_FALSE(outcome.helped());
}

TEST(Evaluator, MeasuresOtherQuantities) {
  const TemporaryFolder folder;
  const auto file = folder.write("right.json", table_policy(10, 2, 1));
  const auto value = [&](const std::string& evaluate_keys) {
    return evaluate(corridor("good", "episodes = 8\n" + evaluate_keys), {file.string()})
        .policies[0]
        .value.best.value;
  };
  EXPECT_GT(value("quantity = \"length\""), 9);
  EXPECT_EQ(value("quantity = \"success\""), 1);  // it always arrives
  EXPECT_EQ(value("quantity = \"success\"\nsuccess_above = 100"), 0);
  EXPECT_GT(value("quantity = \"total-reward\""), value("quantity = \"return\""));
}

TEST(Evaluator, KeepsFailuresAndGoesOn) {
  const TemporaryFolder folder;
  const EvaluationFiles files{.journal = folder.path() / "a.journal"};
  // A third of all seeds fail, however often they are tried.
  const EvaluateSpec spec = corridor("fails-by-seed", "episodes = 20", "retries = 1");
  EvaluationRun run(spec, parse_policies({"uniform"}), files);
  std::optional<EvaluationOutcome> outcome;
  for (int session = 0; session < 20 && !outcome; ++session) try {
      outcome = finish(run);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::simulator);  // three in a row, which the same command passes over
      EXPECT_NE(std::string(e.what()).find("in a row"), std::string::npos);
    }
  ASSERT_TRUE(outcome.has_value());
  EXPECT_GT(outcome->skipped, 0U);
  EXPECT_EQ(outcome->failed, 2 * outcome->skipped);
  EXPECT_NE(outcome->notes.at(0).find("left out"), std::string::npos);
  const Journal journal = Journal::open_to_read(folder.path() / "a.journal");
  const Spent spent = journal.spent(journal.runs().at(0).id);
  EXPECT_EQ(spent.failed, outcome->failed);
  EXPECT_EQ(spent.training, outcome->simulators[0].episodes);

  expect_error(
      [&] {
        EvaluationRun strict(corridor("fails-by-seed", "episodes = 20", "",
                                      "[failures]\nretries = 0\non_failure = \"stop\"\n"),
                             parse_policies({"uniform"}), {});
        finish(strict);
      },
      Errc::simulator, {"failed 1 times", "the same command goes on"});
}

// One episode that fails for one policy is one failure, and the others do not pay for it.
TEST(Evaluator, AFailureIsOneEpisodeHoweverManyPoliciesThereAre) {
  EvaluationSubject subject{.name = "x",
                            .rules = {.num_policies = 4, .episodes = 80},
                            .policies = {"a", "b", "c", "d"},
                            .policy_identities = {"a", "b", "c", "d"},
                            .simulators = {"expensive"},
                            .high = {},
                            .costs = {{.episode = 1, .step = {}}},
                            .failures = {.retries = 0}};
  Evaluator evaluator(subject, [](const VectorPath& path) { return path.rewards[0]; }, {});
  std::uint64_t paid_for_nothing = 0;
  for (auto requests = evaluator.ask(); !requests.empty(); requests = evaluator.ask())
    for (const EvaluationRequest& request : requests) {
      if (evaluator.evaluation().is_skipped(request.round.index)) continue;
      if (request.round.index == 5) {
        EXPECT_FALSE(evaluator.tell_failure(request, "no", 0).has_value());
        ++paid_for_nothing;
        continue;
      }
      VectorPath path{.observations = {0, 1}, .actions = {0}, .rewards = {0.5}};
      path.rewards[0] = static_cast<double>(request.round.index * 7 % 5 + request.policy);
      evaluator.tell(request, path, 0.01);
    }
  EXPECT_EQ(paid_for_nothing, 1U);
  EXPECT_EQ(evaluator.evaluation().skipped(), 1U);
}

TEST(Evaluator, APolicyCanBeAProgram) {
  const TemporaryFolder folder;
  const auto script =
      folder.write("right.py",
                   "import sys\n"
                   "for line in sys.stdin:\n"
                   "    words = line.split()\n"
                   "    print('ok' if words[0] == 'begin' else 'ok 1', flush=True)\n");
  const auto table = folder.write("right.json", table_policy(10, 2, 1));
  const EvaluationOutcome outcome =
      evaluate(corridor("good", "episodes = 20"),
               {fmt::format("program=command: python3 {}", script.string()), table.string()});
  EXPECT_EQ(outcome.policies[0].name, "program");
  EXPECT_EQ(outcome.policies[0].value.best.value, outcome.policies[1].value.best.value);
  const auto broken = folder.write("broken.py", "print('no')\n");
  expect_error(
      [&] {
        evaluate(corridor("good", "episodes = 20"),
                 {fmt::format("command: python3 {}", broken.string())});
      },
      Errc::simulator, {"broken.py", "begin"});
}

TEST(Evaluator, SeveralWorkersGiveTheSameResults) {
  const EvaluateSpec one = corridor("good", "episodes = 16");
  const EvaluateSpec four = corridor("good", "episodes = 16", "workers = 4");
  EXPECT_EQ(evaluation_json(evaluate(one, {"uniform"})),
            evaluation_json(evaluate(four, {"uniform"})));
}

TEST(Evaluator, RefusesWhatDoesNotFit) {
  const TemporaryFolder folder;
  const auto small = folder.write("small.json", table_policy(4, 2, 1));
  expect_error([&] { evaluate(spec_of("episodes = 20"), {small.string()}); }, Errc::usage,
               {"small.json", "4 states"});
  expect_error([&] { parse_policies({"uniform", "uniform"}); }, Errc::usage, {"uniform", "a="});
  expect_error([] { spec_of(""); }, Errc::spec, {"evaluate", "--budget"});
  expect_error([] { spec_of("episodes = 20\ncost = 3"); }, Errc::spec, {"both"});
  expect_error([] { spec_of("episodes = 20\nquantity = \"retrun\""); }, Errc::spec, {"retrun"});
  expect_error([] { spec_of("episodes = 20\nsuccess_above = 3"); }, Errc::spec, {"success_above"});
  expect_error([] { spec_of("episods = 20"); }, Errc::spec, {"episods", "episodes"});
  expect_error([&] { evaluate(spec_of("episodes = 20\ncoupling = \"start\""), {"uniform"}); },
               Errc::spec, {"coupling", "start"});
}

// Learning specs may have a table [evaluate], which learning ignores.
TEST(Evaluator, ALearnSpecMayHaveATableForEvaluation) {
  const LearnSpec spec =
      parse_learn_spec(plant("episodes = 30", "[budget]\nepisodes = 20\n"), "plant.toml");
  EXPECT_EQ(spec.budget.episodes, 20U);
}

// The final test of a learn run is sharpened by the cheap simulator, and the bill has it.
TEST(Evaluator, TheFinalTestOfALearnRunUsesTheCheapSimulator) {
  const TemporaryFolder folder;
  const LearnSpec spec =
      parse_learn_spec(plant("", "[budget]\nepisodes = 80\nreserve = 20\n"), "plant.toml");
  auto learner =
      std::make_unique<Learner>(spec, LearnFiles{.journal = folder.path() / "a.journal"});
  while (!learner->step()) {
  }
  const LearnOutcome outcome = learner->outcome();
  ASSERT_TRUE(outcome.value.controlled.has_value());
  const ControlledTestValue& value = *outcome.value.controlled;
  EXPECT_LT(value.standard_error, outcome.value.returns.standard_error);
  EXPECT_GT(value.worth_episodes, 20);
  EXPECT_NEAR(value.value, *learner->reference().policy, 4 * value.standard_error);
  const Bill bill = learner->bill();
  EXPECT_GT(bill.test_low_steps, 0U);
  EXPECT_GT(bill.low_steps, bill.test_low_steps);
  learner.reset();
  // The same after it is opened again.
  Learner again(spec, {.journal = folder.path() / "a.journal"});
  again.catch_up();
  EXPECT_EQ(again.outcome().value.controlled->value, value.value);
  EXPECT_EQ(again.bill().low_steps, bill.low_steps);
}

}  // namespace
}  // namespace hilo
