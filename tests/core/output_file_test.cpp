#include "hilo/core/output_file.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::expect_error;
using testing::read_text;
namespace fs = std::filesystem;

void write(const fs::path& path, const Overwrite& overwrite = {.mark = "a,b\n"}) {
  AtomicFile file(path, overwrite);
  file.out() << "a,b\nnew\n";
  file.commit();
}

TEST(AtomicFile, ReplacesOnCommitOnly) {
  const testing::TemporaryFolder folder;
  const auto path = folder.write("x.txt", "a,b\nold\n");
  {
    AtomicFile file(path, {.mark = "a,b\n"});
    file.out() << "half";
  }
  EXPECT_EQ(read_text(path), "a,b\nold\n");
  write(path);
  EXPECT_EQ(read_text(path), "a,b\nnew\n");
  EXPECT_FALSE(fs::exists(folder.path() / "x.txt.part"));
  expect_error([&] { write(folder.path() / "no" / "x"); }, Errc::io, {"cannot be written"});
}

TEST(AtomicFile, LeavesTheNeighboursOfItsFileAlone) {
  const testing::TemporaryFolder folder;
  const auto mine = folder.write("x.txt.part", "mine");
  write(folder.path() / "x.txt");
  EXPECT_EQ(read_text(mine), "mine");
}

TEST(AtomicFile, ReplacesWhatHiloDidNotWriteByForceOnly) {
  const testing::TemporaryFolder folder;
  const auto path = folder.write("x.txt", "my thesis");
  expect_error([&] { write(path); }, Errc::usage, {"x.txt", "hilo did not write", "--force"});
  EXPECT_EQ(read_text(path), "my thesis");
  write(path, {.mark = "a,b\n", .force = true});
  EXPECT_EQ(read_text(path), "a,b\nnew\n");
  write(folder.write("empty.txt", ""));  // there is nothing to lose
}

// However they are named, and whether or not they look like outputs.
TEST(AtomicFile, NeverReplacesWhatIsRead) {
  const testing::TemporaryFolder folder;
  const auto input = folder.write("in.csv", "a,b\nmine\n");
  fs::create_symlink("in.csv", folder.path() / "link.csv");
  fs::create_hard_link(input, folder.path() / "hard.csv");
  fs::create_directory(folder.path() / "tables");
  folder.write("tables/t.csv", "a,b\nmine\n");
  const Overwrite rules = {
      .mark = "a,b\n", .inputs = {input, folder.path() / "tables"}, .force = true};
  for (const char* name : {"in.csv", "link.csv", "hard.csv", "tables/../in.csv", "tables/t.csv",
                           "in.csv-wal", "in.csv.lock"}) {
    expect_error([&] { write(folder.path() / name, rules); }, Errc::usage, {name, "is read"});
    EXPECT_EQ(read_text(input), "a,b\nmine\n") << name;
  }
  EXPECT_EQ(read_text(folder.path() / "tables/t.csv"), "a,b\nmine\n");
}

TEST(AtomicFile, NeverReplacesAStore) {
  const testing::TemporaryFolder folder;
  const std::string store = std::string("SQLite format 3") + '\0' + "a,b\n";
  const auto path = folder.write("x.db", store);
  expect_error([&] { write(path, {.mark = "a,b\n", .force = true}); }, Errc::usage,
               {"x.db", "is a store"});
  EXPECT_EQ(read_text(path), store);
}

}  // namespace
}  // namespace hilo
