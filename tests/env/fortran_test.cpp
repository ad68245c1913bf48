#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "hilo/agent/catalogue.hpp"
#include "hilo/env/grid_source.hpp"
#include "hilo/env/program/program_simulators.hpp"
#include "hilo/env/source_simulator.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::TemporaryFolder;

// The cart of examples/programs/cart.f90 as a part of this program. All of its numbers are
// multiples of a power of two, so that both compute the same bits.
class Cart final : public StepSource {
 public:
  explicit Cart(int substeps)
      : StepSource(Space::box({-2, -1}, {2, 1}), Space::discrete(3)), substeps_(substeps) {}

  void reset(std::uint32_t seed, Points& out) override {
    x_ = 1 + (seed / 2 % 16) / 16.0;
    if (seed % 2 == 0) x_ = -x_;
    v_ = 0;
    give(out);
  }
  bool put(const Point& observation, std::uint32_t /*seed*/) override {
    x_ = observation.coordinates()[0];
    v_ = observation.coordinates()[1];
    return rests(x_, v_);
  }
  SourceStep step(const Point& action, Points& out) override {
    const double length = 0.125 / substeps_;
    for (int i = 0; i < substeps_; ++i) {
      v_ = std::clamp(v_ + (static_cast<double>(action.index()) - 1) * length, -1.0, 1.0);
      x_ = std::clamp(x_ + v_ * length, -2.0, 2.0);
      if (std::abs(x_) >= 2) v_ = 0;
    }
    give(out);
    return {.reward = pays(x_, v_), .ended = rests(x_, v_)};
  }
  double reward(const Point&, const Point&, const Point& next) override {
    return pays(next.coordinates()[0], next.coordinates()[1]);
  }

 private:
  static bool rests(double x, double v) { return std::abs(x) <= 0.25 && std::abs(v) <= 0.25; }
  // Printed with six digits by the program, which is all that it has.
  static double pays(double x, double v) { return rests(x, v) ? 1 : -0.015625; }
  void give(Points& out) const {
    const double point[] = {x_, v_};
    out.push_back(std::span<const double>(point));
  }

  int substeps_;
  double x_ = 0, v_ = 0;
};

SourcePaths built_in(int substeps, const std::string& role) {
  const auto grid = std::make_shared<const Grid>(
      std::vector<std::uint64_t>{16, 8}, std::vector<double>{-2, -1}, std::vector<double>{2, 1});
  return {std::make_shared<GridSource>(std::make_shared<Cart>(substeps), grid, nullptr), {}, role};
}

// The values of an agent after some episodes.
std::vector<double> learnt(const Fidelities& pair, const std::string& kind) {
  const std::map<std::string, NamedValues> few = {{"bayes", {{"low_samples", std::int64_t{5}}}},
                                                  {"mfmcrl", {{"low_rollouts", std::int64_t{1}}}},
                                                  {"q-learning", {}}};
  const auto agent = build_agent(agent_kind(kind), pair, few.at(kind),
                                 {.gamma = 0.97,
                                  .epsilon = 0.1,
                                  .max_steps = 60,
                                  .truncation = Truncation::terminal,
                                  .seed = 5});
  agent->prepare();
  Episode episode;
  for (std::uint32_t e = 0; e < 12; ++e) {
    pair.high().run_episode(agent->behaviour(),
                            {.seed = 5, .purpose = Purpose::high_episode, .episode = e},
                            {.gamma = 0.97, .max_steps = 60}, episode);
    episode.truncated = false;
    agent->learn(episode);
  }
  return {agent->q().values().begin(), agent->q().values().end()};
}

TEST(Fortran, GivesTheSameBitsAsTheSameEquationsInside) {
  if (std::system("command -v gfortran > /dev/null") != 0) GTEST_SKIP() << "there is no gfortran";
  const TemporaryFolder folder;
  const std::string cart = (folder.path() / "cart").string();
  ASSERT_EQ(std::system(fmt::format("gfortran -O1 -o {} {}/examples/programs/cart.f90", cart,
                                    HILO_SOURCE_DIR)
                            .c_str()),
            0);
  const Fidelities through_programs(
      make_program_high({{"command", cart + " 4"}, {"grid", "16, 8"}}),
      make_program_low({{"command", cart + " 1"}, {"grid", "16, 8"}}));
  const Fidelities inside(std::make_shared<const SourceEpisodes>(built_in(4, "high fidelity")),
                          std::make_shared<const SourceSimulator>(built_in(1, "low fidelity")));
  for (const char* kind : {"bayes", "mfmcrl", "q-learning"})
    EXPECT_EQ(learnt(through_programs, kind), learnt(inside, kind)) << kind;
}

}  // namespace
}  // namespace hilo
