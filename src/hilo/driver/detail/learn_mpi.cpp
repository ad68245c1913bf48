#include "hilo/driver/detail/learn_mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "hilo/core/hash.hpp"
#include "hilo/core/stop_request.hpp"
#include "hilo/core/stopwatch.hpp"
#include "hilo/driver/detail/episode_bytes.hpp"
#include "hilo/driver/detail/flights.hpp"
#include "hilo/experiment/detail/mpi_messages.hpp"
#include "hilo/rollout/check_episode.hpp"

namespace hilo {
namespace {

// The messages between ranks.
enum Tag : int {
  kEpisode = 1,  // from the first: run this
  kArrived,      // to the first: it has ended
  kGoodbye,      // to the first: nothing more will come; 1 if told to stop
  kEnd,          // from the first: end
};

// The same on all ranks, so that all of them end with it.
void check_spec(const LearnSpec& spec) {
  const RunConfig& config = spec.config();
  if (config.problem_kind->has_vectors(config.problem))
    throw Error(Errc::spec,
                "ranks run several expensive episodes at the same time, which needs states and "
                "actions that are numbered: run this spec without mpirun");
  const std::string text = fmt::format("{} {}", spec.identity.hash(), spec.seed);
  if (!is_same_on_all_ranks(hash_bytes(std::as_bytes(std::span(text)))))
    throw Error(Errc::data,
                "ranks have different specs: all must read the same spec, simulators and program");
}

// The instances of this rank have numbers of their own, so that each can have a folder of its own.
std::shared_ptr<const EpisodeSimulator> build_simulator(const MpiJob& job, const LearnSpec& spec) {
  const RunConfig& config = spec.config();
  std::map<std::string, Value> problem = config.problem;
  const auto workers = problem.find("high.workers");
  if (workers != problem.end())
    problem["high.first_worker"] = job.rank() * std::get<std::int64_t>(workers->second);
  return build_high_fidelity(*config.problem_kind, problem, spec.seed);
}

}  // namespace

struct RankWorkers::Sent {
  std::vector<std::byte> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};

RankWorkers::RankWorkers(MpiJob& job, const LearnSpec& spec)
    : job_(job), free_(static_cast<std::size_t>(job.size()), 0), others_(job.size() - 1) {
  check_spec(spec);
  std::int64_t none = 0;
  MPI_Allgather(&none, 1, MPI_INT64_T, free_.data(), 1, MPI_INT64_T, MPI_COMM_WORLD);
  for (const std::int64_t workers : free_) size_ += static_cast<std::size_t>(workers);
}

RankWorkers::~RankWorkers() {
  for (int rank = 1; rank < job_.size(); ++rank)
    MPI_Send(nullptr, 0, MPI_BYTE, rank, kEnd, MPI_COMM_WORLD);
  const auto begun = SteadyClock::now();
  while (others_ > 0 && SteadyClock::now() - begun < kPatienceWithRanks) {
    while (const auto status = probe(MPI_ANY_SOURCE)) {
      receive<std::byte>(*status, MPI_BYTE);
      if (status->MPI_TAG == kGoodbye) --others_;
    }
    std::this_thread::sleep_for(kPauseBetweenLooks);
  }
  drop_delivered();
  if (others_ > 0 || !sent_.empty()) job_.give_up_others();
}

void RankWorkers::drop_delivered() {
  std::erase_if(sent_, [](Sent& sent) {
    int done = 0;
    MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
}

void RankWorkers::submit(const LearnRequest& request) {
  drop_delivered();
  const auto most = std::ranges::max_element(free_);
  if (*most <= 0) throw Error(Errc::usage, "all ranks are busy");
  const int rank = static_cast<int>(most - free_.begin());
  Sent& sent = sent_.emplace_back(Sent{.bytes = to_bytes(request)});
  MPI_Isend(sent.bytes.data(), message_size(sent.bytes, "a policy"), MPI_BYTE, rank, kEpisode,
            MPI_COMM_WORLD, &sent.request);
  open_[request.at] = {request, rank};
  --*most;
}

std::optional<Arrival> RankWorkers::poll() {
  drop_delivered();
  const auto status = probe(MPI_ANY_SOURCE);
  if (!status) return std::nullopt;
  const std::vector<std::byte> bytes = receive<std::byte>(*status, MPI_BYTE);
  if (status->MPI_TAG == kArrived) return receive_arrival(bytes, status->MPI_SOURCE);
  --others_;
  throw Interrupted();
}

Arrival RankWorkers::receive_arrival(std::span<const std::byte> bytes, int rank) {
  Arrival arrival = arrival_from_bytes(bytes);
  const auto open = open_.find(arrival.request.at);
  if (open == open_.end() || open->second.rank != rank ||
      open->second.request.attempt != arrival.request.attempt)
    throw Error(Errc::data, "a rank sent an episode that it was not asked for");
  arrival.request = open->second.request;
  open_.erase(open);
  ++free_[static_cast<std::size_t>(rank)];
  if (arrival.failed && !arrival.episode.states.empty()) {
    const Behaviour& policy = arrival.request.table();
    check_episode(arrival.episode, policy.heads.size(), policy.num_actions);
  }
  return arrival;
}

namespace {

// Any other rank.
class LearnersHelper {
 public:
  explicit LearnersHelper(const EpisodeSimulator& high)
      : high_(high), flights_(high, high.num_workers()) {}

  // Whether the first rank has told it to end.
  bool listen() {
    while (const auto status = probe(kFirstRank)) {
      const std::vector<std::byte> bytes = receive<std::byte>(*status, MPI_BYTE);
      if (status->MPI_TAG == kEnd) return true;
      auto request =
          std::make_unique<const ReceivedRequest>(bytes, high_.num_states(), high_.num_actions());
      const LearnRequest& wanted = request->request();
      requests_[wanted.at] = std::move(request);
      flights_.submit(wanted);
    }
    return false;
  }

  void rethrow_if_broken() { flights_.rethrow_if_broken(); }

  // Returns whether there were any.
  bool send_arrived() {
    const std::deque<Arrival> arrived = flights_.take_arrived();
    for (const Arrival& arrival : arrived) {
      const std::vector<std::byte> bytes = to_bytes(arrival);
      MPI_Send(bytes.data(), message_size(bytes, "an episode"), MPI_BYTE, kFirstRank, kArrived,
               MPI_COMM_WORLD);
      requests_.erase(arrival.request.at);
    }
    return !arrived.empty();
  }

 private:
  const EpisodeSimulator& high_;
  std::map<EpisodeAddress, std::unique_ptr<const ReceivedRequest>> requests_;
  Flights flights_;  // last: its threads use the requests
};

}  // namespace

void run_episodes_for_learner(const MpiJob& job, const LearnSpec& spec,
                              const std::function<bool()>& keep_going) {
  check_spec(spec);
  const auto high = build_simulator(job, spec);
  const auto workers = static_cast<std::int64_t>(high->num_workers());
  std::vector<std::int64_t> all(static_cast<std::size_t>(job.size()));
  MPI_Allgather(&workers, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, MPI_COMM_WORLD);
  bool told_to_end = false;
  {
    LearnersHelper helper(*high);
    while (!told_to_end && keep_going()) {
      helper.rethrow_if_broken();
      const bool sent = helper.send_arrived();
      told_to_end = helper.listen();
      if (!sent && !told_to_end) std::this_thread::sleep_for(kPauseBetweenLooks);
    }
  }
  MPI_Send(nullptr, 0, MPI_BYTE, kFirstRank, kGoodbye, MPI_COMM_WORLD);
}

}  // namespace hilo
