#include "hilo/model/calibration.hpp"

#include <gtest/gtest.h>

#include "hilo/env/control/control.hpp"
#include "support/expect_error.hpp"

namespace hilo {
namespace {

using testing::expect_error;

// Steps of a simulator at states and actions all over the place.
SeenSteps steps_of(const ControlSimulator& simulator, std::size_t count) {
  const std::size_t dimension = simulator.state_space().dimension();
  SeenSteps out{.before = Columns(dimension, count),
                .actions = Columns(1, count),
                .after = Columns(dimension, count)};
  Rng rng(Stream(5, Purpose::user));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t d = 0; d < dimension; ++d) out.before.at(d, i) = 4 * rng.uniform() - 2;
    out.actions.at(0, i) = 4 * rng.uniform() - 2;
  }
  out.after = out.before;
  StepResults results;
  results.resize(out.after.padded());
  std::vector<Stream> streams;
  for (std::uint32_t i = 0; i < count; ++i) streams.emplace_back(1, Purpose::user, 0, 0, i);
  simulator.step(out.after, out.actions, streams, 1, results);
  return out;
}

TEST(Calibration, FindsNumbersThatAreWrong) {
  const ControlOptions truth{.mass_1 = 1.4, .friction_1 = 0.15};
  const ControlOptions wrong{.mass_1 = 1, .friction_1 = 0};
  const std::vector<TuneRange> ranges = parse_tune("mass 0.5 2, friction 0 1");
  std::uint64_t steps = 0;
  const Calibration found =
      calibrate(ControlSimulator(wrong), ranges, steps_of(ControlSimulator(truth), 100),
                std::vector<double>{1.0, 0.5}, 1, 1, 8, steps);
  EXPECT_NEAR(found.values[0], 1.4, 1e-3);
  EXPECT_NEAR(found.values[1], 0.15, 1e-3);
  EXPECT_LT(found.deviations[0], 0.05);
  EXPECT_GT(steps, 100U * 100U);
}

// A value near the end of its range is known as well as one in the middle.
TEST(Calibration, DeviationsDoNotDependOnTheRange) {
  const ControlOptions truth{.mass_1 = 1.4, .process_noise = 0.05};
  const SeenSteps seen = steps_of(ControlSimulator(truth), 200);
  const auto deviation_in = [&](const char* text) {
    std::uint64_t steps = 0;
    return calibrate(ControlSimulator({}), parse_tune(text), seen, std::vector<double>{1.4}, 1, 1,
                     8, steps)
        .deviations[0];
  };
  const double wide = deviation_in("mass 0.5 2"), edge = deviation_in("mass 1.3 4");
  EXPECT_GT(wide, 0);
  EXPECT_NEAR(edge / wide, 1, 0.5);
}

// Noise of the cheap simulator's own is not taken for a number that is wrong.
TEST(Calibration, NoiseOfTheCheapSimulatorIsNoOffset) {
  const ControlOptions truth{.mass_1 = 1.4, .friction_1 = 0.3, .process_noise = 0.05};
  const ControlOptions wrong{.process_noise = 0.05};
  const std::vector<TuneRange> ranges = parse_tune("mass 0.5 2, friction 0 1");
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    std::uint64_t steps = 0;
    const Calibration found =
        calibrate(ControlSimulator(wrong), ranges, steps_of(ControlSimulator(truth), 400),
                  std::vector<double>{1.0, 0.5}, seed, 1, 8, steps);
    EXPECT_NEAR(found.values[0], 1.4, 5 * found.deviations[0] + 0.05) << seed;
    EXPECT_NEAR(found.values[1], 0.3, 5 * found.deviations[1] + 0.05) << seed;
  }
}

// Few steps with much noise leave a number open.
TEST(Calibration, SaysWhatStepsDoNotDetermine) {
  const ControlOptions truth{.mass_1 = 1.4, .process_noise = 0.3};
  const std::vector<TuneRange> ranges = parse_tune("mass 0.5 2, friction 0 1");
  std::uint64_t steps = 0;
  const auto deviation_of = [&](std::size_t count) {
    return calibrate(ControlSimulator({}), ranges, steps_of(ControlSimulator(truth), count),
                     std::vector<double>{1.0, 0.5}, 1, 1, 8, steps)
        .deviations[0];
  };
  const double few = deviation_of(16), many = deviation_of(400);
  EXPECT_GT(few, 2 * many);
}

TEST(Calibration, ReadsRanges) {
  const std::vector<TuneRange> ranges = parse_tune("friction 0 1, mass 0.5 2e1");
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[1].name, "mass");
  EXPECT_EQ(ranges[1].low, 0.5);
  EXPECT_EQ(ranges[1].high, 20);
  EXPECT_TRUE(parse_tune("none").empty());
  for (const char* bad :
       {"", "mass", "mass 1", "mass 2 1", "mass 1 2 3", "mass 1 inf", "mass 1 nan",
        "mass 1 2, mass 1 2", "a 0 1, b 0 1, c 0 1, d 0 1, e 0 1", " ", ",", "m 1 2,"})
    expect_error([&] { parse_tune(bad); }, Errc::spec, {"tune"});
}

}  // namespace
}  // namespace hilo
