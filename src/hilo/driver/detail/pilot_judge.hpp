#pragma once

#include <cstdint>
#include <optional>

#include "hilo/driver/learner.hpp"

// For the sources of this folder only: the pilot at the beginning of a learn run.
namespace hilo {

// Judges the cheap simulator by the pilot's episodes, which are in the journal. The advice and what
// it was based on are written to the journal: a run that is continued does what was decided, even
// if its budget has changed since.
class PilotJudge {
 public:
  // Both must outlive it.
  PilotJudge(const LearnSpec& spec, Journal& journal, std::int64_t run);

  bool is_judged() const { return spec_.pilot_episodes == 0 || advice_; }
  bool is_dropped() const { return advice_ == Advice::drop; }
  // Cheap steps of the judgement, and of an agent that was given up after it.
  std::uint64_t low_steps() const { return low_steps_; }

  // At the end of the pilot. `low_steps` is what the agent has used, and `planned` the number of
  // training episodes in all.
  void judge(const Fidelities& pair, std::uint64_t low_steps, std::uint64_t planned);
  // What was judged; computed again if another process did it.
  std::optional<PilotVerdict> verdict(const Fidelities& pair) const;

 private:
  Diagnosis diagnose_paid(const Fidelities& pair, std::uint64_t planned,
                          std::uint64_t& low_steps) const;

  const LearnSpec& spec_;
  Journal& journal_;
  std::int64_t run_;
  std::optional<Advice> advice_;
  std::uint64_t low_steps_ = 0;
  mutable std::optional<Diagnosis> diagnosis_;
};

}  // namespace hilo
