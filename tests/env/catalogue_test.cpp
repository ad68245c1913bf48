#include "hilo/env/catalogue.hpp"

#include "hilo/env/table_csv.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::expect_error;

TEST(Registry, EveryKindIsDescribed) {
  ASSERT_GE(problem_kinds().size(), 2U);
  for (const ProblemKind& kind : problem_kinds()) {
    EXPECT_FALSE(kind.description.empty()) << kind.name;
    for (const ParameterInfo& p : kind.parameters)
      EXPECT_FALSE(p.description.empty()) << kind.name << "." << p.name;
    EXPECT_EQ(&problem_kind(kind.name), &kind);
  }
}

TEST(Registry, BuildsWithFacts) {
  const Problem problem =
      build_problem("random-mdp", {{"states", std::int64_t{20}}, {"snr_db", std::int64_t{3}}}, 1);
  EXPECT_EQ(problem.pair.high().num_states(), 20U);
  EXPECT_EQ(problem.pair.num_actions(), 8U);
  EXPECT_EQ(problem.facts.size(), 6U);
}

TEST(Registry, RejectsUnknownKindsAndKeys) {
  expect_error([] { problem_kind("random-mpd"); }, Errc::spec,
               {"unknown problem kind 'random-mpd'", "did you mean 'random-mdp'?"});
  expect_error(
      [] {
        build_problem("random-mdp", {{"state", std::int64_t{20}}}, 1);
      },
      Errc::spec, {"random-mdp: unknown key 'state'", "did you mean 'states'?"});
  expect_error(
      [] {
        build_problem("random-mdp", {{"states", std::int64_t{1}}}, 1);
      },
      Errc::spec, {"random-mdp: states is 1, but must be in [2, 20000]"});
  expect_error([] { build_problem("table", {}, 1); }, Errc::spec, {"key 'folder' is missing"});
}

TEST(Registry, ATableForEverySeed) {
  const testing::TemporaryFolder folder;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const auto mdp = testing::small_mdp(seed, 5 + seed);
    save_pair(*mdp, *mdp, StateMap::identity(mdp->num_states()),
              folder.path() / ("tab-" + std::to_string(seed)) / "pair");
  }
  const std::string by_seed = (folder.path() / "tab-{seed}" / "pair").string();
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Problem problem = build_problem("table", {{"folder", by_seed}}, seed);
    EXPECT_EQ(problem.pair.high().num_states(), 5 + seed);
    EXPECT_EQ(problem.pair.low().num_states(), 5 + seed);
  }
  // The message has the folder that was looked for.
  expect_error(
      [&] {
        build_problem("table", {{"folder", by_seed}}, 3);
      },
      Errc::io, {(folder.path() / "tab-3" / "pair").string()});
}

TEST(Registry, ThereIsNoOtherPlaceholder) {
  for (const char* folder : {"tab/{sede}", "tab/{seed}/{agent}", "tab/{}", "{Seed}"})
    expect_error(
        [&] {
          build_problem("table", {{"folder", folder}}, 1);
        },
        Errc::spec, {"is no placeholder: there is only {seed}", folder});
  // A brace alone is a letter like others.
  expect_error(
      [] {
        build_problem("table", {{"folder", "no-such-{"}}, 1);
      },
      Errc::io, {"no-such-{/high"});
}

}  // namespace
}  // namespace hilo
