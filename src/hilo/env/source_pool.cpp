#include "hilo/env/source_pool.hpp"

namespace hilo {

class SourcePool::Loan {
 public:
  explicit Loan(const SourcePool& pool) : pool_(pool) {
    std::unique_lock lock(pool.mutex_);
    pool.returned_.wait(lock, [&] { return !pool.free_.empty(); });
    instance_ = pool.free_.back();
    pool.free_.pop_back();
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() {
    {
      const std::lock_guard lock(pool_.mutex_);
      pool_.free_.push_back(instance_);
    }
    pool_.returned_.notify_one();
  }
  const SourcePaths& operator*() const { return *instance_; }

 private:
  const SourcePool& pool_;
  const SourcePaths* instance_;
};

SourcePool::SourcePool(std::vector<SourcePaths> instances)
    : EpisodeSimulator(instances.at(0).source()->observation_space().size(),
                       instances.at(0).source()->action_space().size()),
      instances_(std::move(instances)) {
  // The first instance is the first to be used.
  for (auto instance = instances_.rbegin(); instance != instances_.rend(); ++instance)
    free_.push_back(&*instance);
}

SourcePool::~SourcePool() {
  for (const SourcePaths& instance : instances_) instance.source()->begin_to_end();
}

void SourcePool::run_episode(const Behaviour& policy, const StreamAddress& streams,
                             const Horizon& horizon, Episode& episode) const {
  check(policy, streams, horizon, 1, 1);
  const Loan loan(*this);
  (*loan).record(policy, streams, horizon, nullptr, episode);
}

void SourcePool::run_episodes(const Behaviour& policy, const StreamAddress& streams,
                              const Horizon& horizon, std::span<RolloutSummary> summaries) const {
  check(policy, streams, horizon, 1, summaries.size());
  const Loan loan(*this);
  (*loan).summarise_episodes(policy, streams, horizon, summaries);
}

}  // namespace hilo
