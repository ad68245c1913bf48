#include "hilo/experiment/vector_domain.hpp"

#include "hilo/core/error.hpp"

namespace hilo {

VectorDomain::VectorDomain(VectorAgent& agent, const VectorSimulator& high)
    : agent_(agent), high_(high), episode_(high) {}

void VectorDomain::play(const EpisodeRequest& request) {
  high_.run_episode(*agent_.policy(), request.streams, request.horizon, episode_);
  if (episode_.length() == 0)
    throw Error(Errc::simulator, "the high fidelity gave an episode without a step");
  look_at(request);
}

void VectorDomain::take(const EpisodeRequest& request, const VectorEpisode& episode) {
  if (episode.length() == 0)
    throw Error(Errc::simulator, "an episode without a step teaches nothing");
  if (episode.length() > request.horizon.max_steps)
    throw Error(Errc::simulator, "the episode has more than max_steps steps");
  episode_ = episode;
  look_at(request);
}

void VectorDomain::look_at(const EpisodeRequest& request) {
  episode_.number = request.streams.episode;
  const RolloutSummary summary = summarise(episode_, request.horizon.gamma);
  facts_ = {.length = episode_.length(),
            .truncated = episode_.truncated,
            .mean_reward = summary.mean_reward(),
            .discounted_return = summary.discounted_return};
}

void VectorDomain::keep_policy(const EpisodeRequest& /*request*/) {
  throw Error(Errc::spec, "train.lag needs states and actions that are numbered");
}
void VectorDomain::forget_policies_before(std::uint64_t /*number*/) {}

TestFacts VectorDomain::test(const StreamAddress& streams, const Horizon& horizon,
                             std::uint32_t episodes) {
  summaries_.resize(episodes);
  high_.run_episodes(*agent_.greedy_policy(), streams, horizon, summaries_);
  return facts_of(summaries_);
}

void VectorDomain::save(ArchiveWriter& out) const { out.array<std::byte>(agent_.save()); }

void VectorDomain::load(ArchiveReader& in) {
  const auto agent = in.list<std::byte>("agent", kAnyLength);
  agent_.load(agent);
}

}  // namespace hilo
