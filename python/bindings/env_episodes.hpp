#pragma once

#include "bindings.hpp"
#include "hilo/env/episode.hpp"

namespace hilo::python {

// What is left of roll-outs whose paths nobody needs, as columns.
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
