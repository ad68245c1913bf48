#pragma once

#include <exception>
#include <map>
#include <mutex>

#include "hilo/experiment/run.hpp"

// For the sources of this folder only.
namespace hilo {

// Passes records and progress to the callbacks, one thread at a time.
class Reporter {
 public:
  Reporter(const std::vector<RunGroup>& groups, const RunCallbacks& callbacks);

  // Reports the progress of a run. If the callback throws, that is not a failure of the run: the
  // exception is kept, the run is interrupted, and the caller stops the others (has_failed,
  // rethrow_failure).
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
  std::map<RunKey, double> under_way_;  // cost of the part that is done
  Progress progress_;
  double cost_ = 0, total_cost_ = 0;
};

}  // namespace hilo
