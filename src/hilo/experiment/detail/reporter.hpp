#pragma once

#include <exception>
#include <map>
#include <mutex>

#include "hilo/experiment/run.hpp"

// For the sources of this folder only.
namespace hilo {

// Hands records and progress to the callbacks, one thread at a time.
class Reporter {
 public:
  Reporter(const std::vector<RunGroup>& groups, const RunCallbacks& callbacks);

  // The run is that far. What the callback throws is none of the run's faults: the run is given up,
  // and all is stopped by whoever asks.
  void advance(const PlannedRun& run, double share);
  bool has_failed();
  void rethrow_failure();

  void finish(const PlannedRun& run, const RunRecord& record);

  Progress progress() const { return progress_; }

 private:
  void tell();

  const RunCallbacks& callbacks_;
  std::mutex mutex_;
  std::exception_ptr failure_;          // of a callback
  std::map<RunKey, double> under_way_;  // cost of what is done of them
  Progress progress_;
  double cost_ = 0, total_cost_ = 0;
};

}  // namespace hilo
