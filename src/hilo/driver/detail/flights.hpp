#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "hilo/driver/learner.hpp"

// For the sources of this folder only: expensive episodes that run at the same time.
namespace hilo {

// An episode that has ended, well or not.
struct Arrival {
  LearnRequest request;
  Episode episode;
  bool failed = false;
  std::string error = {};
  double seconds = 0;
};

// Threads that run episodes of a simulator. They only run them: everything else is done, in order,
// by the thread that asks for them.
class Flights {
 public:
  // The simulator must outlive it.
  Flights(const EpisodeSimulator& high, std::size_t workers);
  Flights(const Flights&) = delete;
  Flights& operator=(const Flights&) = delete;
  // Episodes that are under way are given up.
  ~Flights();

  bool has(const EpisodeAddress& at) const { return open_.contains(at); }
  bool empty() const { return open_.empty(); }
  // The policy of the request must stay as it is until the episode has arrived.
  void submit(const LearnRequest& request);
  // The next episode that ends, in whatever order. Throws Interrupted if the thread is asked to
  // stop, and what a simulator threw that is no failure of its own.
  Arrival wait();
  // All that have ended by now, without waiting.
  std::deque<Arrival> take_arrived();

 private:
  void work();
  Arrival run(const LearnRequest& request) const;

  const EpisodeSimulator& high_;
  std::set<EpisodeAddress> open_;  // submitted and not yet given to the caller
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable submitted_, arrived_;
  std::deque<LearnRequest> requests_;
  std::deque<Arrival> arrivals_;
  std::exception_ptr broken_;
  std::vector<std::jthread> threads_;  // last: they use the members above
};

}  // namespace hilo
