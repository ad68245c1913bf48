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
  const Stream stream(1, Purpose::user);
  simulator.step(out.after, out.actions, {&stream, 1}, 1, results);
  return out;
}

TEST(Calibration, FindsNumbersThatAreWrong) {
  ControlOptions truth{.mass_1 = 1.4, .friction_1 = 0.15};
  ControlOptions wrong{.mass_1 = 1, .friction_1 = 0};
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

// The torque and the mass enter as a ratio when nothing else pulls: neither is known.
TEST(Calibration, SaysWhatStepsDoNotDetermine) {
  ControlOptions truth{.mass_1 = 1.4, .process_noise = 0.3};
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
