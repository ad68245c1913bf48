#include "hilo/experiment/metrics.hpp"

#include <set>

#include "hilo/experiment/run.hpp"
#include "hilo/experiment/single_run.hpp"
#include "support/expect_error.hpp"
#include "support/specs.hpp"

#include <gtest/gtest.h>

namespace hilo {
namespace {

using testing::expect_error;

MetricKind counting(const std::string& name, Measured measured) {
  MetricKind kind;
  kind.name = name;
  kind.description = "episodes learnt from";
  kind.measured = measured;
  kind.measure = [](const MetricView& view) -> std::optional<double> {
    return static_cast<double>(view.agent.episodes());
  };
  return kind;
}

constexpr const char* kSpec = R"(
spec_version = 1
name = "metrics"
[problem]
kind = "random-mdp"
states = 12
actions = 3
[train]
episodes = 20
[test]
every = 10
episodes = 2
exact_every = 20
[[agent]]
kind = "mcrl"
[[agent]]
kind = "mfmcrl"
variant = "plus"
[[agent]]
kind = "bayes"
low_steps = 1000
[[agent]]
kind = "mfrl"
low_steps = 1000
)";

std::vector<Measurement> measured(const Spec& spec, const std::string& label) {
  SingleRun run(spec, label, 0);
  while (!run.step()) {
  }
  return run.record().measurements;
}

// One table describes all that runs record.
TEST(Metrics, WhateverIsRecordedIsInTheTable) {
  std::set<std::string> known;
  for (const MetricKind& kind : metric_kinds()) {
    EXPECT_TRUE(known.insert(kind.name).second) << kind.name << " stands there twice";
    EXPECT_FALSE(kind.description.empty()) << kind.name;
  }
  const Spec spec = parse_spec(kSpec, "metrics");
  for (const RunConfig& config : spec.configs)
    for (const Measurement& m : measured(spec, config.label))
      EXPECT_TRUE(known.contains(m.metric) || m.metric.starts_with(kOfProblem)) << m.metric;
  const Spec search = parse_spec(
      "spec_version = 1\nname = \"s\"\n[problem]\nkind = \"nas-bench-201\"\n[train]\nepisodes = 5\n"
      "[test]\nevery = 5\nepisodes = 1\n[[agent]]\nkind = \"mcrl\"\n",
      "s");
  for (const Measurement& m : measured(search, search.configs[0].label))
    EXPECT_TRUE(known.contains(m.metric) || m.metric.starts_with(kOfProblem)) << m.metric;
}

TEST(Metrics, OnesOfTheCallerAreRecordedWhereASpecNamesThem) {
  add_metric_kind(counting("test_counted", Measured::at_tests));
  add_metric_kind(counting("test_counted_at_end", Measured::at_end));
  const Spec spec =
      parse_spec(kSpec, "metrics", {"test.metrics=\"test_counted , test_counted_at_end\""});
  std::vector<std::pair<std::uint64_t, double>> at_tests, at_end;
  for (const Measurement& m : measured(spec, "MCRL")) {
    if (m.metric == "test_counted") at_tests.emplace_back(m.episode, m.value);
    if (m.metric == "test_counted_at_end") at_end.emplace_back(m.episode, m.value);
  }
  EXPECT_EQ(at_tests, (std::vector<std::pair<std::uint64_t, double>>{{0, 0}, {10, 10}, {20, 20}}));
  EXPECT_EQ(at_end, (std::vector<std::pair<std::uint64_t, double>>{{20, 20}}));
  // It is another configuration, however the list is written; without it nothing has changed.
  const Spec same =
      parse_spec(kSpec, "metrics", {"test.metrics=\"test_counted,test_counted_at_end\""});
  EXPECT_EQ(same.configs[0].hash, spec.configs[0].hash);
  EXPECT_NE(parse_spec(kSpec, "metrics").configs[0].hash, spec.configs[0].hash);
}

TEST(Metrics, WhatCannotBeAddedOrNamed) {
  const auto add = [](const char* name) { add_metric_kind(counting(name, Measured::at_tests)); };
  expect_error([&] { add("test_reward"); }, Errc::usage, {"already"});
  expect_error([&] { add("pooled_alpha"); }, Errc::usage, {"already"});  // of an agent
  expect_error([&] { add("problem_x"); }, Errc::usage, {"problem_ opens"});
  expect_error([] { add_metric_kind({}); }, Errc::usage, {"has no measure"});
  add("test_known");
  const auto name = [](const char* list) { metrics_to_measure(list); };
  expect_error([&] { name("test_known,test_known"); }, Errc::spec, {"named twice"});
  expect_error([&] { name("test_knwn"); }, Errc::spec, {"did you mean 'test_known'?"});
  expect_error([&] { name("test_reward"); }, Errc::spec, {"recorded anyway"});
  expect_error([&] { name("test_known,"); }, Errc::spec, {"'' is none of the metrics"});
}

}  // namespace
}  // namespace hilo
