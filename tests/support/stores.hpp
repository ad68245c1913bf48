#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <functional>

#include "hilo/store/store.hpp"
#include "support/specs.hpp"

namespace hilo::testing {

// Changes a store behind its back.
inline void execute(const std::filesystem::path& file, const char* sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

// A store with the runs of a spec, as if they had been run: `measure` gives the results of an agent
// (counted from 0) and a seed; none leaves the run out.
inline Store filled_store(
    const std::filesystem::path& file, const Spec& spec,
    const std::function<std::vector<Measurement>(std::size_t agent, std::uint64_t seed)>& measure) {
  Store store = Store::open(file);
  store.define_experiment(spec);
  for (std::size_t agent = 0; agent < spec.configs.size(); ++agent)
    for (std::uint64_t seed = spec.seeds.first; seed <= spec.seeds.last; ++seed) {
      RunRecord record;
      record.key = {spec.configs[agent].hash, seed, spec.configs[agent].agent->algorithm_version};
      record.configuration = spec.configs[agent].configuration;
      record.measurements = measure(agent, seed);
      if (!record.measurements.empty()) store.append(record);
    }
  return store;
}

// Two agents, three seeds: test_reward is 0 at 0, and 1, 2, 6 or 2, 4, 9 at 10.
inline Store example_store(const std::filesystem::path& file) {
  const double values[2][3] = {{1, 2, 6}, {2, 4, 9}};
  return filled_store(file, parse_spec(tiny_spec("[[agent]]\nkind = \"mfmcrl\"\n"), "tiny"),
                      [&](std::size_t agent, std::uint64_t seed) -> std::vector<Measurement> {
                        return {{0, "test_reward", 0}, {10, "test_reward", values[agent][seed]}};
                      });
}

}  // namespace hilo::testing
