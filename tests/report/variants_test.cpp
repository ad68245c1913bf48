#include "hilo/report/variants.hpp"

#include <gtest/gtest.h>

#include "support/stores.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

Configuration configuration_of(const std::string& agent) {
  return parse_spec(testing::tiny_spec("[[agent]]\n" + agent), "tiny").configs[1].configuration;
}

TEST(Variants, AreKnownByTheirKeys) {
  const Configuration written = configuration_of("kind = \"mfmcrl\"\nlabel = \"as-published\"\n");
  const Configuration published =
      configuration_of("kind = \"mfmcrl\"\nvariant = \"as-published\"\n");
  EXPECT_EQ(paper_variant(written), "as-written");
  EXPECT_EQ(paper_variant(published), "as-published");
  EXPECT_EQ(common_to_variants(written), common_to_variants(published));
  EXPECT_EQ(paper_variant(configuration_of("kind = \"mfmcrl\"\nlow_policy = \"action-0\"\n")), "");
  EXPECT_EQ(paper_variant(configuration_of("kind = \"q-learning\"\n")), "");
  Configuration foreign;
  foreign.add("agent.kind", "\"of another program\"");
  EXPECT_EQ(paper_variant(foreign), "");
  EXPECT_NE(common_to_variants(written),
            common_to_variants(configuration_of("kind = \"mfmcrl\"\nlow_rollouts = 3\n")));
}

TEST(Variants, AreExplainedUnderAnyLabel) {
  const testing::TemporaryFolder folder;
  const Spec spec =
      parse_spec(testing::tiny_spec("[[agent]]\nkind = \"mfmcrl\"\nlabel = \"mine\"\n"
                                    "[[agent]]\nkind = \"mfmcrl\"\nlabel = \"theirs\"\n"
                                    "variant = \"as-published\"\n"),
                 "tiny");
  const Store store = testing::filled_store(
      folder.path() / "x.db", spec,
      [](std::size_t agent, std::uint64_t seed) -> std::vector<Measurement> {
        return {{10, "test_reward", static_cast<double>(agent * agent + seed)}};
      });
  const Results results(store, "tiny");
  const auto sentences = explain_variants(results, analyse(results));
  ASSERT_EQ(sentences.size(), 3U);
  EXPECT_NE(sentences[1].find("mine ends above MCRL"), std::string::npos) << sentences[1];
  EXPECT_NE(sentences[2].find("+3.000 [+3.000, +3.000] for mine"), std::string::npos)
      << sentences[2];
}

}  // namespace
}  // namespace hilo
