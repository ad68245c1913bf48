#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cli/standard_streams.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/parameters.hpp"
#include "hilo/report/results.hpp"

namespace hilo::cli {

// Throws unless the store has the experiment. The message suggests the nearest name.
inline void require_experiment(const Store& store, const std::string& file,
                               const std::string& name) {
  const std::vector<std::string> known = store.experiments();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error(Errc::usage,
                file + ": there is no experiment '" + name + "'" + did_you_mean(name, known));
}

// Warns of runs that hilo 0.1 wrote, because they have no checksums.
inline void say_what_is_unverified(const Store& store, const std::string& file) {
  if (const std::uint64_t runs = store.unverified(); runs > 0)
    say(fmt::format("note: {}: {} runs are unverified: hilo 0.1 wrote them, without checksums\n",
                    file, runs));
}

}  // namespace hilo::cli
