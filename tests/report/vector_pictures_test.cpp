#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hilo/policy/function_policy.hpp"
#include "hilo/report/detail/film_strip.hpp"
#include "hilo/report/detail/phase_plot.hpp"
#include "hilo/report/detail/residual_panels.hpp"
#include "support/markup.hpp"

// The parts of control_pictures.cpp, with input that no run gives.
namespace hilo {
namespace {

using testing::count_of;
using testing::fault_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Spaces final : public AnySimulator {
 public:
  Spaces(Space observations, Space actions)
      : AnySimulator(std::move(observations), std::move(actions)) {}
};

VectorView view_with(const std::vector<std::string>& coordinates) {
  return {.system = nullptr,
          .coordinates = coordinates,
          .actions = {"pull & <push>"},
          .angles = {},
          .plane = {}};
}

TEST(Plot, TicksEndHoweverLargeTheNumbersAre) {
  EXPECT_EQ(ticks_of(0, 1).size(), 6U);
  EXPECT_EQ(ticks_of(-0.1, 0.1)[2], 0);
  EXPECT_LE(ticks_of(1e16, 1e16 + 4).size(), 20U);
  EXPECT_LE(ticks_of(-1e308, 1e308).size(), 20U);
  EXPECT_TRUE(ticks_of(NAN, NAN).empty());
  const Scale constant = scale_of(1e300, 1e300, 0, 10);
  EXPECT_DOUBLE_EQ(constant(1e300), 5);
}

TEST(Plot, LinesAreBrokenWhereThereIsNoNumber) {
  const std::string line = line_svg(
      {{0, 0}, {1, 1}, {NAN, 2}, {3, 3}, {4, kInfinity}, {5, 5}, {6, 6}}, "stroke=\"red\"");
  EXPECT_EQ(fault_of(line), "");
  EXPECT_EQ(count_of(line, "<polyline"), 2U);  // a single place makes no line
}

TEST(FilmStrip, ShowsInstantsFromTheFirstToTheLast) {
  const ControlSimulator pendulum({.system = ControlSystem::pendulum});
  const VectorView view = view_of(pendulum);
  VectorEpisode episode(pendulum);
  const auto add = [&](double angle) {
    episode.observations.push_back(std::vector<double>{angle, 0});
  };
  add(0);
  EXPECT_EQ(film_strip(view, episode), "");  // no step was taken
  for (int t = 0; t < 40; ++t) {
    episode.actions.push_back(std::vector<double>{0});
    episode.rewards.push_back(0);
    add(t < 10 ? 0.3 * t : 3);
  }
  const std::string strip = film_strip(view, episode);
  EXPECT_EQ(fault_of(strip), "");
  EXPECT_NE(strip.find("t = 0 s: angle 0, angular velocity 0"), std::string::npos);
  EXPECT_NE(strip.find("t = 2 s: angle 3, angular velocity 0"), std::string::npos);
  EXPECT_EQ(count_of(strip, "<svg "), 10U);
  // Upright at first: the rod goes up from the middle of the frame, by a length of 1 / 1.12 of it.
  EXPECT_NE(strip.find("<line x1=\"52.0\" y1=\"52.0\" x2=\"52.0\" y2=\"5.6\""), std::string::npos);
}

TEST(FilmStrip, OfFewStepsAndOfNumbersThatAreNoneIsWhole) {
  for (const ControlSystem system :
       {ControlSystem::pendulum, ControlSystem::cart_pole, ControlSystem::acrobot}) {
    const ControlSimulator simulator({.system = system});
    const std::size_t dimension = simulator.observation_space().dimension();
    for (const double value : {0.0, static_cast<double>(NAN), kInfinity, 1e300}) {
      VectorEpisode episode(simulator);
      for (int t = 0; t < 3; ++t) {
        episode.observations.push_back(std::vector<double>(dimension, t == 1 ? value : 0.1));
        if (t == 2) break;
        episode.actions.push_back(std::vector<double>{value});
        episode.rewards.push_back(0);
      }
      const std::string strip = film_strip(view_of(simulator), episode);
      EXPECT_EQ(fault_of(strip), "") << value;
      EXPECT_GE(count_of(strip, "<svg "), 2U);
    }
  }
}

TEST(FilmStrip, OfAnyProblemHasACurveForEachCoordinateUpToTwelve) {
  std::vector<std::string> names;
  for (int d = 0; d < 20; ++d) names.push_back("x<" + std::to_string(d) + "> & \"y\"");
  const Spaces spaces(
      Space::box(std::vector<double>(20, -kInfinity), std::vector<double>(20, kInfinity)),
      Space::discrete(4));
  VectorEpisode episode(spaces);
  for (int t = 0; t <= 1000; ++t) {
    std::vector<double> x(20, 7.0);  // constant but for the first two
    x[0] = t % 10 == 0 ? NAN : std::sin(0.1 * t);
    x[1] = NAN;
    episode.observations.push_back(x);
    if (t == 1000) break;
    episode.actions.push_back(std::uint64_t(t % 4));
    episode.rewards.push_back(1);
  }
  const std::string strip = film_strip(view_with(names), episode);
  EXPECT_EQ(fault_of(strip), "");
  EXPECT_EQ(count_of(strip, "<svg "), 13U);
  EXPECT_NE(strip.find("The first 12 of 20"), std::string::npos);
  EXPECT_LT(strip.size(), 100'000U);
}

struct Plane {
  Spaces spaces;
  VectorEpisode path{spaces};
  SeenCoordinates seen;

  Plane(const Space& actions, const std::vector<std::vector<double>>& states,
        std::vector<double> low, std::vector<double> high)
      : spaces(Space::box(std::move(low), std::move(high)), actions) {
    for (const auto& state : states) path.observations.push_back(state);
    seen.add(path.observations, states[0].size());
  }
  std::string draw(const VectorView& view, const FunctionPolicy::Function& act) const {
    const FunctionPolicy policy(spaces, act);
    return phase_plot(view, policy, phase_plane(view, spaces.observation_space(), seen), path);
  }
};

const std::vector<double> kFree3 = {kInfinity, kInfinity, kInfinity};
const std::vector<double> kMinusFree3 = {-kInfinity, -kInfinity, -kInfinity};

TEST(PhasePlot, TakesTheCoordinatesThatMoveMostAndTheMeansOfTheOthers) {
  const Plane plane(Space::box({-1}, {1}), {{0, 4, 1}, {1, 4.5, 3}, {2, 4, 8}}, kMinusFree3,
                    kFree3);
  const PhasePlane taken =
      phase_plane(view_with({"a", "b", "c"}), plane.spaces.observation_space(), plane.seen);
  EXPECT_EQ(taken.x, 0U);
  EXPECT_EQ(taken.y, 2U);
  EXPECT_NEAR(taken.others[1], 12.5 / 3, 1e-12);
  EXPECT_LT(taken.y_range.low, 1);
  EXPECT_GT(taken.y_range.high, 8);
}

TEST(PhasePlot, ColoursFollowTheActions) {
  const Plane plane(Space::box({-2}, {2}), {{-1, -1, 0}, {1, 1, 0}}, kMinusFree3, kFree3);
  const VectorView view = view_with({"a<b", "c&d", "e"});
  const auto draw = [&](double left, double right) {
    return plane.draw(view, [=](const Point& seen, ActionWords, Points& out) {
      const double action = seen.coordinates()[0] < 0 ? left : right;
      out.push_back(std::span(&action, 1));
    });
  };
  const std::string halves = draw(-2, 2);
  EXPECT_EQ(fault_of(halves), "");
  EXPECT_NE(halves.find("a&lt;b"), std::string::npos);
  // Two colours, each one path of forty runs.
  EXPECT_EQ(count_of(halves, "<path "), 2U);
  EXPECT_EQ(count_of(halves.substr(halves.find("<path ")), "z"), 80U);
  EXPECT_EQ(count_of(draw(1, 1), "<path "), 1U);
  const std::string nothing = draw(NAN, NAN);
  EXPECT_EQ(fault_of(nothing), "");
  EXPECT_EQ(count_of(nothing, "<path "), 0U);
}

TEST(PhasePlot, SurvivesConstantsAndNumbersThatAreNone) {
  const Plane plane(Space::box({-kInfinity}, {kInfinity}),
                    {{5, 5, 5}, {5, 5, 5}, {5, NAN, 5}, {kInfinity, 5, 5}}, kMinusFree3, {5, 5, 5});
  const std::string plot =
      plane.draw(view_with({"a", "b", "c"}), [](const Point& seen, ActionWords, Points& out) {
        const double action = 1e300 * seen.coordinates()[0];
        out.push_back(std::span(&action, 1));
      });
  EXPECT_EQ(fault_of(plot), "");
  EXPECT_LT(plot.size(), 150'000U);
}

TEST(PhasePlot, GivesEveryDiscreteActionAColour) {
  for (const std::uint64_t count : {2U, 9U, 100U}) {
    const Plane plane(Space::discrete(count), {{-1, -1, 0}, {1, 1, 0}}, kMinusFree3, kFree3);
    std::uint64_t next = 0;
    const std::string plot =
        plane.draw(view_with({"a", "b", "c"}), [&](const Point&, ActionWords, Points& out) {
          out.push_back(next++ % count);  // as many runs as there are cells
        });
    EXPECT_EQ(fault_of(plot), "");
    EXPECT_LT(plot.size(), 150'000U);
    EXPECT_EQ(count_of(plot, "<path "), count);
    EXPECT_NE(plot.find(">action 1</text>"), std::string::npos);
    EXPECT_EQ(plot.find("and 88 more") != std::string::npos, count == 100);
  }
}

TEST(ResidualPicture, ShowsSixtyOfManyPointsAndMarksThoseOutside) {
  ResidualPanel panel{.name = "x<y> & z", .points = {}};
  for (int i = 0; i < 600; ++i)
    panel.points.push_back({.seen = 0.01 * i, .mean = 0, .deviation = 1});
  EXPECT_EQ(panel.inside(), 196U);  // up to 1.95
  const std::string picture = residual_picture(panel);
  EXPECT_EQ(fault_of(picture), "");
  EXPECT_EQ(count_of(picture, "<circle "), 60U);
  EXPECT_EQ(count_of(picture, "fill=\"var(--panel)\""), 40U);
  EXPECT_NE(picture.find("x&lt;y&gt; &amp; z"), std::string::npos);
  EXPECT_NE(picture.find("196 of 600"), std::string::npos);
}

TEST(ResidualPicture, SurvivesNumbersThatAreNone) {
  const std::vector<ResidualPoint> points[] = {
      {},
      {{NAN, 0, 1}},
      {{0, 0, 0}, {0, 0, 0}},
      {{1e300, -1e300, kInfinity}, {1, NAN, 1}, {1, 1, NAN}, {1e300, 1e300, 1e300}}};
  for (const auto& of_panel : points)
    EXPECT_EQ(fault_of(residual_picture({.name = "x", .points = of_panel})), "");
}

}  // namespace
}  // namespace hilo
