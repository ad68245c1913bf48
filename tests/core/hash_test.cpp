#include "hilo/core/hash.hpp"

#include <gtest/gtest.h>

namespace hilo {
namespace {

// Known values of FNV-1a, 64 bits.
TEST(Hash, MatchesKnownValues) {
  EXPECT_EQ(hash_hex(""), "cbf29ce484222325");
  EXPECT_EQ(hash_hex("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(hash_hex("foobar"), "85944171f73967e8");
}

}  // namespace
}  // namespace hilo
