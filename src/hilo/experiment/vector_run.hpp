#pragma once

#include <memory>

#include "hilo/agent/vector_agent.hpp"
#include "hilo/env/vector_fidelities.hpp"
#include "hilo/experiment/resumable_run.hpp"
#include "hilo/experiment/spec.hpp"
#include "hilo/experiment/training_domain.hpp"

namespace hilo {

struct PlannedRun;
struct VectorProblem;

// One run on a problem whose states and actions are vectors: the counterpart of SingleRun.
class VectorRun final : public ResumableRun {
 public:
  // For the only agent of the spec. Builds the problem.
  VectorRun(const Spec& spec, std::uint64_t seed);
  // On an existing problem, which must outlive it.
  VectorRun(const PlannedRun& run, const VectorProblem& problem);
  ~VectorRun() override;

  bool step() override;
  bool is_done() const override;
  double share() const override;

  // Ask and tell, for callers that run the episodes themselves, with the policy of the agent.
  EpisodeRequest ask();
  void tell(const VectorEpisode& episode);
  // Passes over the requested episode, which cannot be had.
  void skip();
  // Ends training, whatever is left of the budget.
  void stop();

  const VectorAgent& agent() const;
  const VectorSimulator& high() const;
  const VectorFidelities& pair() const;
  std::uint64_t low_steps() const;  // so far

  RunRecord record() const override;
  bool can_be_saved() const override;
  std::vector<std::byte> save() const override;
  void load(std::span<const std::byte> bytes) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hilo
