#include "hilo/report/detail/control_pictures.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "hilo/agent/corrected.hpp"
#include "hilo/core/error.hpp"
#include "hilo/env/vector_environment.hpp"
#include "hilo/report/learn_page.hpp"
#include "support/markup.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::count_of;
using testing::fault_of;
using testing::TemporaryFolder;

// A search that is too small to learn much, and quick.
std::string small_spec(const std::string& problem, const std::string& agent = "corrected",
                       std::uint64_t reserve = 2, std::uint64_t episodes = 4) {
  return fmt::format(
      "spec_version = 1\nname = \"a\"\nseed = 3\n[problem]\nkind = \"{}\"\n[train]\n"
      "gamma = 1\nmax_steps = 30\n[budget]\nepisodes = {}\nreserve = {}\n[cost]\nhigh_step = 1\n"
      "[agent]\nkind = \"{}\"\nscenarios = 2\npopulation = 4\ngenerations = 2\nrestarts = 1\n"
      "frequencies = 20\nfit_points = 30\n",
      problem, episodes, reserve, agent);
}

Learner learnt(const TemporaryFolder& folder, const std::string& spec,
               const std::shared_ptr<const ProblemKind>& own = nullptr) {
  Learner learner(parse_learn_spec(spec, "spec", {}, own),
                  {.journal = folder.path() / "a.journal", .durable = false});
  while (!learner.step()) {
  }
  return learner;
}

TEST(ControlPictures, AreThereForEveryBuiltInSystem) {
  for (const char* kind : {"pendulum", "cart-pole", "acrobot"}) {
    const TemporaryFolder folder;
    const Learner learner = learnt(folder, small_spec(kind));
    const ControlPictures pictures = make_control_pictures(learner);
    for (const std::string& part : {pictures.episode, pictures.policy, pictures.residuals})
      EXPECT_EQ(fault_of(part), "") << kind;
    const std::size_t frames = count_of(pictures.episode, "<svg ");
    EXPECT_GE(frames, 8U) << kind;
    EXPECT_LE(frames, 13U) << kind;
    EXPECT_EQ(count_of(pictures.episode, "<title>t = "), frames);
    EXPECT_NE(pictures.episode.find("test episode 2"), std::string::npos);
    EXPECT_EQ(count_of(pictures.policy, "<svg "), 1U);
    EXPECT_NE(pictures.policy.find("angular velocity"), std::string::npos);
    EXPECT_NE(pictures.residuals.find("2 test episodes, which were not learnt from"),
              std::string::npos);
    const std::string page = make_learn_page(learner, "test");
    for (const std::string& part : {pictures.episode, pictures.policy, pictures.residuals})
      EXPECT_NE(page.find(part), std::string::npos) << kind;
    EXPECT_LT(page.size(), 150'000U);
    EXPECT_EQ(page.find("<script"), std::string::npos);
  }
}

// The numbers of the caption, by the model and the simulators alone.
TEST(ControlPictures, SayHowOftenTheResidualIsInItsInterval) {
  const TemporaryFolder folder;
  const Learner learner = learnt(folder, small_spec("acrobot"));
  const VectorProblem problem = build_vector_problem(*learner.spec().config().problem_kind,
                                                     learner.spec().config().problem, 3);
  const ResidualModel& model = *dynamic_cast<const Corrected&>(learner.agent()).model();
  std::vector<std::size_t> inside(4, 0), all(4, 0);
  learner.for_each_attempt([&](const Attempt& attempt) {
    if (!attempt.at.test) return;
    const VectorPath& path = *attempt.paid.vectors;
    for (std::size_t t = 0; t < path.length(); ++t) {
      const std::span<const double> state(path.observations.data() + 4 * t, 4);
      const std::span<const double> next(path.observations.data() + 4 * (t + 1), 4);
      Columns after(4, 1), action(1, 1);
      after.fill(state);
      action.at(0, 0) = path.actions[t];
      StepResults results;
      results.resize(after.padded());
      const Stream stream(0, Purpose::low_rollout, 0, 0, 0);
      problem.pair.shared_low()->step(after, action, {&stream, 1}, 1, results);
      const auto predicted = model.predict(state, {&path.actions[t], 1});
      for (std::size_t d = 0; d < 4; ++d) {
        double seen = next[d] - after.at(d, 0);
        if (d < 2) seen = std::remainder(seen, 2 * M_PI);
        ++all[d];
        inside[d] +=
            std::abs(seen - predicted.mean[d]) <= 1.959964 * predicted.deviation[d] ? 1 : 0;
      }
    }
  });
  const std::string part = make_control_pictures(learner).residuals;
  const char* names[] = {"angle 1", "angle 2", "angular velocity 1", "angular velocity 2"};
  for (std::size_t d = 0; d < 4; ++d) {
    EXPECT_EQ(all[d], 60U);
    const double share = 100 * static_cast<double>(inside[d]) / 60;
    EXPECT_NE(part.find(fmt::format("{} {:.1f} % of 60 steps", names[d], share)), std::string::npos)
        << names[d] << " " << share << " " << part.substr(part.find("Inside are"));
    EXPECT_NE(part.find(fmt::format("Residual of {}: predicted against seen, {} of 60 inside",
                                    names[d], inside[d])),
              std::string::npos);
  }
}

TEST(ControlPictures, WithoutATestShowTheLastTrainingEpisodeAndSaySo) {
  const TemporaryFolder folder;
  const Learner learner = learnt(folder, small_spec("pendulum", "corrected", 0, 2));
  const ControlPictures pictures = make_control_pictures(learner);
  EXPECT_NE(pictures.episode.find("training episode 2"), std::string::npos);
  EXPECT_NE(pictures.episode.find("it was learnt from"), std::string::npos);
  EXPECT_NE(pictures.residuals.find("which the model has learnt from"), std::string::npos);
}

// A test of a policy that training has left behind says nothing of the final one.
TEST(ControlPictures, LeaveOutTestsOfEarlierPolicies) {
  const TemporaryFolder folder;
  learnt(folder, small_spec("pendulum", "corrected", 2, 4));
  const Learner more = learnt(folder, small_spec("pendulum", "corrected", 0, 6));
  const std::string part = make_control_pictures(more).episode;
  EXPECT_NE(part.find("training episode"), std::string::npos) << part;
}

TEST(ControlPictures, WithoutAModelHaveNoResiduals) {
  const TemporaryFolder folder;
  const Learner learner =
      learnt(folder,
             "spec_version = 1\nname = \"a\"\n[problem]\nkind = \"pendulum\"\n[train]\ngamma = 1\n"
             "max_steps = 20\n[budget]\nepisodes = 4\nreserve = 1\n[cost]\nhigh_step = 1\n[agent]\n"
             "kind = \"direct\"\n");
  const ControlPictures pictures = make_control_pictures(learner);
  EXPECT_NE(pictures.episode, "");
  EXPECT_NE(pictures.policy, "");
  EXPECT_EQ(pictures.residuals, "");
}

TEST(ControlPictures, AreNothingForTables) {
  const TemporaryFolder folder;
  const Learner learner = learnt(
      folder,
      "spec_version = 1\nname = \"a\"\n[problem]\nkind = \"random-mdp\"\nstates = 20\nactions = 3\n"
      "[train]\ngamma = 0.9\n[budget]\nepisodes = 4\n[cost]\nhigh_step = 1\n");
  const ControlPictures pictures = make_control_pictures(learner);
  EXPECT_EQ(pictures.episode + pictures.policy + pictures.residuals, "");
}

// Three coordinates, of which one never changes, and three actions; no cheap simulator.
struct Slide {
  struct State {
    double x, v;
  };
  Space observation_space() const {
    return Space::box({-INFINITY, -INFINITY, -5}, {INFINITY, INFINITY, 5});
  }
  Space action_space() const { return Space::discrete(3); }
  State reset(Rng& rng) const { return {100 * rng.uniform(), 0}; }
  VectorStep<State> step(const State& s, const Point& action, Rng& rng) const {
    const double v = s.v + static_cast<double>(action.index()) - 1 + 0.1 * rng.uniform();
    return {{s.x + v, v}, -std::abs(s.x), false};
  }
  std::array<double, 3> observe(const State& s) const { return {s.x, s.v, 1}; }
};

TEST(ControlPictures, ShowProblemsOfOnesOwn) {
  const auto kind = std::make_shared<const ProblemKind>(
      ProblemKind{.name = "slide",
                  .description = "a slide",
                  .build_vectors = [](const Parameters&, std::uint64_t) -> VectorProblem {
                    return {.pair = VectorFidelities(make_vector_simulator(Slide{}))};
                  }});
  const TemporaryFolder folder;
  const Learner learner = learnt(folder, small_spec("slide", "corrected-high"), kind);
  const ControlPictures pictures = make_control_pictures(learner);
  for (const std::string& part : {pictures.episode, pictures.policy, pictures.residuals})
    EXPECT_EQ(fault_of(part), "");
  EXPECT_EQ(count_of(pictures.episode, "<svg "), 4U);  // three coordinates and the action
  EXPECT_NE(pictures.policy.find("at every coordinate 0 and coordinate 1"), std::string::npos);
  EXPECT_NE(pictures.policy.find(">action 2</text>"), std::string::npos);
  EXPECT_NE(pictures.residuals.find("no cheap simulator is used"), std::string::npos);
  EXPECT_EQ(pictures.residuals.find("Residual of coordinate 2"), std::string::npos);  // constant
  EXPECT_NE(pictures.residuals.find("Residual of reward"), std::string::npos);
  if (const char* keep = std::getenv("HILO_KEEP_PAGE"))
    std::ofstream(keep) << make_learn_page(learner, "test");
}

// A cheap simulator that may fail.
class Mortal final : public VectorSteps {
 public:
  explicit Mortal(std::shared_ptr<const VectorSteps> inner) : inner_(std::move(inner)) {}

  const Space& state_space() const override { return inner_->state_space(); }
  const Space& control_space() const override { return inner_->control_space(); }
  std::span<const std::size_t> angles() const override { return inner_->angles(); }
  void start(const StreamAddress& streams, Columns& states) const override {
    inner_->start(streams, states);
  }
  void step(Columns& states, const Columns& actions, std::span<const Stream> streams,
            std::uint32_t step, StepResults& out) const override {
    if (is_dead) throw Error(Errc::simulator, "it <died>");
    inner_->step(states, actions, streams, step, out);
  }

  mutable bool is_dead = false;

 private:
  std::shared_ptr<const VectorSteps> inner_;
};

TEST(ControlPictures, DoNotCostThePageIfTheCheapSimulatorFails) {
  const ProblemKind& pendulum = problem_kind("pendulum");
  std::shared_ptr<const Mortal> cheap;
  ProblemKind kind = pendulum;
  kind.name = "mortal";
  kind.build_vectors = [&](const Parameters& p, std::uint64_t seed) -> VectorProblem {
    const VectorProblem whole = pendulum.build_vectors(p, seed);
    cheap = std::make_shared<const Mortal>(whole.pair.shared_low());
    return {.pair = VectorFidelities(whole.pair.shared_high(), cheap)};
  };
  const TemporaryFolder folder;
  const Learner learner =
      learnt(folder, small_spec("mortal"), std::make_shared<const ProblemKind>(kind));
  EXPECT_NE(make_control_pictures(learner).residuals.find("<figure>"), std::string::npos);
  cheap->is_dead = true;
  const ControlPictures pictures = make_control_pictures(learner);
  EXPECT_NE(pictures.episode, "");
  EXPECT_EQ(fault_of(pictures.residuals), "");
  EXPECT_NE(pictures.residuals.find("not shown"), std::string::npos);
  EXPECT_NE(pictures.residuals.find("it &lt;died&gt;"), std::string::npos);
}

}  // namespace
}  // namespace hilo
