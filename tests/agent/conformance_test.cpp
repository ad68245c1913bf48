// What every agent for tables must pass. Those of the catalogue are here by themselves.
// vector_conformance_test.cpp has those for vectors.
#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include "hilo/agent/catalogue.hpp"
#include "hilo/agent/mfmcrl.hpp"
#include "hilo/core/parallel.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"
#include "support/train.hpp"

namespace hilo {
namespace {

using Maker = std::function<std::unique_ptr<TabularAgent>(const Fidelities&, std::uint64_t seed)>;

Maker mfmcrl(Variant variant) {
  return [variant](const Fidelities& pair, std::uint64_t seed) {
    const MfmcrlOptions options = {
        .low_rollouts = 3, .low_policy = variant.low_policy, .pool = variant.pool};
    return std::make_unique<Mfmcrl>(pair, options, seed);
  };
}
Maker with_estimator(const char* name, Coupling coupling) {
  return [=](const Fidelities& pair, std::uint64_t seed) {
    MfmcrlOptions options = mfmcrl_plus();
    options.low_rollouts = 3;
    options.estimator.name = name;
    options.coupling = coupling;
    return std::make_unique<Mfmcrl>(pair, options, seed);
  };
}
// As specs build it, with little work in the low fidelity.
Maker of_kind(const AgentKind& kind) {
  return [&kind](const Fidelities& pair, std::uint64_t seed) {
    NamedValues given;
    for (const ParameterInfo& info : kind.parameters)
      if (info.name == "low_steps") given[info.name] = std::int64_t{20'000};
    return build_agent(kind, pair, given, {.seed = seed});
  };
}

std::vector<std::pair<std::string, Maker>> makers() {
  std::vector<std::pair<std::string, Maker>> all = {
      {"mfmcrl as-written, m = 3", mfmcrl(kAsWritten)},
      {"mfmcrl as-published, m = 3", mfmcrl(kAsPublished)},
      {"mfmcrl+", with_estimator("empirical-bayes", Coupling::path)},
      {"mfmcrl bias-aware, common random numbers",
       with_estimator("bias-aware", Coupling::common_random_numbers)},
      {"mfmcrl finite-m, not coupled", with_estimator("finite-m", Coupling::none)}};
  for (const AgentKind& kind : agent_kinds())
    if (kind.build) all.emplace_back(kind.name, of_kind(kind));
  return all;
}
const std::vector<std::pair<std::string, Maker>> kMakers = makers();

// Work that is done before the first episode is done once, and again after a load only if it had
// not been done.
TEST(AgentConformance, PreparesOnce) {
  const Fidelities pair = testing::small_pair(1);
  for (const auto& [name, make] : kMakers) {
    SCOPED_TRACE(name);
    const auto agent = make(pair, 5);
    const auto fresh = agent->save();
    const std::uint64_t steps = agent->prepare().low_steps;
    const auto prepared = agent->save();
    EXPECT_EQ(agent->prepare().low_steps, 0U);
    EXPECT_EQ(agent->save(), prepared);
    agent->load(fresh);
    EXPECT_EQ(agent->prepare().low_steps, steps);
    EXPECT_EQ(agent->save(), prepared);
    EXPECT_EQ(agent->episodes(), 0U);

    // learn does what was left out.
    const Episode episode = {{0, 11}, {0}, {1}, false};
    const auto late = make(pair, 5);
    agent->learn(episode);
    late->learn(episode);
    EXPECT_EQ(late->save(), agent->save());
  }
}

std::vector<double> values(const TabularAgent& agent) {
  return {agent.q().values().begin(), agent.q().values().end()};
}

TEST(AgentConformance, SavedInTheMiddleItContinuesWithTheSameBits) {
  const Fidelities pair = testing::small_pair(1);
  for (const auto& [name, make] : kMakers) {
    SCOPED_TRACE(name);
    const auto whole = make(pair, 5);
    testing::train(*whole, pair.high(), 5, 0, 400);
    const auto first = make(pair, 5);
    testing::train(*first, pair.high(), 5, 0, 150);
    const auto bytes = first->save();
    const auto second = make(pair, 5);
    testing::train(*second, pair.high(), 5, 0, 20);  // must be forgotten
    second->load(bytes);
    EXPECT_EQ(second->episodes(), 150U);
    EXPECT_EQ(second->save(), bytes);
    testing::train(*second, pair.high(), 5, 150, 400);
    EXPECT_EQ(values(*second), values(*whole));
    EXPECT_EQ(second->save(), whole->save());
  }
}

TEST(AgentConformance, SameBitsOnOneAndTwoThreads) {
  const auto run_all = [](unsigned threads) {
    std::vector<std::vector<std::byte>> states(std::size(kMakers) * 3);
    parallel_for(states.size(), threads, [&](std::size_t i) {
      const std::uint64_t seed = i / std::size(kMakers);
      const Fidelities pair = testing::small_pair(seed);
      const auto agent = kMakers[i % std::size(kMakers)].second(pair, seed);
      testing::train(*agent, pair.high(), seed, 0, 300);
      states[i] = agent->save();
    });
    return states;
  };
  EXPECT_EQ(run_all(1), run_all(2));
}

TEST(AgentConformance, SeedsDifferAndRepeat) {
  for (const auto& [name, make] : kMakers) {
    SCOPED_TRACE(name);
    const Fidelities pair = testing::small_pair(1);
    const auto run = [&, &make = make](std::uint64_t seed) {
      const auto agent = make(pair, seed);
      testing::train(*agent, pair.high(), seed, 0, 50);
      return values(*agent);
    };
    EXPECT_EQ(run(1), run(1));
    EXPECT_NE(run(1), run(2));
  }
}

// The seed of an agent matters by itself: the same episodes, other low-fidelity roll-outs.
TEST(AgentConformance, MfmcrlUsesItsOwnSeed) {
  const Fidelities pair = testing::small_pair(1);
  for (const Variant& variant : {kAsWritten, kAsPublished}) {
    const Episode episode = {{0, 1, 0, 1, 11}, {0, 1, 1, 0}, {1, 2, 3, 4}, false};
    const auto first = mfmcrl(variant)(pair, 1);
    const auto second = mfmcrl(variant)(pair, 2);
    for (int k = 0; k < 2; ++k) {
      first->learn(episode);
      second->learn(episode);
    }
    const auto pool = [](const TabularAgent& agent) {
      return dynamic_cast<const Mfmcrl&>(agent).free_pool(0, 0).mean();
    };
    EXPECT_NE(pool(*first), pool(*second));
  }
}

// Bits that must not change unless the algorithm version does: the sum of all Q values after 300
// episodes. An agent that is new has its own test to pin it.
TEST(AgentConformance, ResultsArePinnedToTheLastBit) {
  std::map<std::string, double> expected = {
      {"mcrl", 0x1.3b376e7d592dbp+6},
      {"mfmcrl as-written, m = 3", 0x1.8879035663caep+6},
      {"mfmcrl as-published, m = 3", 0x1.52fdf35a6a8f2p+6},
      {"mfmcrl+", 0x1.98acb95917ef3p+6},
      {"mfmcrl bias-aware, common random numbers", 0x1.872eeca0ece96p+6},
      {"mfmcrl finite-m, not coupled", 0x1.5bd22959c8bbap+6},
      {"q-learning", 0x1.23416423532a7p+6},
      {"expected-sarsa", 0x1.097163a6e12bdp+6},
      {"dyna-q", 0x1.c74a4f20894fdp+7},
      {"transfer", 0x1.f669d57527de4p+6},
      {"low-only", 0x1.0dd22a2b45825p+7},
      {"bayes", 0x1.eea1ebf77edccp+6},
      {"bayes-high", 0x1.ef9ce323f654cp+6},
      {"mfrl", 0x1.e369a6ea25aefp+6},
      {"rmax", 0x1.e2134e9dc1a04p+6},
  };
  for (const auto& [name, make] : kMakers) {
    const auto found = expected.find(name);
    if (found == expected.end()) continue;
    SCOPED_TRACE(name);
    const Fidelities pair = testing::small_pair(1);
    const auto agent = make(pair, 5);
    testing::train(*agent, pair.high(), 5, 0, 300);
    double sum = 0;
    for (const double q : agent->q().values()) sum += q;
    EXPECT_EQ(sum, found->second) << std::hexfloat << sum;
    expected.erase(found);
  }
  EXPECT_TRUE(expected.empty()) << expected.begin()->first << " is gone";
}

TEST(AgentConformance, ABadStateIsRefusedAndChangesNothing) {
  const Fidelities pair = testing::small_pair(1);
  const Fidelities other =
      testing::degraded_pair(testing::small_mdp(1, 13), 0, Projection::simplex, 1);
  const Fidelities transposed =
      testing::degraded_pair(testing::small_mdp(1, 3, 12), 0, Projection::simplex, 1);
  for (const auto& [name, make] : kMakers) {
    SCOPED_TRACE(name);
    const auto agent = make(pair, 5);
    testing::train(*agent, pair.high(), 5, 0, 50);
    const auto before = agent->save();
    auto cut = before;
    cut.resize(cut.size() / 2);
    EXPECT_THROW(agent->load(cut), Error);
    EXPECT_THROW(agent->load(make(other, 5)->save()), Error);
    EXPECT_THROW(agent->load({}), Error);
    EXPECT_THROW(agent->load(make(transposed, 5)->save()), Error);
    EXPECT_EQ(agent->save(), before);
  }
  testing::expect_error(
      [&] { of_kind(agent_kind("mcrl"))(pair, 5)->load(mfmcrl(kAsWritten)(pair, 5)->save()); },
      Errc::data, {"'mfmcrl'", "'mcrl'"});
  testing::expect_error(
      [&] { mfmcrl(kAsWritten)(pair, 5)->load(mfmcrl(kAsWritten)(pair, 6)->save()); }, Errc::data,
      {"another seed"});
}

TEST(AgentConformance, LearnsSomething) {
  for (const auto& [name, make] : kMakers) {
    SCOPED_TRACE(name);
    const auto high = testing::small_mdp(1);
    const Fidelities pair = testing::degraded_pair(high, 20, Projection::simplex, 1);
    const auto agent = make(pair, 5);
    const auto value = [&] {
      return start_value(*high, evaluate_policy(*high, policy_matrix(agent->greedy()), 0.99).v);
    };
    const double before = value();
    testing::train(*agent, pair.high(), 5, 0, 2000);
    EXPECT_GT(value(), before);
  }
}

}  // namespace
}  // namespace hilo
