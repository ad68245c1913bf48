#include "hilo/driver/run_specs.hpp"

#include "hilo/store/store.hpp"
#include "support/expect_error.hpp"
#include "support/specs.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace hilo {
namespace {

using testing::TemporaryFolder;

TEST(RunSpecs, RunsWhatTheStoreDoesNotHave) {
  const TemporaryFolder folder;
  const RunRequest request = {.store = folder.path() / "s.db", .threads = 1};
  const Spec spec = parse_spec(testing::tiny_spec(), "tiny");
  ThreadExecutor executor(1);
  std::size_t starts = 0;
  std::vector<Progress> told;
  const RunWatcher watcher = {.on_start = [&] { ++starts; },
                              .on_progress = [&](const Progress& p) { told.push_back(p); },
                              .keep_going = [] { return true; }};
  const RunForecast before = forecast({&spec, 1}, request);
  EXPECT_EQ(before.to_do, before.total);
  EXPECT_FALSE(std::filesystem::exists(request.store));  // a forecast writes nothing

  const RunOutcome first = run_specs({&spec, 1}, request, executor, watcher);
  EXPECT_EQ(first.done, first.total);
  EXPECT_EQ(first.failed, 0U);
  EXPECT_FALSE(first.interrupted);
  EXPECT_EQ(starts, 1U);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().done, first.total);

  const RunOutcome second = run_specs({&spec, 1}, request, executor, watcher);
  EXPECT_EQ(second.done, 0U);
  EXPECT_EQ(second.total, first.total);
  EXPECT_EQ(starts, 1U);  // nothing to do
  EXPECT_EQ(forecast({&spec, 1}, request).to_do, 0U);
}

TEST(RunSpecs, StopsWhenToldAndGoesOn) {
  const TemporaryFolder folder;
  const RunRequest request = {.store = folder.path() / "s.db", .threads = 1};
  const Spec spec = parse_spec(testing::tiny_spec(), "tiny");
  ThreadExecutor executor(1);
  std::size_t done = 0;
  const RunOutcome stopped = run_specs({&spec, 1}, request, executor,
                                       {.on_progress = [&](const Progress& p) { done = p.done; },
                                        .keep_going = [&] { return done < 1; }});
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_LT(stopped.done, stopped.total);
  const RunOutcome rest = run_specs({&spec, 1}, request, executor, {});
  EXPECT_EQ(stopped.done + rest.done, rest.total);
}

TEST(RunSpecs, WhatIsMissingIsSaidBeforeAStoreIsMade) {
  const TemporaryFolder folder;
  const RunRequest request = {.store = folder.path() / "s.db", .threads = 1};
  ThreadExecutor executor(1);
  testing::expect_error(
      [&] {
        const Spec spec = parse_spec(
            "spec_version = 1\nname = \"t\"\n[problem]\nkind = \"table\"\nfolder = "
            "\"/nowhere\"\n[train]\nepisodes = 1\n[[agent]]\nkind = \"mcrl\"\n",
            "t");
        run_specs({&spec, 1}, request, executor, {});
      },
      Errc::io, {"/nowhere"});
  EXPECT_FALSE(std::filesystem::exists(request.store));
}

}  // namespace
}  // namespace hilo
