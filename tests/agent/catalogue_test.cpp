#include "hilo/agent/catalogue.hpp"

#include "support/expect_error.hpp"
#include "support/problems.hpp"

#include <gtest/gtest.h>

namespace hilo {
namespace {

using testing::expect_error;

// A kind that builds MCRL under another name.
AgentKind named(const std::string& name) {
  AgentKind kind = agent_kind("mcrl");
  kind.name = name;
  kind.display = name;
  return kind;
}

TEST(AgentCatalogue, AKindThatIsAddedIsFoundAndBuilt) {
  const AgentKind& added = add_agent_kind(named("test-added"));
  EXPECT_EQ(&agent_kind("test-added"), &added);
  EXPECT_TRUE(is_agent_kind("test-added"));
  const auto agent = build_agent(added, testing::small_pair(1), {{"weights", "recency"}}, {});
  EXPECT_EQ(agent->episodes(), 0U);
  expect_error([] { add_agent_kind(named("test-added")); }, Errc::usage, {"already"});
  expect_error([] { agent_kind("test-aded"); }, Errc::spec, {"did you mean 'test-added'?"});
}

TEST(AgentCatalogue, OnlyAddedKindsCanBeReplaced) {
  const AgentKind& first = add_agent_kind(named("test-replaced"));
  const AgentKind& second = add_agent_kind(named("test-replaced"), /*may_replace=*/true);
  EXPECT_NE(&first, &second);
  EXPECT_EQ(&agent_kind("test-replaced"), &second);
  EXPECT_EQ(first.name, "test-replaced");  // whoever has it keeps it
  std::size_t count = 0;
  for (const AgentKind& kind : agent_kinds()) count += kind.name == "test-replaced" ? 1 : 0;
  EXPECT_EQ(count, 1U);
  expect_error([] { add_agent_kind(named("mcrl"), true); }, Errc::usage, {"already"});
}

TEST(AgentCatalogue, KindsAreCheckedWhenTheyAreAdded) {
  const auto refused = [](const std::function<void(AgentKind&)>& change, const char* said) {
    AgentKind kind = named("test-refused");
    change(kind);
    expect_error([&] { add_agent_kind(kind); }, Errc::usage, {said});
    EXPECT_FALSE(is_agent_kind("test-refused"));
  };
  refused([](AgentKind& k) { k.name = "With Space"; }, "a-z, 0-9");
  refused([](AgentKind& k) { k.name = ""; }, "a-z, 0-9");
  refused([](AgentKind& k) { k.build = {}; }, "has no build");
  refused([](AgentKind& k) { k.display = "a\nb"; }, "control characters");
  refused([](AgentKind& k) { k.parameters.push_back(k.parameters[0]); }, "two parameters");
  refused([](AgentKind& k) { k.parameters[0].name = "label"; }, "meaning of its own");
  refused([](AgentKind& k) { k.parameters[0].name = "a\nb"; }, "letters, digits");
  refused([](AgentKind& k) { k.parameters[0].default_value = "neither"; }, "must be one of");
  refused(
      [](AgentKind& k) {
        k.parameters.push_back({.name = "x", .description = "", .default_value = 2.0, .high = 1});
      },
      "must be in");
  refused(
      [](AgentKind& k) {
        k.parameters.push_back(
            {.name = "x", .description = "", .default_value = 0.5, .high = 1, .in_label = "{:d}"});
      },
      "in_label");
}

// Its runs are known by the high fidelity alone, so that is all it may see.
TEST(AgentCatalogue, AnAgentSeesOnlyTheFidelitiesThatItNeeds) {
  std::vector<std::size_t> seen;
  const auto kind_of = [&](const char* name, LowFidelities low) {
    AgentKind kind = named(name);
    kind.needs.low = low;
    const auto inner = kind.build;
    kind.build = [&seen, inner](const Fidelities& fidelities, const Parameters& p,
                                const AgentSetting& setting) {
      seen.push_back(fidelities.lows().size());
      return inner(fidelities, p, setting);
    };
    return kind;
  };
  const Fidelities pair = testing::small_pair(1);
  build_agent(kind_of("test-none", LowFidelities::none), pair, {}, {});
  build_agent(kind_of("test-one", LowFidelities::one), pair, {}, {});
  EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1}));

  AgentKind nothing = named("test-nothing");
  nothing.build = [](const Fidelities&, const Parameters&, const AgentSetting&) {
    return std::unique_ptr<TabularAgent>();
  };
  expect_error([&] { build_agent(nothing, pair, {}, {}); }, Errc::usage, {"made none"});
  AgentKind planner = named("test-planner");
  planner.needs.gamma_below_1 = true;
  expect_error([&] { build_agent(planner, pair, {}, {.gamma = 1}); }, Errc::spec, {"below 1"});
}

TEST(AgentCatalogue, AVariantStandsForKeysThatAreNotGiven) {
  const AgentKind& kind = agent_kind("mfmcrl");
  NamedValues given = {{"variant", "as-published"}, {"pool", "start-pairs"}};
  const NamedValues of_problem = take_variant(kind, given);
  EXPECT_EQ(of_problem, (NamedValues{{"projection", "bisection"}}));
  EXPECT_EQ(given.at("low_policy"), Value("action-0"));
  EXPECT_EQ(given.at("pool"), Value("start-pairs"));  // given by itself
  EXPECT_FALSE(given.contains("variant"));
  NamedValues wrong = {{"variant", "as-publishd"}};
  expect_error([&] { take_variant(kind, wrong); }, Errc::spec, {"did you mean 'as-published'?"});
  NamedValues none = {{"variant", "x"}};
  expect_error([&] { take_variant(agent_kind("mcrl"), none); }, Errc::spec, {"has no variants"});
}

}  // namespace
}  // namespace hilo
