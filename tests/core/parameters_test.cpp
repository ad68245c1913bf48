#include "hilo/core/parameters.hpp"

#include "support/expect_error.hpp"

namespace hilo {
namespace {

using testing::expect_error;

const std::vector<ParameterInfo> kInfos = {
    {"states", "number of states", std::int64_t{200}, 2, 1000, {}},
    {"epsilon", "exploration", 0.1, 0, 1, {}},
    {"variant", "which", "as-written", 0, 0, {"as-written", "as-published"}},
    {"folder", "where the tables are", {}, 0, 0, {}},
};

Parameters check(std::map<std::string, Value> given) {
  given.try_emplace("folder", "here");
  return {"agent 2", kInfos, given};
}

TEST(Parameters, FillsInDefaultsAndWidensWholeNumbers) {
  const Parameters p = check({{"epsilon", std::int64_t{1}}, {"variant", "as-published"}});
  EXPECT_EQ(p.integer("states"), 200);
  EXPECT_EQ(p.number("epsilon"), 1.0);
  EXPECT_EQ(p.text("variant"), "as-published");
  EXPECT_EQ(p.all().size(), 4U);
  expect_error([&] { p.number("states"); }, Errc::usage, {"states"});
}

TEST(Parameters, NamesWhatIsWrongAndWhatIsAllowed) {
  expect_error(
      [] {
        check({{"epsilom", 0.1}});
      },
      Errc::spec, {"agent 2", "unknown key 'epsilom'", "did you mean 'epsilon'?"});
  expect_error([] { check({{"zzzzzzzz", 0.1}}); }, Errc::spec, {"known: states, epsilon"});
  expect_error(
      [] {
        check({{"states", 2.5}});
      },
      Errc::spec, {"agent 2: states is 2.5, but must be a whole number"});
  expect_error([] { check({{"states", "many"}}); }, Errc::spec, {"states is \"many\""});
  expect_error([] { check({{"states", true}}); }, Errc::spec, {"states is true"});
  expect_error(
      [] {
        check({{"states", std::int64_t{1}}});
      },
      Errc::spec, {"states is 1, but must be in [2, 1000]"});
  expect_error([] { check({{"epsilon", 1.5}}); }, Errc::spec, {"epsilon is 1.5", "[0, 1]"});
  expect_error(
      [] {
        check({{"variant", "as-publshed"}});
      },
      Errc::spec, {"'as-publshed'", "as-written, as-published", "did you mean 'as-published'?"});
  expect_error([] { check({{"folder", ""}}); }, Errc::spec, {"folder must not be empty"});
  expect_error([] { Parameters("agent 2", kInfos, {}); }, Errc::spec,
               {"key 'folder' is missing: where the tables are"});
}

}  // namespace
}  // namespace hilo
