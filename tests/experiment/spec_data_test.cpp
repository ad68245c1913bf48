#include "hilo/experiment/spec_data.hpp"

#include "hilo/experiment/spec.hpp"
#include "support/expect_error.hpp"

#include <gtest/gtest.h>

namespace hilo {
namespace {

using testing::expect_error;

SpecData data() {
  return {.name = "data",
          .seeds = {3, 5},
          .problem = {.values = {{"kind", "random-mdp"}, {"states", std::int64_t{12}}},
                      .sweep = {{"snr_db", {-3.0, 3.0}}}},
          .train = {.values = {{"episodes", std::int64_t{10}}, {"gamma", 0.5}}},
          .test = {.values = {{"episodes", std::int64_t{1}}}},
          .agents = {{.values = {{"kind", "mcrl"}}},
                     {.values = {{"kind", "mfmcrl"}, {"label", "a \"b\" \\ c"}}}}};
}

TEST(SpecData, IsTheSameSpecAsItsToml) {
  SpecData given = data();
  given.agents[1].values.erase("label");
  const Spec spec = make_spec(given, "data");
  const Spec read = parse_spec(spec.text, "data");
  ASSERT_EQ(spec.configs.size(), 3U);  // MCRL does not see the noise
  ASSERT_EQ(read.configs.size(), spec.configs.size());
  for (std::size_t i = 0; i < spec.configs.size(); ++i) {
    EXPECT_EQ(read.configs[i].label, spec.configs[i].label);
    EXPECT_EQ(read.configs[i].configuration.text(), spec.configs[i].configuration.text());
  }
  EXPECT_EQ(read.seeds.first, 3U);
  EXPECT_EQ(read.seeds.last, 5U);
}

TEST(SpecData, TextsAndNumbersComeBackAsTheyWere) {
  SpecData given = data();
  given.problem.sweep.clear();
  given.train.values["gamma"] = 1.0;  // a number, not a whole one
  given.train.values["epsilon"] = 0.1;
  const std::string toml = to_toml(given);
  EXPECT_NE(toml.find("gamma = 1.0\n"), std::string::npos) << toml;
  EXPECT_NE(toml.find("epsilon = 0.1\n"), std::string::npos) << toml;
  const Spec read = parse_spec(toml, "data");
  EXPECT_EQ(read.configs[1].label, "a \"b\" \\ c");
}

TEST(SpecData, IsCheckedAsStrictlyAsToml) {
  const auto refused = [](const std::function<void(SpecData&)>& change, const char* said) {
    SpecData given = data();
    change(given);
    expect_error([&] { make_spec(given, "data"); }, Errc::spec, {said});
  };
  refused([](SpecData& d) { d.problem.sweep[0].second.clear(); }, "at least one value");
  refused([](SpecData& d) { d.seeds = {5, 2}; }, "rising range");
  refused([](SpecData& d) { d.seeds = {0, 1'000'000}; }, "rising range");
  refused([](SpecData& d) { d.seeds = {~0ULL, ~0ULL}; }, "too large");
  refused([](SpecData& d) { d.name = "a b"; }, "name is 'a b'");
  refused([](SpecData& d) { d.agents.clear(); }, "at least one [[agent]]");
  refused([](SpecData& d) { d.agents[0].values.erase("kind"); }, "key 'kind' is missing");
  refused([](SpecData& d) { d.problem.values.erase("kind"); }, "key 'kind' is missing");
  refused([](SpecData& d) { d.agents[0].values["label"] = "a\nb"; }, "control characters");
  refused([](SpecData& d) { d.train.sweep = {{"gamma", {0.5}}}; }, "only problem and agents");
  refused([](SpecData& d) { d.train.values["gama"] = 0.5; }, "did you mean 'gamma'?");
}

}  // namespace
}  // namespace hilo
