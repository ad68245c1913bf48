#include "hilo/model/residual_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "hilo/core/error.hpp"
#include "hilo/model/corrected_steps.hpp"

namespace hilo {
namespace {

// Two coordinates, one of them an angle, and one action. The cheap simulator says that nothing
// happens; the expensive one moves the second coordinate by a smooth function.
double truth(double angle, double x, double a) { return 0.3 * std::sin(angle) * a + 0.1 * x; }

Space states() { return Space::box({-3.141592653589793, -2}, {3.141592653589793, 2}); }
Space actions() { return Space::box({-1}, {1}); }

ResidualData data_of(std::uint32_t episodes, double noise, std::uint32_t seed,
                     double outliers = 0) {
  ResidualData out(states(), actions(), {0});
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<> uniform(-1, 1);
  std::normal_distribution<> normal;
  for (std::uint32_t e = 0; e < episodes; ++e)
    for (int t = 0; t < 60; ++t) {
      const double angle = 3 * uniform(random), x = uniform(random), a = uniform(random);
      double next = x + truth(angle, x, a) + noise * normal(random);
      if (uniform(random) > 1 - 2 * outliers) next += 1;
      const double state[] = {angle, x}, after[] = {angle, next};
      out.add(e, state, {&a, 1}, after, 0.5 * x, state, 0);
    }
  return out;
}

ResidualOptions quick() {
  ResidualOptions out;
  out.frequencies = 60;
  out.process.iterations = 30;
  out.process.most_points = 120;
  return out;
}

TEST(GaussianProcess, GradientsAgreeWithDifferences) {
  Columns inputs(3, 25), outputs(2, 25);
  std::mt19937_64 random(4);
  std::normal_distribution<> normal;
  for (std::size_t i = 0; i < 25; ++i) {
    for (std::size_t d = 0; d < 3; ++d) inputs.at(d, i) = normal(random);
    outputs.at(0, i) = std::sin(inputs.at(0, i)) + 0.1 * normal(random);
    outputs.at(1, i) = inputs.at(1, i) * inputs.at(2, i);
  }
  const ProcessScales scales{
      .length = {0.9, 1.4, 2.0}, .signal = {1.1, 0.8}, .linear = {0.3, 0.5}, .noise = {0.1, 0.2}};
  std::vector<double> gradient;
  log_likelihood(inputs, outputs, scales, &gradient);
  ASSERT_EQ(gradient.size(), 9U);
  const auto moved = [&](std::size_t k, double by) {
    ProcessScales out = scales;
    double* all[] = {&out.length[0], &out.length[1], &out.length[2], &out.signal[0], &out.signal[1],
                     &out.linear[0], &out.linear[1], &out.noise[0],  &out.noise[1]};
    *all[k] *= std::exp(by);
    return log_likelihood(inputs, outputs, out, nullptr);
  };
  for (std::size_t k = 0; k < 9; ++k)
    EXPECT_NEAR(gradient[k], (moved(k, 1e-5) - moved(k, -1e-5)) / 2e-5,
                1e-4 * (1 + std::abs(gradient[k])))
        << k;
}

TEST(ResidualModel, WithoutDataItIsTheCheapSimulator) {
  const ResidualModel model(ResidualData(states(), actions(), {0}), quick(), 1);
  EXPECT_TRUE(model.is_empty());
  Columns before(2, 3), control(1, 3), next(2, 3);
  next.at(1, 1) = 0.7;
  std::vector<double> rewards(next.padded(), 2.0);
  model.correct(model.mean(), before, control, next, rewards);
  EXPECT_EQ(next.at(1, 1), 0.7);
  EXPECT_EQ(rewards[0], 2);
  const double state[] = {0, 0}, action[] = {0};
  EXPECT_EQ(model.predict(state, action).deviation, (std::vector<double>{0, 0, 0}));
}

TEST(ResidualModel, LearnsAFunctionAndLeavesOutWhatIsExact) {
  const ResidualModel model(data_of(4, 0, 1), quick(), 1);
  std::mt19937_64 random(9);
  std::uniform_real_distribution<> uniform(-1, 1);
  for (int k = 0; k < 50; ++k) {
    const double state[] = {3 * uniform(random), uniform(random)}, action[] = {uniform(random)};
    const auto prediction = model.predict(state, action);
    EXPECT_NEAR(prediction.mean[1], truth(state[0], state[1], action[0]), 0.02);
    EXPECT_EQ(prediction.mean[0], 0);  // the angle has no residual
    EXPECT_EQ(prediction.deviation[0], 0);
    EXPECT_NEAR(prediction.mean[2], 0.5 * state[1], 0.01);  // the reward
  }
  // The action enters only as a product with the sine, the cosine not at all.
  const ProcessScales& scales = model.scales();
  EXPECT_GT(scales.length[0], scales.length[1]);
}

TEST(ResidualModel, IntervalsHoldAlsoWithNoiseAndContacts) {
  for (const double outliers : {0.0, 0.03}) {
    double held = 0, all = 0, width = 0;
    for (std::uint32_t seed = 0; seed < 5; ++seed) {
      const ResidualModel model(data_of(5, 0.05, seed, outliers), quick(), seed);
      const ResidualData fresh = data_of(1, 0.05, 100 + seed, 0);
      for (std::size_t a = 0; a < fresh.size(); ++a) {
        const double angle = std::atan2(fresh.inputs[a * 4 + 1], fresh.inputs[a * 4]);
        const double state[] = {angle, fresh.inputs[a * 4 + 2]},
                     action[] = {fresh.inputs[a * 4 + 3]};
        const auto prediction = model.predict(state, action);
        held += std::abs(fresh.outputs[a * 3 + 1] - prediction.mean[1]) <=
                        1.96 * prediction.deviation[1]
                    ? 1
                    : 0;
        width += prediction.deviation[1];
        ++all;
      }
    }
    // 300 steps: the standard error of a share of 0.95 is 0.013.
    EXPECT_GT(held / all, 0.90) << outliers;
    EXPECT_LT(width / all, 0.15) << outliers;  // contacts of 1 are not taken for noise
  }
}

TEST(ResidualModel, SamplesAgreeWithTheMeanWhereThereAreData) {
  const auto model = std::make_shared<const ResidualModel>(data_of(4, 0.01, 1), quick(), 1);
  Columns before(2, 5), control(1, 5);
  for (std::size_t i = 0; i < 5; ++i) {
    before.set(i, std::vector<double>{0.5 * static_cast<double>(i) - 1, 0.2});
    control.at(0, i) = 0.3;
  }
  std::vector<double> rewards(before.padded());
  Columns mean = before;
  model->correct(model->mean(), before, control, mean, rewards);
  EXPECT_EQ(model->sample(Stream(1, Purpose::search)).weights,
            model->sample(Stream(1, Purpose::search)).weights);
  double spread = 0;
  for (std::uint32_t k = 0; k < 20; ++k) {
    Columns one = before;
    model->correct(model->sample(Stream(1, Purpose::search, k)), before, control, one, rewards);
    for (std::size_t i = 0; i < 5; ++i) spread += std::abs(one.at(1, i) - mean.at(1, i)) / 100;
  }
  EXPECT_GT(spread, 1e-5);
  EXPECT_LT(spread, 0.02);
  // The same model from its scales, to the last bit.
  const ResidualModel again(data_of(4, 0.01, 1), quick(), 1, model->scales());
  EXPECT_EQ(again.mean().weights, model->mean().weights);
}

TEST(ResidualModel, ClampedStepsAreNoData) {
  ResidualData data(states(), actions(), {0});
  const double state[] = {0, 1.9}, at_bound[] = {0, 2}, inside[] = {0, 1.5}, action[] = {0};
  data.add(0, state, action, at_bound, 0, state, 0);
  data.add(0, state, action, inside, 0, at_bound, 0);
  data.add(0, state, action, inside, 0, state, 0);
  EXPECT_EQ(data.seen, (std::vector<double>{1, 0, 1, 1, 0, 1, 1, 1, 1}));
  // Residuals of angles go the short way round.
  const double left[] = {-3.1, 0}, right[] = {3.1, 0};
  data.add(0, left, action, right, 0, left, 0);
  EXPECT_NEAR(data.outputs[9], 6.2 - 2 * 3.141592653589793, 1e-12);
}

TEST(ResidualModel, StepsThatAreNoNumbersAreNoData) {
  ResidualData data(states(), actions(), {0});
  const double state[] = {0, 0.5}, broken[] = {0.1, NAN}, next[] = {0.1, 0.6}, action[] = {0};
  data.add(0, state, action, next, 0, broken, 0);
  data.add(0, state, action, next, 0, state, INFINITY);
  EXPECT_EQ(data.seen, std::vector<double>(6, 0.0));
  EXPECT_EQ(data.outputs, std::vector<double>(6, 0.0));
  EXPECT_TRUE(ResidualModel(data, quick(), 1).is_empty());
}

// Bounds that are declared hold, however far away; where there are none, 1e9 does.
TEST(CorrectedSteps, KeepsStatesThatAreFarAway) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Space space = Space::box({0, -kInfinity}, {1e12, kInfinity});
  auto nothing = std::make_shared<const NoSimulator>(space, actions(), std::vector<std::size_t>{});
  const CorrectedSteps steps(nothing, Correction());
  Columns states(2, 1), control(1, 1);
  const double far[] = {7e11, 1e10};
  states.set(0, far);
  StepResults results;
  results.resize(states.padded());
  const Stream stream(0, Purpose::search);
  steps.step(states, control, {&stream, 1}, 1, results);
  EXPECT_EQ(states.at(0, 0), 7e11);
  EXPECT_EQ(states.at(1, 0), 1e9);
}

TEST(CorrectedSteps, StaysInTheBoxAndOnTheCircle) {
  auto nothing =
      std::make_shared<const NoSimulator>(states(), actions(), std::vector<std::size_t>{0});
  ResidualData data(states(), actions(), {0});
  std::mt19937_64 random(2);
  std::uniform_real_distribution<> uniform(-1, 1);
  for (int t = 0; t < 80; ++t) {
    const double state[] = {3 * uniform(random), uniform(random)}, action[] = {uniform(random)};
    const double next[] = {state[0] + 0.4, std::min(state[1] + 0.9, 1.99)};
    data.add(0, state, action, next, 0, state, 0);
  }
  auto model = std::make_shared<const ResidualModel>(data, quick(), 1);
  const CorrectedSteps corrected(nothing, Correction(model, model->mean()));
  Columns paths(2, 4), control(1, 4);
  StepResults results;
  results.resize(paths.padded());
  const Stream stream(0, Purpose::search);
  for (std::uint32_t t = 0; t < 50; ++t) {
    corrected.step(paths, control, {&stream, 1}, t + 1, results);
    for (std::size_t i = 0; i < 4; ++i) {
      const double point[] = {paths.at(0, i), paths.at(1, i)};
      EXPECT_TRUE(states().contains(std::span<const double>(point))) << t;
    }
  }
}

}  // namespace
}  // namespace hilo
