#include "hilo/experiment/detail/record_bytes.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

RunRecord example() {
  RunRecord record;
  record.key = {.config = "0123456789abcdef", .seed = 1ULL << 40, .algorithm_version = 3};
  record.configuration = Configuration::from_text("agent.kind = \"mcrl\"\n");
  record.failed = true;
  record.error = "no good";
  record.measurements = {{10, "test_reward", 0.1},
                         {20, "policy_value", -std::numeric_limits<double>::infinity()}};
  record.policy = q_table_artifact(2, 1, std::vector<double>{1, 2});
  record.standard_errors = {std::numeric_limits<double>::infinity(), 0};
  record.host = "here";
  record.machine = "a machine";
  return record;
}

TEST(RecordBytes, ComeBackAsTheyWent) {
  const RunRecord record = example();
  const RunRecord back = record_from_bytes(to_bytes(record));
  EXPECT_EQ(back.key, record.key);
  EXPECT_EQ(back.configuration, record.configuration);
  EXPECT_EQ(back.failed, record.failed);
  EXPECT_EQ(back.error, record.error);
  ASSERT_EQ(back.measurements.size(), 2U);
  EXPECT_EQ(back.measurements[1].episode, 20U);
  EXPECT_EQ(back.measurements[1].metric, "policy_value");
  EXPECT_EQ(back.measurements[1].value, record.measurements[1].value);
  EXPECT_EQ(back.policy, record.policy);
  EXPECT_EQ(back.standard_errors, record.standard_errors);
  EXPECT_EQ(back.host, "here");
  EXPECT_EQ(back.machine, "a machine");
}

TEST(RecordBytes, AnyDamageIsFound) {
  const std::vector<std::byte> good = to_bytes(example());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<std::byte> bad = good;
    bad[i] ^= std::byte{0x10};
    EXPECT_THROW(record_from_bytes(bad), Error) << i;
    EXPECT_THROW(record_from_bytes(std::span(good).first(i)), Error) << i;
  }
}

}  // namespace
}  // namespace hilo
