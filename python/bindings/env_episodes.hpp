#pragma once

#include "bindings.hpp"
#include "hilo/env/episode.hpp"

namespace hilo::python {

// Summaries of roll-outs without their paths, which Python reads as columns.
struct Summaries {
  std::vector<RolloutSummary> all;

  template <class T, class Get>
  std::vector<T> column(const Get& get) const {
    std::vector<T> out;
    out.reserve(all.size());
    for (const RolloutSummary& summary : all) out.push_back(static_cast<T>(get(summary)));
    return out;
  }
};

}  // namespace hilo::python
