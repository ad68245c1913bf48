#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hilo/driver/learn_json.hpp"
#include "hilo/driver/learner.hpp"
#include "hilo/policy/network_file.hpp"
#include "hilo/policy/softmax_policy.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

// A search that is too small to learn much, and quick.
LearnSpec small_spec(std::uint64_t episodes = 5, const std::string& agent = "corrected") {
  return parse_learn_spec(
      "spec_version = 1\nname = \"a\"\nseed = 3\n[problem]\nkind = \"pendulum\"\n[train]\n"
      "gamma = 1\nmax_steps = 30\n[budget]\nepisodes = " +
          std::to_string(episodes) + "\nreserve = 2\n[cost]\nhigh_step = 1\n[agent]\nkind = \"" +
          agent +
          "\"\nscenarios = 2\npopulation = 4\ngenerations = 2\nrestarts = 1\n"
          "frequencies = 20\nfit_points = 30\n",
      "spec");
}

std::string finish(Learner& learner) {
  while (!learner.step()) {
  }
  return policy_json(learner);
}

TEST(LearnerVectors, LearnsANetworkAndSaysWhatItIsWorth) {
  const TemporaryFolder folder;
  Learner learner(small_spec(), {.journal = folder.path() / "a.journal", .durable = false});
  const std::string policy = finish(learner);
  EXPECT_TRUE(is_network(policy));
  EXPECT_EQ(learner.table_agent(), nullptr);
  EXPECT_EQ(learner.bill().training, 3U);
  EXPECT_EQ(learner.bill().testing, 2U);
  EXPECT_EQ(learner.bill().steps, 150U);
  EXPECT_EQ(learner.outcome().value.returns.n, 2U);
  EXPECT_TRUE(learner.outcome().believed.has_value());
}

TEST(LearnerVectors, GoesOnWithTheSameBits) {
  const TemporaryFolder folder;
  std::string whole;
  {
    Learner undisturbed(small_spec(), {.journal = folder.path() / "a.journal", .durable = false});
    whole = finish(undisturbed);
  }
  for (const bool use_checkpoint : {true, false}) {
    const auto file = folder.path() / (use_checkpoint ? "b.journal" : "c.journal");
    std::string policy;
    for (int process = 0; process < 20 && policy.empty(); ++process) {
      Learner learner(small_spec(), {.journal = file,
                                     .durable = false,
                                     .checkpoint_every = 0,
                                     .use_checkpoint = use_checkpoint});
      if (learner.step()) policy = policy_json(learner);
      EXPECT_TRUE(learner.notes().empty());
    }
    EXPECT_EQ(policy, whole);
  }
  // A larger budget continues the run.
  Learner more(small_spec(9), {.journal = folder.path() / "a.journal", .durable = false});
  finish(more);
  EXPECT_EQ(more.bill().training, 5U);
  EXPECT_EQ(more.replayed(), 0U);  // from the checkpoint
}

// Requests and answers through files, by a caller that knows the network's formula alone.
TEST(LearnerVectors, AskAndTellGiveTheSameBits) {
  const TemporaryFolder folder;
  Learner undisturbed(small_spec(), {.journal = folder.path() / "a.journal", .durable = false});
  const std::string whole = finish(undisturbed);
  const LearnSpec spec = small_spec();
  const VectorProblem problem =
      build_vector_problem(*spec.config().problem_kind, spec.config().problem, spec.seed);
  std::string policy;
  for (int i = 0; i < 20 && policy.empty(); ++i) {
    Learner learner(spec, {.journal = folder.path() / "b.journal", .durable = false});
    const auto request = learner.ask();
    if (!request) {
      policy = policy_json(learner);
      break;
    }
    const auto asked = nlohmann::json::parse(request_json(*request, spec));
    EXPECT_EQ(asked["noise"].size(), 30U);
    VectorEpisode episode(problem.pair.high());
    problem.pair.high().run_episode(request->vectors(), request->streams, request->horizon,
                                    episode);
    nlohmann::json told = {{"episode", request->at.episode},
                           {"observations", nlohmann::json::array()},
                           {"actions", nlohmann::json::array()},
                           {"rewards", episode.rewards},
                           {"truncated", episode.truncated}};
    if (request->at.test) told["test"] = *request->at.test;
    const auto network = parse_network(asked["policy"].dump(), "request");
    Points seen(network->observation_space()), chosen(network->action_space());
    std::vector<ActionWords> words(episode.length());
    for (std::size_t t = 0; t <= episode.length(); ++t) {
      const auto x = episode.observations[t].coordinates();
      told["observations"].push_back(std::vector<double>(x.begin(), x.end()));
      if (t == episode.length()) break;
      told["actions"].push_back(episode.actions[t].coordinates()[0]);
      seen.push_back(episode.observations[t]);
    }
    network->act(seen, words, chosen);
    for (std::size_t t = 0; t < episode.length(); ++t) {
      const double noise = asked["noise"][t][0].get<double>();
      EXPECT_DOUBLE_EQ(std::clamp(chosen[t].coordinates()[0] + noise, -2.0, 2.0),
                       episode.actions[t].coordinates()[0]);
    }
    learner.tell(*read_told(told.dump(), "told.json").vectors);
  }
  EXPECT_EQ(policy, whole);
}

// The action is the largest of the network's outputs plus the row of the request.
TEST(LearnerVectors, ARequestSaysHowNumberedActionsAreDrawn) {
  const NetworkShape shape{.observations = Space::box({-1}, {1}),
                           .actions = Space::discrete(3),
                           .angles = {},
                           .centre = {0},
                           .scale = {1},
                           .layers = {}};
  const std::vector<double> weights = {0.5, 0, -0.5, 0.1, 1, -0.2};  // slope and bias of each
  const auto policy = std::make_shared<const SoftmaxPolicy>(shape, weights);
  const LearnRequest request{.streams = {.seed = 4, .purpose = Purpose::high_episode},
                             .horizon = {.max_steps = 30},
                             .policy = std::shared_ptr<const Policy>(policy)};
  const auto asked = nlohmann::json::parse(request_json(request, small_spec()));
  ASSERT_EQ(asked["noise"].size(), 30U);
  for (std::uint32_t t = 0; t < 30; ++t) {
    const double x = t / 30.0;
    Points seen(shape.observations), chosen(shape.actions);
    seen.push_back(std::span(&x, 1));
    Rng rng = Rng::of_step(request.streams.stream(), t + 1);
    const ActionWords words = draw_action_words(rng);
    policy->act(seen, {&words, 1}, chosen);
    std::vector<double> outputs;
    for (std::size_t a = 0; a < 3; ++a)
      outputs.push_back(weights[2 * a] * x + weights[2 * a + 1] +
                        asked["noise"][t][a].get<double>());
    EXPECT_EQ(std::ranges::max_element(outputs) - outputs.begin(),
              static_cast<std::ptrdiff_t>(chosen[0].index()));
  }
}

TEST(LearnerVectors, RefusesEpisodesThatAreNotItsOwn) {
  const TemporaryFolder folder;
  Learner learner(small_spec(), {.journal = folder.path() / "a.journal", .durable = false});
  ASSERT_TRUE(learner.ask());
  VectorPath path{.observation_size = 2,
                  .action_size = 1,
                  .observations = {0, 0, 0.1, 0},
                  .actions = {0.5},
                  .rewards = {1},
                  .truncated = true};
  const auto refused = [&](const VectorPath& bad, const char* why) {
    expect_error([&] { learner.tell(bad); }, Errc::simulator, {why});
  };
  VectorPath bad = path;
  bad.actions = {7};
  refused(bad, "action 0");
  bad = path;
  bad.rewards = {NAN};
  refused(bad, "reward 0");
  bad = path;
  bad.observations = {0, 0, 0.1};
  refused(bad, "one observation more");
  bad = path;
  bad.observation_size = 3;
  refused(bad, "observations of 3 numbers");
  expect_error([&] { learner.tell(Episode()); }, Errc::simulator, {"vectors"});
  EXPECT_EQ(learner.bill().attempts, 0U);
}

TEST(LearnerVectors, TakesCorrectedByDefault) {
  const auto choice = [](const std::string& problem) {
    return parse_learn_spec("spec_version = 1\nname = \"a\"\n[problem]\nkind = \"" + problem +
                                "\"\n[budget]\nepisodes = 5\n",
                            "spec")
        .config()
        .agent->name;
  };
  for (const char* problem : {"pendulum", "cart-pole", "acrobot"})
    EXPECT_EQ(choice(problem), "corrected");
  expect_error([] { small_spec(5, "bayes"); }, Errc::spec, {"bayes"});
}

}  // namespace
}  // namespace hilo
