#include "hilo/core/archive.hpp"

#include "support/expect_error.hpp"

namespace hilo {
namespace {

using testing::expect_error;

std::vector<std::byte> example() {
  ArchiveWriter out("thing", 3);
  out.value(std::uint32_t{7});
  const double xs[] = {1.5, -2};
  out.array<double>(xs);
  return out.finish();
}

TEST(Archive, RoundTrip) {
  const auto bytes = example();
  ArchiveReader in(bytes, "thing", 3);
  EXPECT_EQ(in.value<std::uint32_t>(), 7U);
  std::vector<double> xs(2);
  in.array<double>("length", xs);
  in.finish();
  EXPECT_EQ(xs, (std::vector<double>{1.5, -2}));
}

TEST(Archive, RejectsOtherTagsAndVersions) {
  const auto bytes = example();
  expect_error([&] { ArchiveReader(bytes, "other", 3); }, Errc::data, {"'thing'", "'other'"});
  expect_error([&] { ArchiveReader(bytes, "thing", 4); }, Errc::data, {"version 3", "version 4"});
}

TEST(Archive, RejectsEveryCutAndEveryFlippedByte) {
  const auto bytes = example();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(ArchiveReader(std::span(bytes).first(size), "thing", 3), Error) << size;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto broken = bytes;
    broken[i] ^= std::byte{1};
    EXPECT_THROW(ArchiveReader(broken, "thing", 3), Error) << i;
  }
}

TEST(Archive, RejectsOtherLengthsAndLeftovers) {
  const auto bytes = example();
  ArchiveReader in(bytes, "thing", 3);
  expect_error([&] { in.finish(); }, Errc::data, {"too many"});
  in.value<std::uint32_t>();
  std::vector<double> xs(3);
  expect_error([&] { in.array<double>("number of values", xs); }, Errc::data, {"number of values"});
}

}  // namespace
}  // namespace hilo
