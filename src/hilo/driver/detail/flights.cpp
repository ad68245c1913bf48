#include "hilo/driver/detail/flights.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "hilo/core/error.hpp"
#include "hilo/core/stop_request.hpp"
#include "hilo/core/stopwatch.hpp"

namespace hilo {

Flights::Flights(const EpisodeSimulator& high, std::size_t workers, RemoteWorkers* remote,
                 std::function<void(const Arrival&)> keep)
    : high_(high),
      remote_(remote),
      keep_(std::move(keep)),
      idle_(std::max<std::size_t>(workers, 1)) {
  for (std::size_t i = 0, threads = idle_; i < threads; ++i)
    threads_.emplace_back([this] { work(); });
}

Flights::~Flights() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  submitted_.notify_all();
}

void Flights::submit(const LearnRequest& request) {
  open_.insert(request.at);
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
  }
  submitted_.notify_one();
}

Arrival Flights::wait() {
  const auto pause = std::chrono::milliseconds(remote_ != nullptr ? 1 : 100);
  std::unique_lock lock(mutex_);
  while (true) {
    exchange_with_remote();
    if (!arrivals_.empty()) break;
    if (broken_) std::rethrow_exception(broken_);
    throw_if_stopped();
    arrived_.wait_for(lock, pause);
  }
  Arrival arrival = std::move(arrivals_.front());
  arrivals_.pop_front();
  open_.erase(arrival.request.at);
  return arrival;
}

std::deque<Arrival> Flights::take_arrived() {
  const std::lock_guard lock(mutex_);
  exchange_with_remote();
  for (const Arrival& arrival : arrivals_) open_.erase(arrival.request.at);
  return std::exchange(arrivals_, {});
}

void Flights::rethrow_if_broken() {
  const std::lock_guard lock(mutex_);
  if (broken_) std::rethrow_exception(broken_);
}

// What is thrown here must not cost what has arrived: it waits until that has been taken.
void Flights::exchange_with_remote() {
  if (remote_ == nullptr || broken_) return;
  try {
    while (std::optional<Arrival> arrival = remote_->poll())
      arrivals_.push_back(*std::move(arrival));
    while (requests_.size() > idle_ && remote_->num_free() > 0) {
      const LearnRequest request = requests_.back();
      requests_.pop_back();
      remote_->submit(request);
    }
  } catch (...) {
    broken_ = std::current_exception();
  }
}

void Flights::work() {
  const StopScope scope(&stop_);
  while (true) {
    LearnRequest request;
    {
      std::unique_lock lock(mutex_);
      submitted_.wait(lock, [&] { return stop_ || !requests_.empty(); });
      if (stop_) return;
      request = requests_.front();
      requests_.pop_front();
      --idle_;
    }
    try {
      Arrival arrival = run(request);
      if (keep_) keep_(arrival);
      const std::lock_guard lock(mutex_);
      ++idle_;
      arrivals_.push_back(std::move(arrival));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      ++idle_;
      if (!broken_) broken_ = std::current_exception();
    }
    arrived_.notify_one();
  }
}

Arrival Flights::run(const LearnRequest& request) const {
  Arrival arrival{.request = request, .episode = {}};
  const SteadyClock::time_point begun = SteadyClock::now();
  try {
    high_.run_episode(request.table(), request.streams, request.horizon, arrival.episode);
    if (arrival.episode.length() == 0)
      throw Error(Errc::simulator, "the high fidelity gave an episode without a step");
  } catch (const Error& e) {
    if (e.code() != Errc::simulator) throw;
    arrival.failed = true;
    arrival.error = e.what();
  }
  arrival.seconds = seconds_since(begun);
  return arrival;
}

}  // namespace hilo
