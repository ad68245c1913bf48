#include "hilo/policy/policy_file.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/expect_error.hpp"

namespace hilo {
namespace {

using testing::expect_error;

constexpr const char* kTable =
    R"({"hilo_policy": 1, "kind": "table", "name": "p", "states": 2, "actions": 3,
        "greedy": [[1], [0, 2]], "values": [[0, 1, 0], [5, 0, 5]]})";

constexpr const char* kCells =
    R"({"hilo_policy": 1, "kind": "table", "states": 4, "actions": 2,
        "grid": {"cells": [2, 2], "low": [0, 0], "high": [1, 1]},
        "action_grid": {"cells": [2], "low": [-1], "high": [1]},
        "greedy": [[0], [1], [0], [1]], "values": [[1, 0], [0, 1], [1, 0], [0, 1]]})";

TEST(PolicyFile, ActsAsATable) {
  const SavedPolicy saved = parse_policy(kTable, "p.json");
  EXPECT_EQ(saved.name, "p");
  EXPECT_EQ(saved.values.values[3], 5);
  const auto policy = saved.on(Space::discrete(2), Space::discrete(3));
  ASSERT_NE(policy->table(), nullptr);
  Points seen(policy->observation_space()), chosen(policy->action_space());
  seen.push_back(std::uint64_t{0});
  seen.push_back(std::uint64_t{1});
  seen.push_back(std::uint64_t{1});
  const ActionWords words[] = {{0, 0}, {0, 0}, {0, 0xffffffffU}};
  policy->act(seen, words, chosen);
  EXPECT_EQ(chosen[0].index(), 1U);
  EXPECT_EQ(chosen[1].index(), 0U);
  EXPECT_EQ(chosen[2].index(), 2U);  // the other of two that tie
}

TEST(PolicyFile, ActsOnVectorsThroughItsGrids) {
  const auto policy =
      parse_policy(kCells, "p.json").on(Space::box({-5, -5}, {5, 5}), Space::box({-2}, {2}));
  EXPECT_EQ(policy->table(), nullptr);
  Points seen(policy->observation_space()), chosen(policy->action_space());
  const double low_high[] = {0.1, 0.9}, outside[] = {-3, -3};
  seen.push_back(std::span<const double>(low_high));
  seen.push_back(std::span<const double>(outside));  // belongs to the nearest cell
  const ActionWords words[2] = {};
  policy->act(seen, words, chosen);
  EXPECT_EQ(chosen[0].coordinates()[0], 0.5);
  EXPECT_EQ(chosen[1].coordinates()[0], -0.5);
}

TEST(PolicyFile, HashesWhatItDoesAndNotItsName) {
  std::string renamed = kTable;
  renamed.replace(renamed.find("\"p\""), 3, "\"q\"");
  EXPECT_EQ(parse_policy(kTable, "").hash, parse_policy(renamed, "").hash);
  std::string other = kTable;
  other.replace(other.find("[[1]"), 4, "[[2]");
  EXPECT_NE(parse_policy(kTable, "").hash, parse_policy(other, "").hash);
}

TEST(PolicyFile, RefusesWhatDoesNotFit) {
  const SavedPolicy saved = parse_policy(kTable, "p.json");
  expect_error([&] { saved.on(Space::discrete(3), Space::discrete(3)); }, Errc::usage,
               {"2 states"});
  expect_error([&] { saved.on(Space::discrete(2), Space::discrete(2)); }, Errc::usage,
               {"3 actions"});
  expect_error([&] { saved.on(Space::box({0}, {1}), Space::discrete(3)); }, Errc::usage,
               {"2 states"});
  const auto broken = [](const std::string& from, const std::string& to,
                         const std::vector<std::string>& parts) {
    std::string text = kTable;
    text.replace(text.find(from), from.size(), to);
    expect_error([&] { parse_policy(text, "p.json"); }, Errc::data, parts);
  };
  broken("\"hilo_policy\": 1", "\"hilo_policy\": 2", {"p.json", "version"});
  broken("\"hilo_policy\": 1,", "", {"is not a policy"});
  broken("\"states\": 2", "\"states\": 0", {"states"});
  broken("\"states\": 2", "\"states\": 4000000000", {"table"});
  broken("[[1], [0, 2]]", "[[1]]", {"greedy"});
  broken("[[1], [0, 2]]", "[[1], [2, 0]]", {"state 1", "rising"});
  broken("[[1], [0, 2]]", "[[1], [3]]", {"state 1", "0 to 2"});
  broken("[[1], [0, 2]]", "[[1], []]", {"state 1"});
  broken("[5, 0, 5]", "[5, 0]", {"values"});
  broken("[5, 0, 5]", "[5, 0, \"x\"]", {"values"});
  expect_error([] { parse_policy("{", "p.json"); }, Errc::data, {"p.json"});
  std::string cells = kCells;
  cells.replace(cells.find("[2, 2]"), 6, "[2, 3]");
  expect_error([&] { parse_policy(cells, "p.json"); }, Errc::data, {"grid", "6 cells"});
}

TEST(UniformPolicy, DrawsFromItsWords) {
  const auto policy = uniform_policy(Space::box({0}, {1}), Space::box({-1, 0}, {1, 10}));
  Points seen(policy->observation_space()), chosen(policy->action_space());
  const double x = 0.5;
  for (int i = 0; i < 2; ++i) seen.push_back(std::span(&x, 1));
  const ActionWords words[] = {{1, 2}, {3, 4}};
  policy->act(seen, words, chosen);
  EXPECT_NE(chosen[0].coordinates()[0], chosen[1].coordinates()[0]);
  EXPECT_TRUE(policy->action_space().contains(chosen[0]));
  expect_error(
      [] {
        uniform_policy(Space::discrete(2),
                       Space::box({0}, {std::numeric_limits<double>::infinity()}));
      },
      Errc::usage, {"finite"});
}

}  // namespace
}  // namespace hilo
