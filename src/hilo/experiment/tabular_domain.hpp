#pragma once

#include <map>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/env/run_observer.hpp"
#include "hilo/env/simulator.hpp"
#include "hilo/exact/optimum.hpp"
#include "hilo/experiment/metrics.hpp"
#include "hilo/experiment/training_domain.hpp"
#include "hilo/rollout/truncation.hpp"

namespace hilo {

struct TabularDomainOptions {
  Truncation truncation = Truncation::drop;
  bool counts_starts = false;            // even with a model, for own_value
  bool has_pilot = false;                // some episodes will follow the uniform policy
  const Optimum* optimum = nullptr;      // of the high fidelity, where it is known
  RunObserver* observer = nullptr;       // told of every training episode, asked at every test
  std::vector<MetricKind> metrics = {};  // user-defined ones to measure
  Horizon horizon = {};                  // that these metrics are given
};

// The domain for the domain of tables.
class TabularDomain final : public TrainingDomain {
 public:
  TabularDomain(TabularAgent& agent, const EpisodeSimulator& high,
                const TabularDomainOptions& options);

  // The policy that the requested episode must follow. A view, valid until learn or load; if it was
  // kept, until it is forgotten.
  Behaviour policy(const EpisodeRequest& request) const;
  // Takes an episode that the caller ran. Throws Errc::simulator, and changes nothing, unless the
  // episode is valid.
  void take(const EpisodeRequest& request, const Episode& episode);

  Agent& agent() override { return agent_; }
  const Agent& agent() const override { return agent_; }
  void play(const EpisodeRequest& request) override;
  void keep_policy(const EpisodeRequest& request) override;
  void forget_policies_before(std::uint64_t number) override;
  EpisodeFacts facts() const override { return facts_; }
  LearnReport learn() override;
  TestFacts test(const StreamAddress& streams, const Horizon& horizon,
                 std::uint32_t episodes) override;
  std::vector<Fact> exact_values(const Horizon& horizon) override;
  bool has_model() const override { return high_.model() != nullptr; }
  std::optional<OwnValue> own_value() const override;
  std::vector<Fact> observed_at_test() override;
  std::vector<Fact> observed_at_end() override;
  void save(ArchiveWriter& out) const override;
  void load(ArchiveReader& in) override;

 private:
  std::vector<Fact> measured(Measured when) const;
  void look_at(double gamma);

  TabularAgent& agent_;
  const EpisodeSimulator& high_;
  TabularDomainOptions options_;
  std::optional<QTable> uniform_;  // the pilot's policy
  struct KeptPolicy {
    std::vector<GreedyHead> heads;
    std::vector<Action> ties;
    double epsilon = 0;
  };
  std::map<std::uint64_t, KeptPolicy> load_kept(ArchiveReader& in) const;
  std::map<std::uint64_t, KeptPolicy> kept_;  // by the number of the episode
  Episode episode_;
  EpisodeFacts facts_;
  std::map<State, std::uint64_t> starts_;  // how many episodes began there
  std::vector<RolloutSummary> summaries_;
};

}  // namespace hilo
