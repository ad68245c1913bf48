#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hilo/experiment/records.hpp"

namespace hilo {

// A run as those see it that execute plans: it is done in pieces, and can be saved between any two
// of them.
class ResumableRun {
 public:
  virtual ~ResumableRun() = default;

  // Does the next piece of work. Returns whether the run is done.
  virtual bool step() = 0;
  virtual bool is_done() const = 0;
  virtual double share() const = 0;  // of the budget that is spent

  // What goes into a store. The run must be done.
  virtual RunRecord record() const = 0;

  // Whether the agent can be saved and no exception was thrown in the middle of a piece of work.
  virtual bool can_be_saved() const = 0;
  virtual std::vector<std::byte> save() const = 0;
  // Throws unless the bytes are a saved state of the same run. The object must not be used after it
  // has thrown.
  virtual void load(std::span<const std::byte> bytes) = 0;

 protected:
  ResumableRun() = default;
  ResumableRun(const ResumableRun&) = default;
  ResumableRun& operator=(const ResumableRun&) = default;
};

}  // namespace hilo
