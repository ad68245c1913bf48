#include "hilo/core/bulk_random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace hilo {
namespace {

TEST(BulkRandom, EveryPathGivesTheNumbersOfAnRng) {
  const Stream stream(0xfedcba9876543210U, Purpose::problem_transition_noise, 77, 5, 9);
  for (const SimdPath path : simd_paths()) {
    for (const std::size_t size : {0U, 1U, 3U, 4U, 63U, 64U, 65U, 1000U, 5000U}) {
      std::vector<double> uniform(size), normal(size);
      fill_uniform(stream, uniform, path);
      fill_normal(stream, normal, path);
      Rng for_uniform(stream);
      Rng for_normal(stream);
      for (std::size_t i = 0; i < size; ++i) {
        ASSERT_EQ(uniform[i], for_uniform.uniform()) << name_of(path) << ", " << i;
        ASSERT_EQ(normal[i], for_normal.normal()) << name_of(path) << ", " << i;
      }
    }
  }
}

TEST(SimdPath, NamesWhatThisCpuHas) {
  const std::vector<SimdPath> paths = simd_paths();
  ASSERT_GE(paths.size(), 2U);
  EXPECT_EQ(paths.front(), SimdPath::scalar);
  EXPECT_EQ(name_of(paths[1]), "portable");
  // The one in use is one of them.
  EXPECT_NE(std::find(paths.begin(), paths.end(), simd_path()), paths.end());
}

}  // namespace
}  // namespace hilo
