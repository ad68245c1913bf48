#include "hilo/core/csv.hpp"

#include <array>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::expect_error;

constexpr std::array<std::string_view, 2> kColumns = {"a", "b"};

TEST(CsvReader, ReadsNumbersAndBothLineEnds) {
  const testing::TemporaryFolder folder;
  CsvReader csv(folder.write("x.csv", "a,b\r\n1,2.5\n3,-1e-3"), kColumns);
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.whole(0, 10), 1U);
  EXPECT_EQ(csv.number(1), 2.5);
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.number(1), -1e-3);
  EXPECT_FALSE(csv.next());
}

// /proc/self/mem is a file whose first bytes cannot be read.
TEST(CsvReader, NamesTheFileThatTheSystemCannotRead) {
  expect_error([] { CsvReader("/proc/self/mem", kColumns); }, Errc::io,
               {"/proc/self/mem:1: reading failed"});
}

TEST(CsvReader, NamesFileLineColumnAndValue) {
  const testing::TemporaryFolder folder;
  const auto first_line = [&](const std::string& line) {
    return [&folder, line] {
      CsvReader csv(folder.write("x.csv", "a,b\n" + line + "\n"), kColumns);
      csv.next();
      csv.whole(0, 10);
      csv.number(1);
    };
  };
  expect_error(first_line("11,1"), Errc::data, {"x.csv:2: a is '11'", "[0, 10]"});
  expect_error(first_line("-1,1"), Errc::data, {"x.csv:2: a is '-1'"});
  expect_error(first_line("1.5,1"), Errc::data, {"a is '1.5'", "whole number"});
  expect_error(first_line("1,two"), Errc::data, {"b is 'two'", "finite number"});
  expect_error(first_line("1,nan"), Errc::data, {"b is 'nan'"});
  expect_error(first_line("1,inf"), Errc::data, {"b is 'inf'"});
  expect_error(first_line("1,"), Errc::data, {"b is ''"});
  expect_error(first_line("1"), Errc::data, {"x.csv:2: 1 fields, but there must be 2: a,b"});
  expect_error(first_line("1,2,3"), Errc::data, {"3 fields"});
  expect_error(first_line(""), Errc::data, {"1 fields"});
  expect_error([&] { CsvReader(folder.write("y.csv", "b,a\n"), kColumns); }, Errc::data,
               {"y.csv:1: header is 'b,a', but must be 'a,b'"});
  expect_error([&] { CsvReader(folder.write("y.csv", ""), kColumns); }, Errc::data,
               {"header is ''"});
  expect_error([&] { CsvReader(folder.path() / "none.csv", kColumns); }, Errc::io, {"none.csv"});
  expect_error([&] { CsvReader(folder.path(), kColumns); }, Errc::io, {"cannot be read"});
}

}  // namespace
}  // namespace hilo
