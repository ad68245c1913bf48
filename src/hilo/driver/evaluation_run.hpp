#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hilo/driver/evaluator.hpp"

namespace hilo {

// A policy as it is named on the command line: "FILE.json", which `hilo learn` wrote, "uniform", or
// "command: ./controller --gain 2", a program; "NAME=" before it gives it a name.
struct NamedPolicy {
  std::string name, given;
};
// Throws Errc::usage if two have the same name.
std::vector<NamedPolicy> parse_policies(const std::vector<std::string>& given);

// An evaluation of a spec: its simulators, its policies, and the loop that runs episodes.
class EvaluationRun {
 public:
  EvaluationRun(EvaluateSpec spec, const std::vector<NamedPolicy>& policies,
                const EvaluationFiles& files);
  EvaluationRun(EvaluationRun&&) noexcept;
  EvaluationRun& operator=(EvaluationRun&&) noexcept;
  ~EvaluationRun();

  // Runs some episodes: as many expensive ones as can run at the same time, or a batch of cheap
  // ones. Returns whether the evaluation is done.
  bool step();

  const EvaluateSpec& spec() const;
  const Evaluator& evaluator() const;
  std::string coupling() const;            // what was chosen, as a sentence
  std::vector<std::string> notes() const;  // in sentences

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hilo
