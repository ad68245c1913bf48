#pragma once

#include <list>
#include <map>

#include "hilo/driver/remote_workers.hpp"
#include "hilo/experiment/detail/run_mpi.hpp"

// The ranks of an MPI job as workers of one learner: the first rank learns, and all run episodes.
namespace hilo {

// On the first rank, while the other ranks are in run_episodes_for_learner.
class RankWorkers final : public RemoteWorkers {
 public:
  // Throws Errc::data unless all ranks have the same spec.
  RankWorkers(MpiJob& job, const LearnSpec& spec);
  // Tells the other ranks to end. What they are doing is given up.
  ~RankWorkers() override;

  std::size_t size() const override { return size_; }
  std::size_t num_free() const override { return size_ - open_.size(); }
  void submit(const LearnRequest& request) override;
  std::optional<Arrival> poll() override;

 private:
  struct Open {
    LearnRequest request;
    int rank;
  };
  // Messages that are on their way. They are not waited for, so that two ranks never wait for each
  // other.
  struct Sent;
  void drop_delivered();
  Arrival receive_arrival(std::span<const std::byte> bytes, int rank);

  MpiJob& job_;
  std::vector<std::int64_t> free_;  // by rank
  std::size_t size_ = 0;
  std::map<EpisodeAddress, Open> open_;
  std::list<Sent> sent_;
  int others_;
};

// On the other ranks, until the first one tells them to end or keep_going says no.
void run_episodes_for_learner(const MpiJob& job, const LearnSpec& spec,
                              const std::function<bool()>& keep_going);

}  // namespace hilo
