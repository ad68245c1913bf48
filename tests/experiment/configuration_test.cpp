#include "hilo/experiment/configuration.hpp"

#include <gtest/gtest.h>

#include "hilo/core/hash.hpp"

namespace hilo {
namespace {

TEST(Configuration, HasItsValuesByNameAndItsHashOverItsLines) {
  Configuration configuration;
  configuration.add("agent.kind", "\"mcrl\"");
  configuration.add("train.gamma", "0.99");
  EXPECT_EQ(configuration.value("agent.kind"), "mcrl");
  EXPECT_EQ(configuration.number("train.gamma"), 0.99);
  EXPECT_EQ(configuration.value("train.gamm"), "");
  EXPECT_EQ(configuration.number("agent.none"), 0);
  EXPECT_EQ(configuration.text(), "agent.kind = \"mcrl\"\ntrain.gamma = 0.99\n");
  EXPECT_EQ(configuration.hash(), hash_hex(configuration.text()));
  EXPECT_EQ(Configuration::from_text(configuration.text()), configuration);
}

// Texts come from old stores and from other processes, and may be damaged: what is read from one
// has its hash only if it is the text that was written.
TEST(Configuration, ADamagedTextDoesNotGetTheHashOfAWholeOne) {
  const std::string text = "agent.kind = \"mcrl\"\ntrain.gamma = 0.99\n";
  for (const std::string& damaged :
       {std::string("agent.kind \"mcrl\"\ntrain.gamma = 0.99\n"), text + "\n", " " + text,
        std::string("agent.kind = \"mcrl\" train.gamma = 0.99\n"), std::string("= \n")})
    EXPECT_NE(Configuration::from_text(damaged).hash(), hash_hex(text)) << damaged;
  EXPECT_TRUE(Configuration::from_text("").empty());
}

}  // namespace
}  // namespace hilo
