#include "hilo/experiment/spec.hpp"

#include <map>
#include <set>

#include "hilo/report/shipped.hpp"

#include "support/expect_error.hpp"
#include "support/specs.hpp"

namespace hilo {
namespace {

using testing::expect_error;
using testing::kTwoMfmcrl;
using testing::tiny_spec;

std::vector<std::string> labels(const Spec& spec) {
  std::vector<std::string> out;
  for (const RunConfig& config : spec.configs) out.push_back(config.label);
  return out;
}

Spec parse(const std::string& text, const Overrides& overrides = {}) {
  return parse_spec(text, "spec.toml", overrides);
}

// The tiny spec with a part of its text replaced.
std::string with(const std::string& old_text, const std::string& new_text) {
  std::string text = tiny_spec(kTwoMfmcrl);
  const std::size_t place = text.find(old_text);
  EXPECT_NE(place, std::string::npos) << old_text;
  return text.replace(place, old_text.size(), new_text);
}

TEST(Spec, ExpandsSweepsAndLabelsWhatDiffers) {
  const Spec spec = parse(tiny_spec(kTwoMfmcrl));
  EXPECT_EQ(spec.name, "tiny");
  EXPECT_EQ(spec.seeds.last, 2U);
  EXPECT_EQ(labels(spec), (std::vector<std::string>{"MCRL", "MFMCRL m=1", "MFMCRL m=2"}));
}

TEST(Spec, LabelsNameVariantsAndSnr) {
  EXPECT_EQ(labels(parse(tiny_spec("[[agent]]\nkind = \"mfmcrl\"\n"
                                   "sweep.low_rollouts = [1, 10]\n"
                                   "sweep.variant = [\"as-published\", \"as-written\"]\n"))),
            (std::vector<std::string>{"MCRL", "MFMCRL m=1 as-published", "MFMCRL m=1 as-written",
                                      "MFMCRL m=10 as-published", "MFMCRL m=10 as-written"}));
  EXPECT_EQ(labels(parse(with("snr_db = 0", "sweep.snr_db = [-10, 3]"))),
            (std::vector<std::string>{"MCRL", "MFMCRL m=1 -10 dB", "MFMCRL m=2 -10 dB",
                                      "MFMCRL m=1 +3 dB", "MFMCRL m=2 +3 dB"}));
  EXPECT_EQ(labels(parse(tiny_spec("[[agent]]\nkind = \"mfmcrl\"\nlabel = \"mine\"\n"))),
            (std::vector<std::string>{"MCRL", "mine"}));
  EXPECT_EQ(labels(parse(tiny_spec("[[agent]]\nkind = \"mfmcrl\"\n"
                                   "sweep.pool = [\"start-pairs\", \"first-visits\"]\n"))),
            (std::vector<std::string>{"MCRL", "MFMCRL as-written", "MFMCRL pool=first-visits"}));
}

// Runs keep their identity when keys are added: the hashes of Figure 2(b) as the first version that
// ran it had them.
// The published exploration came later, and with it another identity where it applies.
TEST(Spec, HashesOfOldRunsStay) {
  const auto shipped = std::ranges::find(shipped_specs(), "figure-2b", &ShippedSpec::name);
  const auto hashes = [&](const Overrides& overrides) {
    std::set<std::string> all;
    for (const RunConfig& config : parse_spec(shipped->toml, "figure-2b", overrides).configs)
      all.insert(config.hash);
    return all;
  };
  const auto now = hashes({});
  const auto standard = hashes({"agent.1.exploration=standard", "agent.2.exploration=standard"});
  for (const char* old : {"4ce9d7a5ecc425bf",     // MCRL
                          "a76d4409f96c39b9"}) {  // MFMCRL +3 dB as-published
    EXPECT_TRUE(standard.contains(old)) << old;
    EXPECT_FALSE(now.contains(old)) << old;
  }
  EXPECT_TRUE(now.contains("5b74063c6d48260c"));  // MFMCRL -3 dB as-written
}

// The estimator names the method, brings its own defaults, and leaves older runs their identity.
TEST(Spec, EstimatorsNameTheMethodAndItsDefaults) {
  const Spec spec =
      parse(tiny_spec("[[agent]]\nkind = \"mfmcrl\"\n"
                      "sweep.estimator = [\"paper\", \"finite-m\", "
                      "\"empirical-bayes\"]\n"
                      "[[agent]]\nkind = \"mfmcrl\"\nvariant = \"plus\"\n"
                      "weights = \"equal\"\n"));
  EXPECT_EQ(labels(spec), (std::vector<std::string>{"MCRL", "MFMCRL as-written", "MFMCRL finite-m",
                                                    "MFMCRL+", "MFMCRL+ weights=equal"}));
  EXPECT_EQ(spec.configs[1].configuration.text().find("estimator"), std::string::npos);
  EXPECT_EQ(spec.configs[1].configuration.text().find("pilot_episodes"), std::string::npos);
  EXPECT_NE(spec.configs[3].configuration.text().find("agent.estimator_version = 2\n"),
            std::string::npos);
  const Parameters& plus = spec.configs[3].agent_parameters;
  EXPECT_EQ(plus.text("pool"), "whole-paths");
  EXPECT_EQ(plus.text("weights"), "recency");
  expect_error([] { parse(tiny_spec("[[agent]]\nkind = \"mfmcrl\"\nestimator = \"emprical\"\n")); },
               Errc::spec, {"estimator", "emprical", "empirical-bayes"});
}

// "variant" is a shorthand: spelling its keys out gives the same configuration.
TEST(Spec, VariantsAreShorthands) {
  const Spec spec = parse(tiny_spec("[[agent]]\nkind = \"mfmcrl\"\nvariant = \"as-published\"\n"));
  const Spec spelt =
      parse(tiny_spec("[[agent]]\nkind = \"mfmcrl\"\nlow_policy = \"action-0\"\n"
                      "pool = \"first-visits\"\nprojection = \"bisection\"\n"
                      "exploration = \"as-published\"\n"));
  EXPECT_EQ(spec.configs[1].hash, spelt.configs[1].hash);
  EXPECT_EQ(std::get<std::string>(spec.configs[1].problem.at("projection")), "bisection");
  const Spec mixed = parse(tiny_spec(
      "[[agent]]\nkind = \"mfmcrl\"\nvariant = \"as-published\"\npool = \"start-pairs\"\n"));
  EXPECT_EQ(mixed.configs[1].agent_parameters.text("pool"), "start-pairs");
  EXPECT_EQ(mixed.configs[1].agent_parameters.text("low_policy"), "action-0");
}

// Runs made before the key existed keep their identity where it has its default.
TEST(Spec, ExplorationIsPartOfTheIdentityOnlyWhereItApplies) {
  const std::string mcrl = "kind = \"mcrl\"\n";
  const Spec base = parse(tiny_spec());
  const Spec standard = parse(with(mcrl, mcrl + "exploration = \"standard\"\n"));
  const Spec published = parse(with(mcrl, mcrl + "exploration = \"as-published\"\n"));
  EXPECT_EQ(base.configs[0].hash, standard.configs[0].hash);
  EXPECT_NE(base.configs[0].hash, published.configs[0].hash);
  EXPECT_EQ(published.configs[0].label, "MCRL");
  EXPECT_EQ(parse(tiny_spec("[[agent]]\nkind = \"mfmcrl\"\n"))
                .configs[1]
                .configuration.text()
                .find("exploration"),
            std::string::npos);
}

TEST(Spec, CanonicalFormIgnoresOrderDefaultsAndWhatAnAgentNeverSees) {
  const Spec base = parse(tiny_spec(kTwoMfmcrl));
  const Spec other = parse(with("actions = 3\n", "projection = \"simplex\"\nactions = 3\n"));
  const Spec noisier = parse(with("snr_db = 0", "snr_db = -5.5"));
  const Spec longer = parse(with("episodes = 40", "episodes = 41"));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(base.configs[i].hash, other.configs[i].hash);
  EXPECT_EQ(base.configs[0].hash, noisier.configs[0].hash);  // MCRL
  EXPECT_NE(base.configs[1].hash, noisier.configs[1].hash);
  EXPECT_NE(base.configs[0].hash, longer.configs[0].hash);
  EXPECT_NE(base.configs[0].configuration.text().find("train.gamma = 0.99\n"), std::string::npos);
  EXPECT_EQ(base.configs[0].configuration.text().find("snr_db"), std::string::npos);
}

TEST(Spec, AnAgentWithALabelOfItsOwnIsShownTwiceAndRunOnce) {
  const Spec spec = parse(tiny_spec("[[agent]]\nkind = \"mcrl\"\nlabel = \"again\"\n"));
  EXPECT_EQ(labels(spec), (std::vector<std::string>{"MCRL", "again"}));
  EXPECT_EQ(spec.configs[0].hash, spec.configs[1].hash);
  EXPECT_TRUE(spec.notes.empty());
  expect_error(
      [] {
        parse(
            tiny_spec("[[agent]]\nkind = \"q-learning\"\nlabel = \"x\"\n"
                      "[[agent]]\nkind = \"dyna-q\"\nlabel = \"x\"\n"));
      },
      Errc::spec, {"two agents are labelled 'x'"});
}

TEST(Spec, NotesAnAgentThatIsThereAlready) {
  const Spec spec = parse(tiny_spec("[[agent]]\nkind = \"mcrl\"\n"));
  EXPECT_EQ(labels(spec), (std::vector<std::string>{"MCRL"}));
  ASSERT_EQ(spec.notes.size(), 1U);
  EXPECT_NE(spec.notes[0].find("agent 2 (mcrl): it is the same agent as spec.toml: agent 1 (mcrl)"),
            std::string::npos)
      << spec.notes[0];
  // Twice in one sweep is no less a mistake; that MCRL does not see a sweep of the SNR is none.
  EXPECT_EQ(
      parse(tiny_spec("[[agent]]\nkind = \"mfmcrl\"\nsweep.low_rollouts = [5, 5]\n")).notes.size(),
      1U);
  EXPECT_TRUE(parse(with("snr_db = 0", "sweep.snr_db = [-10, 3]")).notes.empty());
}

TEST(Spec, NotesThePartOfAVariantThatAProblemDoesNotHave) {
  EXPECT_TRUE(
      parse(tiny_spec("[[agent]]\nkind = \"mfmcrl\"\nvariant = \"as-published\"\n")).notes.empty());
  std::string text = tiny_spec("[[agent]]\nkind = \"mfmcrl\"\nvariant = \"as-published\"\n");
  const std::string old = "kind = \"random-mdp\"\nstates = 20\nactions = 3\nsnr_db = 0\n";
  text.replace(text.find(old), old.size(), "kind = \"docking\"\n");
  const Spec spec = parse(text);
  ASSERT_EQ(spec.notes.size(), 1U);
  for (const char* part : {"agent 2 (mfmcrl)", "\"as-published\"", "projection = \"bisection\"",
                           "docking has no projection"})
    EXPECT_NE(spec.notes[0].find(part), std::string::npos) << part << " not in " << spec.notes[0];
}

TEST(Spec, OverridesSetSingleKeys) {
  const Spec spec = parse(tiny_spec(kTwoMfmcrl), {"train.episodes=7", "name=other", "seeds=2..4",
                                                  "agent.2.pool=first-visits"});
  EXPECT_EQ(spec.configs[0].train.integer("episodes"), 7);
  EXPECT_EQ(spec.name, "other");
  EXPECT_EQ(spec.seeds.first, 2U);
  EXPECT_EQ(spec.configs[1].agent_parameters.text("pool"), "first-visits");
  expect_error([] { parse(tiny_spec(), {"train.episodes"}); }, Errc::usage, {"must be key=value"});
  expect_error([] { parse(tiny_spec(), {"agent.3.kind=mcrl"}); }, Errc::usage, {"'3'", "[1, 1]"});
  expect_error([] { parse(tiny_spec(), {"train.episods=1"}); }, Errc::spec,
               {"unknown key 'episods'", "did you mean 'episodes'?"});
}

TEST(Spec, SeedsAreANumberOrARange) {
  EXPECT_EQ(parse_seeds("36").count(), 36U);
  EXPECT_EQ(parse_seeds("3..9").first, 3U);
  EXPECT_EQ(parse_seeds("3..9").last, 9U);
  for (const char* bad : {"0", "", "-1", "x", "9..3", "1..", "1.5", "0..99999999"})
    EXPECT_THROW(parse_seeds(bad), Error) << bad;
}

TEST(Spec, RejectsBadSpecsWithTheKeyAndWhatIsAllowed) {
  const auto bad = [](const std::string& old_text, const std::string& new_text) {
    return [text = with(old_text, new_text)] { parse(text); };
  };
  expect_error(bad("spec_version = 1", "spec_version = 2"), Errc::spec,
               {"spec.toml:1: spec_version is 2, but this program reads version 1"});
  expect_error(bad("spec_version = 1\n", ""), Errc::spec, {"spec_version is missing"});
  expect_error(bad("seeds = 3", "sedes = 3"), Errc::spec,
               {"unknown key 'sedes'", "did you mean 'seeds'?"});
  expect_error(bad("seeds = 3", "seeds = 0"), Errc::spec, {"seeds is 0"});
  expect_error(bad("seeds = 3", "seeds = true"), Errc::spec, {"seeds must be a number"});
  expect_error(bad("name = \"tiny\"", "name = \"a/b\""), Errc::spec, {"must be 1 to 100 letters"});
  expect_error(bad("states = 20", "stats = 20"), Errc::spec,
               {"spec.toml:7: problem", "unknown key 'stats'", "did you mean 'states'?"});
  expect_error(bad("states = 20", "states = \"20\""), Errc::spec, {"must be a whole number"});
  expect_error(bad("states = 20", "states = 1"), Errc::spec, {"states is 1, but must be in [2, "});
  expect_error(bad("states = 20", "states = [20]"), Errc::spec, {"states must be a single value"});
  expect_error(bad("random-mdp", "randon-mdp"), Errc::spec, {"did you mean 'random-mdp'?"});
  expect_error(bad("kind = \"mcrl\"", "kind = \"mcrI\""), Errc::spec,
               {"unknown agent kind 'mcrI'", "did you mean 'mcrl'?"});
  expect_error(bad("kind = \"mcrl\"", "low_rollouts = 1"), Errc::spec, {"key 'kind' is missing"});
  expect_error(bad("kind = \"mcrl\"", "kind = \"mcrl\"\nlow_rollouts = 3"), Errc::spec,
               {"agent 1 (mcrl)", "unknown key 'low_rollouts'"});
  expect_error(bad("kind = \"mcrl\"", "kind = \"mcrl\"\nvariant = \"as-written\""), Errc::spec,
               {"mcrl has no variants"});
  expect_error(bad("[1, 2]", "[1, 2]\nvariant = \"as-writen\""), Errc::spec,
               {"variant is 'as-writen'", "did you mean 'as-written'?"});
  expect_error(bad("[1, 2]", "[]"), Errc::spec, {"sweep.low_rollouts must be a list"});
  expect_error(bad("[1, 2]", "[1, 2]\nlabel = \"same\""), Errc::spec, {"labelled 'same'"});
  expect_error(bad("episodes = 40", "episodes = 0"), Errc::spec, {"give episodes or steps"});
  expect_error(bad("episodes = 40", "episodes = 40\nsteps = 3"), Errc::spec, {"one of the two"});
  expect_error(bad("episodes = 40", "episodes = 40\ngamma = 1.5"), Errc::spec, {"gamma is 1.5"});
  expect_error(bad("episodes = 40", "sweep.episodes = [1]"), Errc::spec, {"can be swept"});
  expect_error(bad("exact_every = 20", "exact_every = 15"), Errc::spec, {"multiple of every"});
  expect_error(bad("[train]", "[train"), Errc::spec, {"spec.toml:"});
  expect_error(
      [] {
        parse(
            "spec_version = 1\nname = \"x\"\n[problem]\nkind = \"random-mdp\"\n"
            "[train]\nepisodes = 1\n");
      },
      Errc::spec, {"at least one [[agent]]"});
  expect_error([] { load_spec("no-such-file.toml"); }, Errc::io, {"no-such-file.toml"});
}

}  // namespace
}  // namespace hilo
