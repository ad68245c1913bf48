#include "hilo/experiment/run.hpp"

#include <atomic>
#include <cmath>
#include <map>

#include "hilo/agent/mcrl.hpp"
#include "hilo/agent/mfmcrl.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/diagnose/pilot.hpp"
#include "hilo/env/catalogue.hpp"
#include "hilo/env/table_csv.hpp"
#include "hilo/exact/estimator_bias.hpp"
#include "hilo/experiment/high_fidelities.hpp"
#include "hilo/experiment/train.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"
#include "support/specs.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::kTwoMfmcrl;
using testing::tiny_spec;

Spec tiny(const std::string& agents = kTwoMfmcrl) { return parse_spec(tiny_spec(agents), "tiny"); }

std::vector<RunRecord> run(const Spec& spec, unsigned threads) {
  std::vector<RunRecord> records;
  run_all(plan(spec, {}), threads,
          {.on_record = [&](const RunRecord& r) { records.push_back(r); },
           .on_progress = {},
           .keep_going = [] { return true; }});
  std::ranges::sort(records, {}, [](const RunRecord& r) { return r.key; });
  return records;
}

std::map<std::pair<std::string, std::uint64_t>, double> values(const RunRecord& record) {
  std::map<std::pair<std::string, std::uint64_t>, double> out;
  for (const Measurement& m : record.measurements)
    if (m.metric != "seconds") out[{m.metric, m.episode}] = m.value;
  return out;
}

TEST(Plan, BuildsAProblemOncePerSeedAndSkipsWhatIsFinished) {
  const Spec spec = tiny(
      "[[agent]]\nkind = \"mfmcrl\"\n"
      "sweep.variant = [\"as-published\", \"as-written\"]\n");
  const auto groups = plan(spec, {});
  ASSERT_EQ(groups.size(), 6U);                                  // two projections, three seeds
  EXPECT_EQ(groups[0].runs.size() + groups[1].runs.size(), 3U);  // MCRL joins one of them
  EXPECT_EQ(count_runs(groups), 9U);
  EXPECT_EQ(count_runs(plan(spec, {groups[0].runs[0].key()})), 8U);
}

TEST(RunAll, MeasuresWhatTheExportPromises) {
  const auto records = run(tiny(), 1);
  ASSERT_EQ(records.size(), 9U);
  for (const RunRecord& record : records) {
    EXPECT_FALSE(record.failed);
    const auto v = values(record);
    for (const std::uint64_t episode : {0, 10, 20, 30, 40}) {
      EXPECT_TRUE(v.contains({"test_reward", episode}));
      EXPECT_TRUE(v.contains({"test_return", episode}));
      EXPECT_EQ(v.contains({"variance_ratio", episode}), episode > 0);
      EXPECT_EQ(v.contains({"policy_value", episode}), episode % 20 == 0);
      EXPECT_EQ(v.contains({"policy_reward", episode}), episode % 20 == 0);
      EXPECT_EQ(v.contains({"optimal_actions", episode}), episode % 20 == 0);
    }
    for (const char* metric : {"variance_ratio_last_1000", "high_steps", "low_steps", "truncated"})
      EXPECT_TRUE(v.contains({metric, 40})) << metric;
    for (const char* metric : {"optimal_value", "optimal_reward"})
      EXPECT_TRUE(v.contains({metric, 40})) << metric;
    EXPECT_LE(v.at({"policy_value", 40}), v.at({"optimal_value", 40}));
    const bool low = record.configuration.text().find("mfmcrl") != std::string::npos;
    for (const char* metric :
         {"correlation", "bias_rms", "return_sd", "bias_break_even", "problem_reward_snr_db"})
      EXPECT_EQ(v.contains({metric, 40}), low) << metric;
    if (low) {
      EXPECT_LE(std::abs(v.at({"correlation", 40})), 1);
    }
    EXPECT_EQ(q_table_of(record.policy).values.size(), 60U);
  }
}

// The recorded bias is that of the exact computation for the last policies.
TEST(RunAll, RecordsTheExactBias) {
  const Spec spec = tiny("[[agent]]\nkind = \"mfmcrl\"\nlow_rollouts = 2\n");
  const auto records = run(spec, 1);
  const RunRecord& record = *std::ranges::find_if(records, [&](const RunRecord& r) {
    return r.key.seed == 1 && r.key.config == spec.configs[1].hash;
  });
  const Problem problem = build_problem("random-mdp", spec.configs[1].problem, 1);
  QTable q(20, 3);
  q.assign(q_table_of(record.policy).values);
  const PolicyMatrix policy = policy_matrix(q.behaviour(0.1));
  const EstimatorBias bias = exact_bias(problem.pair, policy, policy, 0.99);
  double squares = 0;
  for (const double b : bias.bias) squares += b * b;
  EXPECT_NEAR(values(record).at({"bias_rms", 40}), std::sqrt(squares / (19 * 3)), 1e-12);
}

TEST(Plan, TakesWhatSpecsShareOnce) {
  const std::vector<Spec> specs = {
      tiny(), parse_spec(tiny_spec(kTwoMfmcrl), "tiny", {"name=other", "seeds=4"})};
  const auto groups = plan(specs, {});
  EXPECT_EQ(count_runs(groups), 12U);  // three agents, four seeds
  for (std::size_t i = 1; i < groups.size(); ++i) EXPECT_LE(groups[i - 1].seed, groups[i].seed);
}

TEST(HighFidelities, AreSharedWhileInUse) {
  HighFidelities all;
  std::map<std::string, Value> problem = tiny().configs[1].problem;
  const HighFidelity* const first = all.get(problem_kind("random-mdp"), problem, 1).get();
  const auto one = all.get(problem_kind("random-mdp"), problem, 1);
  EXPECT_EQ(one.get(), first);  // kept though nobody used it in between
  problem["snr_db"] = 7.0;
  EXPECT_EQ(all.get(problem_kind("random-mdp"), problem, 1),
            one);  // the low fidelity does not matter
  EXPECT_NE(all.get(problem_kind("random-mdp"), problem, 2), one);
  problem["states"] = std::int64_t{30};
  EXPECT_NE(all.get(problem_kind("random-mdp"), problem, 1), one);
  EXPECT_EQ(one->optimum(0.9, 100), one->optimum(0.9, 100));
  EXPECT_NE(one->optimum(0.9, 100), one->optimum(0.8, 100));
  EXPECT_EQ(one->optimum(1, 100), nullptr);
}

TEST(RunAll, SameBitsOnAnyNumberOfThreads) {
  const auto one = run(tiny(), 1);
  for (const unsigned threads : {2U, 4U}) {
    const auto many = run(tiny(), threads);
    ASSERT_EQ(one.size(), many.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_EQ(one[i].key, many[i].key);
      EXPECT_EQ(values(one[i]), values(many[i]));
      EXPECT_EQ(one[i].policy, many[i].policy);
    }
  }
}

// An agent that sees the high fidelity alone gives the same results whatever low fidelity it is
// grouped with: that is what makes runs shareable.
TEST(RunAll, McrlDoesNotDependOnTheLowFidelity) {
  const Spec noisy = parse_spec(tiny_spec(), "tiny", {"problem.snr_db=-9"});
  const Spec clean = parse_spec(tiny_spec(), "tiny", {"problem.snr_db=9"});
  const auto a = run(noisy, 1);
  const auto b = run(clean, 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].key, b[i].key);
    EXPECT_EQ(values(a[i]), values(b[i]));
  }
}

TEST(RunAll, AFailingRunIsRecordedAndTheOthersGoOn) {
  // Two states, gamma = 1: where Q ties, the greedy policy ends; once action 1, which stays, looks
  // best, its exact value does not exist.
  const testing::TemporaryFolder folder;
  for (const char* side : {"high", "low"}) {
    folder.write(std::filesystem::path(side) / "transitions.csv",
                 "state,action,next,probability,reward\n0,0,1,1,0\n0,1,0,1,1\n"
                 "1,0,1,1,0\n1,1,1,1,0\n");
    folder.write(std::filesystem::path(side) / "start.csv", "state,probability\n0,1\n");
  }
  const std::string text = testing::table_spec(folder.path().string(), testing::kNeverEnds) +
                           "[[agent]]\nkind = \"mfmcrl\"\n";
  const Spec spec = parse_spec(text, "failing");
  const auto records = run(spec, 1);
  ASSERT_EQ(records.size(), 2U);
  for (const RunRecord& r : records) {
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.error.find("never ends"), std::string::npos) << r.error;
  }
}

TEST(RunAll, StopsWhenToldAndLeavesNoHalfRuns) {
  std::atomic<int> asked = 0;
  std::size_t num_records = 0;
  const Spec spec = tiny();
  const Progress progress = run_all(plan(spec, {}), 2,
                                    {.on_record =
                                         [&](const RunRecord& r) {
                                           EXPECT_FALSE(r.failed);
                                           ++num_records;
                                         },
                                     .on_progress = {},
                                     .keep_going = [&] { return ++asked < 20; }});
  EXPECT_LT(progress.done, progress.total);
  EXPECT_EQ(progress.done, num_records);
}

TEST(RunAll, AnExceptionOfACallbackStopsAll) {
  const Spec spec = tiny();
  testing::expect_error(
      [&] {
        run_all(plan(spec, {}), 2,
                {.on_record = [](const RunRecord&) { throw Error(Errc::io, "disk full"); },
                 .on_progress = {},
                 .keep_going = [] { return true; }});
      },
      Errc::io, {"disk full"});
}

TEST(RunAll, TellsHowFarRunsAreAndACallbackThatThrowsStopsAll) {
  const Spec spec = tiny();
  std::vector<double> shares;
  std::size_t records = 0;
  run_all(plan(spec, {}), 2,
          {.on_record = [&](const RunRecord&) { ++records; },
           .on_progress = [&](const Progress& p) { shares.push_back(p.share); },
           .keep_going = [] { return true; }});
  EXPECT_GT(shares.size(), 5 * records);  // 40 episodes: 40 calls and one at the end
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_NEAR(shares.back(), 1, 1e-12);
  records = 0;
  testing::expect_error(
      [&] {
        run_all(plan(spec, {}), 1,
                {.on_record = [&](const RunRecord&) { ++records; },
                 .on_progress = [](const Progress&) { throw Error(Errc::io, "no display"); },
                 .keep_going = [] { return true; }});
      },
      Errc::io, {"no display"});
  EXPECT_EQ(records, 0U);  // in particular none that failed
}

// A training with a pilot opens with the pilot's very episodes, and its agent compares like with
// like: on two copies of one problem nothing looks biased.
TEST(Train, OpensWithThePilotsEpisodes) {
  const auto mdp = testing::small_mdp(1);
  const Fidelities twin(make_simulator(mdp), make_simulator(mdp));
  constexpr std::uint64_t kEpisodes = 400;
  const QTable uniform(12, 3);
  const Pilot pilot = run_pilot(
      twin, uniform, {.episodes = kEpisodes, .low_rollouts = 1, .seed = 7}, [] { return true; });
  MfmcrlOptions options = mfmcrl_plus();
  options.pilot_episodes = kEpisodes;
  Mfmcrl agent(twin, options, 7);
  const auto measurements =
      train(agent, twin.high(), {.episodes = kEpisodes, .seed = 7, .pilot_episodes = kEpisodes},
            {.every = kEpisodes, .episodes = 1}, [] { return true; });
  double high_steps = 0;
  for (const Measurement& m : measurements)
    if (m.metric == "high_steps") high_steps = m.value;
  EXPECT_EQ(high_steps, static_cast<double>(pilot.high_steps));
  std::vector<CoMoments> returns(36);
  for (const CoupledReturn& r : pilot.returns) returns[r.pair].add(r.high, r.low, kRecencyWeights);
  for (State s = 0; s < 11; ++s)
    for (Action a = 0; a < 3; ++a) EXPECT_EQ(agent.paired_returns(s, a), returns[s * 3 + a]);
  // About 400 episodes: the offset has a standard error near 0.05; a mismatch of policies gave 1.
  EXPECT_LT(std::abs(agent.estimator().findings().bias_offset), 0.25);
}

TEST(Train, BudgetInStepsEndsAtTheFirstEpisodeThatReachesIt) {
  const auto simulator = make_simulator(testing::line_mdp());
  Mcrl agent(3, 2, {});
  const auto measured =
      train(agent, *simulator, {.steps = 100}, {.every = 1000, .episodes = 1}, [] { return true; });
  double high_steps = 0;
  for (const Measurement& m : measured)
    if (m.metric == "high_steps") high_steps = m.value;
  EXPECT_GE(high_steps, 100);
  EXPECT_LT(high_steps, 130);
  EXPECT_EQ(measured[0].episode, 0U);
  EXPECT_EQ(measured.back().episode, agent.episodes());
}

TEST(EstimateCost, IsPositiveAndGrowsWithTheSeeds) {
  const Spec spec = tiny();
  Spec more = spec;
  more.seeds = {0, 2999};  // a thousand times as much: no noise of the clock hides that
  const CostEstimate few = estimate_cost(plan(spec, {}));
  const CostEstimate many = estimate_cost(plan(more, {}));
  EXPECT_GT(few.core_seconds, 0);
  EXPECT_GT(many.core_seconds, few.core_seconds);
  EXPECT_GT(few.bytes_per_thread, 1000);
}

// A table for every seed, in folders tab/0, tab/1, ... of different sizes.
class TableBySeed : public ::testing::Test {
 protected:
  void SetUp() override {
    for (std::uint64_t seed = 0; seed < 4; ++seed) save(seed, testing::small_mdp(seed, 5 + seed));
  }
  void save(std::uint64_t seed, const std::shared_ptr<const TabularMdp>& mdp) const {
    save_pair(*mdp, *mdp, StateMap::identity(mdp->num_states()), of_seed(std::to_string(seed)));
  }
  std::filesystem::path of_seed(const std::string& seed) const {
    return folder_.path() / "tab" / seed;
  }
  Spec parse(const std::string& seed, const std::string& seeds) const {
    const std::string agents = "[[agent]]\nkind = \"mfmcrl\"\nlow_rollouts = 1\n";
    return parse_spec(testing::table_spec(of_seed(seed).string()) + agents, "spec.toml",
                      {"seeds=" + seeds});
  }

  testing::TemporaryFolder folder_;
};

TEST_F(TableBySeed, EverySeedRunsOnItsOwn) {
  const Spec spec = parse("{seed}", "\"1..3\"");
  for (const unsigned threads : {1U, 2U}) {
    const auto records = run(spec, threads);
    ASSERT_EQ(records.size(), 6U);
    for (const RunRecord& record : records) {
      EXPECT_FALSE(record.failed) << record.error;
      EXPECT_EQ(q_table_of(record.policy).num_states, 5 + record.key.seed);
    }
  }
}

// The same table for all seeds gives the same runs, whether the folder is named once or by seed.
TEST_F(TableBySeed, EqualTablesGiveEqualRuns) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) save(seed, testing::small_mdp(9));
  const auto once = run(parse("0", "3"), 1);
  const auto by_seed = run(parse("{seed}", "3"), 1);
  ASSERT_EQ(once.size(), by_seed.size());
  std::map<std::pair<std::size_t, std::uint64_t>, std::vector<double>> values_of;
  for (const RunRecord& record : once)
    values_of[{record.measurements.size(), record.key.seed}] = q_table_of(record.policy).values;
  for (const RunRecord& record : by_seed) {
    const auto found = values_of.find({record.measurements.size(), record.key.seed});
    ASSERT_NE(found, values_of.end());
    EXPECT_EQ(found->second, q_table_of(record.policy).values);
  }
}

// A run is known by the tables of all seeds: none of them may change in silence.
TEST_F(TableBySeed, AllTablesAreInTheIdentity) {
  const auto hashes = [&](const std::string& seeds) {
    std::vector<std::string> out;
    for (const RunConfig& config : parse("{seed}", seeds).configs) out.push_back(config.hash);
    return out;
  };
  const auto before = hashes("3");
  EXPECT_EQ(hashes("3"), before);
  EXPECT_NE(hashes("4"), before);
  EXPECT_NE(hashes("\"1..3\""), before);
  save(3, testing::small_mdp(33));  // not one of the first three
  EXPECT_EQ(hashes("3"), before);
  for (const std::uint64_t seed : {2U, 0U}) {
    save(seed, testing::small_mdp(40 + seed));
    const auto after = hashes("3");
    EXPECT_NE(after[0], before[0]) << seed;
    EXPECT_NE(after[1], before[1]) << seed;
  }
  // Tables that changed places are other tables.
  const auto changed = hashes("2");
  std::filesystem::rename(of_seed("0"), of_seed("x"));
  std::filesystem::rename(of_seed("1"), of_seed("0"));
  std::filesystem::rename(of_seed("x"), of_seed("1"));
  EXPECT_NE(hashes("2"), changed);
}

// As runs that are in stores know it.
TEST_F(TableBySeed, OneFolderHasTheIdentityItHad) {
  std::string contents;
  for (const char* file : {"high/transitions.csv", "high/start.csv"})
    contents += std::string(file) + "\n" + testing::read_text(of_seed("2") / file);
  const Spec spec = parse("2", "3");
  EXPECT_NE(spec.configs[0].configuration.text().find("problem.content = \"" + hash_hex(contents) +
                                                      "\"\n"),
            std::string::npos);
  EXPECT_EQ(spec.configs[0].hash, parse("2", "1").configs[0].hash);
}

TEST_F(TableBySeed, SaysWhichFolderIsMissing) {
  testing::expect_error([&] { parse("{seed}", "5"); }, Errc::io,
                        {"spec.toml:5: problem: folder of seed 4", of_seed("4").string()});
  testing::expect_error([&] { parse("{run}", "3"); }, Errc::spec,
                        {"{run} is no placeholder", "only {seed}"});
}

}  // namespace
}  // namespace hilo
