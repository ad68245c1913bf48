#include "hilo/env/table_csv.hpp"

#include "support/expect_error.hpp"
#include "support/problems.hpp"
#include "support/temporary_folder.hpp"

namespace hilo {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

constexpr const char* kHeader = "state,action,next,probability,reward\n";
constexpr const char* kRows[] = {
    "0,0,1,1,1\n", "0,1,0,0.5,2\n", "0,1,1,0.5,2\n", "1,0,2,1,4\n",
    "1,1,2,1,8\n", "2,0,2,1,0\n",   "2,1,2,1,0\n",
};

std::string table(const std::vector<std::string>& rows) {
  std::string text = kHeader;
  for (const std::string& row : rows) text += row;
  return text;
}

std::vector<std::string> rows() { return {std::begin(kRows), std::end(kRows)}; }

// Loads a folder with this transitions.csv and a good start.csv, or the other way round.
void load(const std::string& transitions, const std::string& start = "state,probability\n0,1\n") {
  const TemporaryFolder folder;
  folder.write("transitions.csv", transitions);
  folder.write("start.csv", start);
  load_mdp(folder.path());
}

TEST(TableCsv, RoundTripIsExact) {
  const TemporaryFolder folder;
  const auto mdp = testing::small_mdp(7);
  save_mdp(*mdp, folder.path() / "a");
  const auto loaded = load_mdp(folder.path() / "a");
  save_mdp(*loaded, folder.path() / "b");
  for (const char* file : {"transitions.csv", "start.csv"})
    EXPECT_EQ(testing::read_text(folder.path() / "a" / file),
              testing::read_text(folder.path() / "b" / file));
  EXPECT_TRUE(testing::same_mdp(*loaded, *mdp));
  EXPECT_TRUE(loaded->is_terminal(11));
}

TEST(TableCsv, ReadsRewardsThatDependOnTheSuccessor) {
  const TemporaryFolder folder;
  auto lines = rows();
  lines[2] = "0,1,1,0.5,6\n";
  folder.write("transitions.csv", table(lines));
  folder.write("start.csv", "state,probability\n0,0.25\n1,0.75\n");
  const auto mdp = load_mdp(folder.path());
  EXPECT_EQ(mdp->reward(0, 1, 0), 2);
  EXPECT_EQ(mdp->reward(0, 1, 1), 6);
  EXPECT_EQ(mdp->expected_reward(0, 1), 4);
  EXPECT_EQ(mdp->start_distribution().size(), 2U);
}

TEST(TableCsv, RejectsBadTransitions) {
  EXPECT_NO_THROW(load(table(rows())));
  const auto with = [](std::size_t i, const std::string& row) {
    auto lines = rows();
    lines[i] = row;
    return [text = table(lines)] { load(text); };
  };
  const std::string file = "transitions.csv:";

  // missing
  expect_error(with(1, ""), Errc::data, {file + "4:", "state 0, action 1", "sum to 0.5"});
  expect_error(with(3, ""), Errc::data, {file + "5: rows are missing before state 1, action 1"});
  expect_error(with(0, ""), Errc::data, {file + "2: rows are missing before state 0, action 1"});
  expect_error(with(6, ""), Errc::data,
               {file, "rows are missing at the end: state 2 needs rows for actions 0 to 1"});
  expect_error(
      [] {
        load(table({kRows[0], kRows[1], kRows[2], kRows[3], kRows[4]}));
      },
      Errc::data, {"line 5 leads to state 2, but there are rows for states 0 to 1"});
  expect_error([] { load(kHeader); }, Errc::data, {file, "there are no rows"});
  // doubled
  expect_error(with(2, "0,1,0,0.5,2\n"), Errc::data,
               {file + "4: state 0, action 1, next 0 is there twice"});
  // reordered
  expect_error(with(2, "0,0,1,0.5,2\n"), Errc::data,
               {file + "4: state 0, action 0 comes after state 0, action 1", "must be sorted"});
  expect_error(with(1, "0,1,2,0.5,2\n"), Errc::data, {file + "4: next is 1 after 2", "sorted"});
  expect_error([] { load("action,state,next,probability,reward\n"); }, Errc::data,
               {file + "1: header is"});
  // surplus
  expect_error(with(4, "1,1,2,1,8\n1,2,2,1,8\n"), Errc::data,
               {file + "7: action is 2, but state 0 has only the actions 0 to 1"});
  // not numbers
  expect_error(with(3, "1,zero,2,1,4\n"), Errc::data, {file + "5: action is 'zero'"});
  expect_error(with(3, "1,0,2,1,nan\n"), Errc::data, {file + "5: reward is 'nan'"});
  expect_error(with(3, "1,0,2,inf,4\n"), Errc::data, {file + "5: probability is 'inf'"});
  expect_error(with(3, "1,0,2,1\n"), Errc::data, {file + "5: 4 fields"});
  // not probabilities
  expect_error(with(3, "1,0,2,-1,4\n"), Errc::data, {file + "5: probability is -1", "(0, 1]"});
  expect_error(with(3, "1,0,2,0,4\n"), Errc::data, {"probability is 0"});
  expect_error(with(3, "1,0,2,0.9,4\n"), Errc::data, {file + "6:", "state 1, action 0", "0.9"});
  // no way to the end, and a terminal state that pays
  expect_error(with(5, "2,0,0,1,0\n"), Errc::data, {"transitions.csv", "no terminal state"});
  expect_error(with(6, "2,1,2,1,3\n"), Errc::data,
               {"transitions.csv: state 2, action 1", "terminal, but its reward is 3"});
  EXPECT_NO_THROW(with(3, "1,0,1,1,4\n")());  // action 0 stays in state 1, but action 1 ends
}

TEST(TableCsv, RejectsBadStarts) {
  const auto start = [](const std::string& lines) {
    return [lines] { load(table(rows()), "state,probability\n" + lines); };
  };
  expect_error(start("0,0.5\n"), Errc::data, {"start.csv", "sum to 0.5"});
  expect_error(start("2,1\n"), Errc::data, {"start.csv", "start state 2 is terminal"});
  expect_error(start("3,1\n"), Errc::data, {"start.csv:2: state is '3'", "[0, 2]"});
  expect_error(start("0,0.5\n0,0.5\n"), Errc::data, {"start.csv:3: state 0 is there twice"});
  expect_error(start("1,0.5\n0,0.5\n"), Errc::data, {"start.csv:3:", "sorted"});
  expect_error(start("0,-1\n"), Errc::data, {"start.csv:2: probability is -1"});
  expect_error(start(""), Errc::data, {"start.csv", "sum to 0"});
  const TemporaryFolder folder;
  expect_error([&] { load_mdp(folder.path()); }, Errc::io, {"transitions.csv", "cannot be read"});
}

TEST(TableCsv, PairsRoundTripWithAndWithoutAMap) {
  const TemporaryFolder folder;
  const auto high = testing::small_mdp(1, 5, 2);
  const auto low = testing::line_mdp();
  save_pair(*high, *low, StateMap({0, 1, 0, 1, 2}, 3), folder.path());
  const Fidelities pair = load_pair(folder.path());
  EXPECT_EQ(pair.map().low_of(3), 1U);
  EXPECT_EQ(pair.low().num_states(), 3U);

  std::filesystem::remove(folder.path() / "map.csv");
  expect_error([&] { load_pair(folder.path()); }, Errc::data, {"map.csv", "5 and 3 states"});
  save_mdp(*high, folder.path() / "low");
  EXPECT_EQ(load_pair(folder.path()).map().low_of(3), 3U);
}

TEST(TableCsv, RejectsBadMaps) {
  const TemporaryFolder folder;
  save_pair(*testing::line_mdp(), *testing::line_mdp(), StateMap::identity(3), folder.path());
  const auto with = [&](const std::string& lines) {
    return [&folder, lines] {
      folder.write("map.csv", "high,low\n" + lines);
      load_pair(folder.path());
    };
  };
  EXPECT_NO_THROW(with("0,0\n1,1\n2,2\n")());
  expect_error(with("0,0\n1,3\n2,2\n"), Errc::data, {"map.csv:3: low is '3'", "[0, 2]"});
  expect_error(with("0,0\n2,2\n"), Errc::data, {"map.csv:3: high is 2, but must be 1"});
  expect_error(with("0,0\n0,0\n"), Errc::data, {"map.csv:3: high is 0, but must be 1"});
  expect_error(with("0,0\n1,1\n"), Errc::data, {"map.csv:3: the map ends after 2 states"});
  expect_error(with("0,0\n1,1\n2,0\n"), Errc::data, {"map.csv", "terminal state 2 to 0"});
}

}  // namespace
}  // namespace hilo
