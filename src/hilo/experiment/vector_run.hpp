#pragma once

#include <memory>

#include "hilo/experiment/resumable_run.hpp"

namespace hilo {

struct PlannedRun;
struct VectorProblem;

// One run on a problem whose states and actions are vectors: the counterpart of SingleRun.
class VectorRun final : public ResumableRun {
 public:
  // The problem must outlive it.
  VectorRun(const PlannedRun& run, const VectorProblem& problem);
  ~VectorRun() override;

  bool step() override;
  bool is_done() const override;
  double share() const override;
  RunRecord record() const override;
  bool can_be_saved() const override;
  std::vector<std::byte> save() const override;
  void load(std::span<const std::byte> bytes) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hilo
