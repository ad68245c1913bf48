#include "hilo/driver/detail/episode_bytes.hpp"

#include <cmath>

#include "hilo/core/archive.hpp"
#include "hilo/core/error.hpp"

namespace hilo {
namespace {

constexpr std::uint32_t kRequestVersion = 2;
constexpr std::uint32_t kArrivalVersion = 1;
constexpr const char* kRequestTag = "learn request";
constexpr const char* kArrivalTag = "learn arrival";

void write_address(ArchiveWriter& out, const EpisodeAddress& at) {
  out.value(at.episode);
  out.value(static_cast<std::uint8_t>(at.test.has_value()));
  out.value(at.test.value_or(0));
}

EpisodeAddress read_address(ArchiveReader& in) {
  EpisodeAddress at{.episode = in.value<std::uint64_t>()};
  const bool is_test = in.flag("address");
  const auto test = in.value<std::uint64_t>();
  if (is_test) at.test = test;
  return at;
}

// Whether a simulator can follow the policy without reading beyond it.
bool is_whole(const std::vector<GreedyHead>& heads, const std::vector<Action>& ties,
              std::size_t num_actions) {
  for (std::size_t s = 0; s < heads.size(); ++s) {
    if (heads[s].count == 0 || heads[s].count > num_actions || heads[s].first >= num_actions)
      return false;
    for (std::size_t k = 0; heads[s].count > 1 && k < heads[s].count; ++k) {
      const std::size_t i = s * num_actions + k;
      if (i >= ties.size() || ties[i] >= num_actions) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::byte> to_bytes(const LearnRequest& request) {
  ArchiveWriter out(kRequestTag, kRequestVersion);
  write_address(out, request.at);
  out.value(request.attempt);
  const Behaviour& policy = request.table();
  out.array<GreedyHead>(policy.heads);
  out.array<Action>(policy.ties);
  out.value(policy.num_actions);
  out.value(policy.epsilon);
  out.value(request.streams.seed);
  out.value(static_cast<std::uint32_t>(request.streams.purpose));
  out.value(request.streams.episode);
  out.value(request.streams.first_pair);
  out.value(request.streams.first_rollout);
  out.value(request.streams.first_step);
  out.value(request.horizon.gamma);
  out.value(request.horizon.max_steps);
  return out.finish();
}

ReceivedRequest::ReceivedRequest(std::span<const std::byte> bytes, std::size_t num_states,
                                 std::size_t num_actions) {
  ArchiveReader in(bytes, kRequestTag, kRequestVersion);
  request_.at = read_address(in);
  request_.attempt = in.value<std::uint64_t>();
  heads_.resize(num_states);
  in.array<GreedyHead>("number of states", heads_);
  ties_ = in.list<Action>("policy", num_states * num_actions);
  in.expect("number of actions", static_cast<std::uint32_t>(num_actions));
  request_.policy = Behaviour{.heads = heads_,
                              .ties = ties_,
                              .num_actions = static_cast<std::uint32_t>(num_actions),
                              .epsilon = in.value<double>()};
  request_.streams.seed = in.value<std::uint64_t>();
  request_.streams.purpose = static_cast<Purpose>(in.value<std::uint32_t>());
  request_.streams.episode = in.value<std::uint32_t>();
  request_.streams.first_pair = in.value<std::uint32_t>();
  request_.streams.first_rollout = in.value<std::uint32_t>();
  request_.streams.first_step = in.value<std::uint32_t>();
  request_.horizon.gamma = in.value<double>();
  request_.horizon.max_steps = in.value<std::uint32_t>();
  in.finish();
  if (!is_whole(heads_, ties_, num_actions)) ArchiveReader::mismatch("policy");
}

std::vector<std::byte> to_bytes(const Arrival& arrival) {
  ArchiveWriter out(kArrivalTag, kArrivalVersion);
  write_address(out, arrival.request.at);
  out.value(arrival.request.attempt);
  out.array<State>(arrival.episode.states);
  out.array<Action>(arrival.episode.actions);
  out.array<double>(arrival.episode.rewards);
  out.value(static_cast<std::uint8_t>(arrival.episode.truncated));
  out.value(static_cast<std::uint8_t>(arrival.episode.cost.has_value()));
  out.value(arrival.episode.cost.value_or(0));
  out.value(static_cast<std::uint8_t>(arrival.failed));
  out.text(arrival.error);
  out.value(arrival.seconds);
  return out.finish();
}

// What the episode says is checked where it is learnt from.
Arrival arrival_from_bytes(std::span<const std::byte> bytes) {
  ArchiveReader in(bytes, kArrivalTag, kArrivalVersion);
  Arrival arrival;
  arrival.request.at = read_address(in);
  arrival.request.attempt = in.value<std::uint64_t>();
  arrival.episode.states = in.list<State>("path", kAnyLength);
  arrival.episode.actions = in.list<Action>("path", kAnyLength);
  arrival.episode.rewards = in.list<double>("path", kAnyLength);
  arrival.episode.truncated = in.flag("end");
  const bool has_cost = in.flag("cost");
  const auto cost = in.value<double>();
  if (has_cost) arrival.episode.cost = cost;
  arrival.failed = in.flag("outcome");
  arrival.error = in.text("error");
  arrival.seconds = in.value<double>();
  in.finish();
  return arrival;
}

}  // namespace hilo
