#pragma once

#include <vector>

#include "hilo/core/archive.hpp"
#include "hilo/core/fact.hpp"
#include "hilo/env/fidelities.hpp"

namespace hilo {

// Watches one run on a problem, and tells what people of its field want to know beside the metrics
// that all problems have. It belongs to one run on one thread and changes nothing in it.
class RunObserver {
 public:
  RunObserver() = default;
  RunObserver(const RunObserver&) = delete;
  RunObserver& operator=(const RunObserver&) = delete;
  virtual ~RunObserver() = default;

  // What to train on: the problem's pair, its low fidelity watched.
  virtual const Fidelities& pair() const = 0;

  virtual void see(const Episode& training_episode) = 0;

  virtual std::vector<Fact> at_test() = 0;
  virtual std::vector<Fact> at_end() = 0;

  // All that it has seen, so that a run which was interrupted goes on with the same bits.
  virtual void save(ArchiveWriter& out) const = 0;
  virtual void load(ArchiveReader& in) = 0;
};

}  // namespace hilo
