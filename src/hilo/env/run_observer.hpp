#pragma once

#include <vector>

#include "hilo/core/archive.hpp"
#include "hilo/core/fact.hpp"
#include "hilo/env/fidelities.hpp"

namespace hilo {

// Watches one run on a problem and records metrics of the problem's field, beside those that all
// problems have. It belongs to one run on one thread and does not change the run.
class RunObserver {
 public:
  RunObserver() = default;
  RunObserver(const RunObserver&) = delete;
  RunObserver& operator=(const RunObserver&) = delete;
  virtual ~RunObserver() = default;

  // The pair to train on: that of the problem, with a low fidelity that reports its steps here.
  virtual const Fidelities& pair() const = 0;

  virtual void see(const Episode& training_episode) = 0;

  virtual std::vector<Fact> at_test() = 0;
  virtual std::vector<Fact> at_end() = 0;

  // Save and restore everything observed so far, so that an interrupted run continues with the same
  // bits.
  virtual void save(ArchiveWriter& out) const = 0;
  virtual void load(ArchiveReader& in) = 0;
};

}  // namespace hilo
