#pragma once

#include <map>

#include "hilo/agent/vector_agent.hpp"
#include "hilo/experiment/training_domain.hpp"

namespace hilo {

// The domain of vectors, for the training loop.
class VectorDomain final : public TrainingDomain {
 public:
  VectorDomain(VectorAgent& agent, const VectorSimulator& high);

  Agent& agent() override { return agent_; }
  const Agent& agent() const override { return agent_; }
  void play(const EpisodeRequest& request) override;
  // Takes an episode that the caller ran. Throws Errc::simulator if it has no step, or too many.
  void take(const EpisodeRequest& request, const VectorEpisode& episode);
  // Throw Errc::spec: training with a lag is for tables.
  void keep_policy(const EpisodeRequest& request) override;
  void forget_policies_before(std::uint64_t number) override;
  EpisodeFacts facts() const override { return facts_; }
  LearnReport learn() override { return agent_.learn(episode_); }
  TestFacts test(const StreamAddress& streams, const Horizon& horizon,
                 std::uint32_t episodes) override;
  std::vector<Fact> exact_values(const Horizon& /*horizon*/) override { return {}; }
  bool has_model() const override { return false; }
  std::optional<OwnValue> own_value() const override { return std::nullopt; }
  void save(ArchiveWriter& out) const override;
  void load(ArchiveReader& in) override;

 private:
  void look_at(const EpisodeRequest& request);

  VectorAgent& agent_;
  const VectorSimulator& high_;
  VectorEpisode episode_;
  EpisodeFacts facts_;
  std::vector<RolloutSummary> summaries_;
};

}  // namespace hilo
