#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "hilo/driver/remote_workers.hpp"

// For the sources of this folder only: expensive episodes that run at the same time.
namespace hilo {

// Threads that run episodes of a simulator, and other processes that do the same. They only run
// them: everything else is done, in order, by the thread that asks for them.
class Flights {
 public:
  // The simulator and the other processes, if there are any, must outlive it.
  // `keep` is called by the thread that ran an episode, as soon as it has ended.
  Flights(const EpisodeSimulator& high, std::size_t workers, RemoteWorkers* remote = nullptr,
          std::function<void(const Arrival&)> keep = {});
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
  // Throws what a simulator threw that is no failure of its own.
  void rethrow_if_broken();

 private:
  void work();
  Arrival run(const LearnRequest& request) const;
  // Gives the other processes what no thread is free for, and takes what they have done.
  void exchange_with_remote();

  const EpisodeSimulator& high_;
  RemoteWorkers* remote_;
  std::function<void(const Arrival&)> keep_;
  std::set<EpisodeAddress> open_;  // submitted and not yet given to the caller
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable submitted_, arrived_;
  std::deque<LearnRequest> requests_;
  std::size_t idle_ = 0;  // threads that wait for a request
  std::deque<Arrival> arrivals_;
  std::exception_ptr broken_;
  std::vector<std::jthread> threads_;  // last: they use the members above
};

}  // namespace hilo
