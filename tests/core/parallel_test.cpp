#include "hilo/core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace hilo {
namespace {

TEST(ParallelFor, CallsEveryIndexOnce) {
  for (const unsigned threads : {0U, 1U, 2U, 7U}) {
    std::vector<std::atomic<int>> calls(100);
    parallel_for(calls.size(), threads, [&](std::size_t i) { ++calls[i]; });
    for (const auto& c : calls) EXPECT_EQ(c, 1);
  }
  parallel_for(0, 2, [](std::size_t) { FAIL(); });
}

TEST(ParallelFor, CarriesTheFirstExceptionOutAndStops) {
  for (const unsigned threads : {1U, 3U}) {
    std::atomic<int> calls = 0;
    try {
      parallel_for(10'000, threads, [&](std::size_t i) {
        ++calls;
        if (i >= 3) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "no exception";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "3");  // handed out before any other that throws
    }
    EXPECT_LT(calls, 100);
  }
}

}  // namespace
}  // namespace hilo
