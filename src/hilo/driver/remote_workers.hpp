#pragma once

#include <optional>
#include <string>

#include "hilo/driver/learner.hpp"

namespace hilo {

// An expensive episode that has ended, well or not.
struct Arrival {
  LearnRequest request;
  Episode episode;
  bool failed = false;
  std::string error = {};
  double seconds = 0;
};

// Other processes that run expensive episodes for a learner, such as the ranks of an MPI job. Only
// the thread that uses the learner calls it.
class RemoteWorkers {
 public:
  RemoteWorkers() = default;
  RemoteWorkers(const RemoteWorkers&) = delete;
  RemoteWorkers& operator=(const RemoteWorkers&) = delete;
  virtual ~RemoteWorkers() = default;

  virtual std::size_t size() const = 0;      // episodes that can run there at the same time
  virtual std::size_t num_free() const = 0;  // how many more can be submitted now
  virtual void submit(const LearnRequest& request) = 0;
  // An episode that has ended, without waiting. Throws Interrupted if a process was told to stop.
  virtual std::optional<Arrival> poll() = 0;
};

}  // namespace hilo
