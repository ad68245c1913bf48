#pragma once

#include <algorithm>
#include <string>

#include "hilo/core/error.hpp"
#include "hilo/core/parameters.hpp"
#include "hilo/report/results.hpp"

namespace hilo::cli {

// Throws, with the nearest name, unless the store has the experiment.
inline void require_experiment(const Store& store, const std::string& file,
                               const std::string& name) {
  const std::vector<std::string> known = store.experiments();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error(Errc::usage,
                file + ": there is no experiment '" + name + "'" + did_you_mean(name, known));
}

}  // namespace hilo::cli
