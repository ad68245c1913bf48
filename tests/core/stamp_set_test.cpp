#include "hilo/core/stamp_set.hpp"

#include <gtest/gtest.h>

namespace hilo {
namespace {

TEST(StampSet, InsertsOnceAndClears) {
  StampSet set(4);
  EXPECT_TRUE(set.insert(2));
  EXPECT_FALSE(set.insert(2));
  EXPECT_TRUE(set.insert(1));
  set.clear();
  EXPECT_TRUE(set.insert(2));
}

}  // namespace
}  // namespace hilo
