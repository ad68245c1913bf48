#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "hilo/env/catalogue.hpp"
#include "hilo/env/program/detail/program_map.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

// The sides of a problem of programs that are no programs, and the map between them.
namespace hilo {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

const Grid& plane() {
  static const Grid grid({4, 3}, {0, 0}, {4, 30});
  return grid;
}
const PointsOfStates kPlane{.num_states = 12, .grid = &plane()};

TEST(ProgramMap, KeepsCoordinates) {
  const Grid line({2}, {0}, {4});
  const StateMap map = make_map({.text = "0", .command = "", .key = "low.map"}, kPlane, {2, &line});
  for (State s = 0; s < 12; ++s) EXPECT_EQ(map.low_of(s), s / 3 < 2 ? 0 : 1) << s;
  expect_error(
      [&] {
        make_map({.text = "2", .command = "", .key = "low.map"}, kPlane, {2, &line});
      },
      Errc::spec, {"low.map has '2'", "coordinates from 0 to 1"});
  // Without a rule the observation stays what it is, and has too many numbers.
  expect_error(
      [&] {
        make_map({.text = "", .command = "", .key = "low.map"}, kPlane, {2, &line});
      },
      Errc::spec, {"becomes 2 numbers, but a cheap one has 1", "low.map = [..]"});
}

TEST(ProgramMap, ReadsAFile) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "map.csv").string();
  std::ofstream(file) << "high,low\n0,1\n1,0\n2,1\n";
  const StateMap map =
      make_map({.text = file, .command = "", .key = "low.map"}, {3, nullptr}, {2, nullptr});
  EXPECT_EQ(map.low_of(0), 1);
  EXPECT_EQ(map.low_of(1), 0);
  EXPECT_EQ(map.low_of(2), 1);
}

TEST(ProgramMap, AsksAProgram) {
  const auto by = [](const std::string& command) {
    return make_map({.text = "", .command = command, .key = "low.map"}, kPlane, {30, nullptr});
  };
  // The middle of cell (i, j) is (i + 0.5, 10 j + 5).
  const StateMap map = by("awk '{ print int($2 / 10) * 10 + int($1) }'");
  for (State s = 0; s < 12; ++s) EXPECT_EQ(map.low_of(s), s % 3 * 10 + s / 3) << s;
  expect_error([&] { by("awk '{ print -1 }'"); }, Errc::spec, {"state -1", "0 to 29"});
  expect_error([&] { by("head -n 5"); }, Errc::data, {"12 observations and wrote 5 lines"});
  expect_error([&] { by("sed s/.*/nan/"); }, Errc::data, {"'nan', which is no number"});
  expect_error([&] { by("echo broken >&2; exit 3"); }, Errc::data, {"failed", "broken"});
}

// One of hilo's own problems beside a program: here on both sides, so that it can be compared.
TEST(ProgramSides, ABuiltInProblemIsOneOfThem) {
  const NamedValues cells = {{"cells", std::int64_t{8}}};
  const Problem expected = build_problem("docking", cells, 0);
  const Problem mixed = build_problem("program",
                                      {{"high.builtin", "docking"},
                                       {"high.builtin_options", "cells = 8"},
                                       {"low.builtin", "docking"},
                                       {"low.builtin_options", "cells = 8"}},
                                      5);
  ASSERT_EQ(mixed.pair.high().num_states(), expected.pair.high().num_states());
  ASSERT_EQ(mixed.pair.low().num_states(), expected.pair.low().num_states());
  // Its own map, as the other side has its states.
  for (State s = 0; s < expected.pair.high().num_states(); ++s)
    EXPECT_EQ(mixed.pair.map().low_of(s), expected.pair.map().low_of(s));
  const StreamAddress streams = {.seed = 3, .purpose = Purpose::low_rollout};
  for (State s = 0; s < expected.pair.low().num_states(); ++s) {
    if (expected.pair.low().is_terminal(s)) continue;
    const Step a = expected.pair.low().step({s, 1}, streams);
    const Step b = mixed.pair.low().step({s, 1}, streams);
    EXPECT_EQ(a.next, b.next);
    EXPECT_EQ(a.reward, b.reward);
  }
}

TEST(ProgramSides, OptionsOfABuiltInProblemAreChecked) {
  const auto with = [](const std::string& name, const std::string& options) {
    build_problem(
        "program",
        {{"high.builtin", name}, {"high.builtin_options", options}, {"low.builtin", "docking"}}, 0);
  };
  expect_error([&] { with("docing", ""); }, Errc::spec, {"docing", "did you mean 'docking'"});
  expect_error([&] { with("docking", "cels = 8"); }, Errc::spec,
               {"high.builtin_options", "cels = 8", "cells"});
  expect_error([&] { with("docking", "cells = many"); }, Errc::spec, {"'many'", "whole number"});
  expect_error([&] { with("docking", "cells = 2"); }, Errc::spec, {"cells", "6"});
  expect_error([&] { with("program", ""); }, Errc::spec, {"no simulators of its own"});
  const ProblemKind& kind = problem_kind("program");
  const Parameters both(kind.name, kind.parameters,
                        {{"high.builtin", "docking"}, {"high.table", "x"}});
  expect_error([&] { kind.validate(both); }, Errc::spec, {"high must have one of"});
}

}  // namespace
}  // namespace hilo
