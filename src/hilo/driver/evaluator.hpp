#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hilo/driver/cost_unit.hpp"
#include "hilo/env/streams.hpp"
#include "hilo/evaluate/evaluation.hpp"
#include "hilo/experiment/evaluate_spec.hpp"
#include "hilo/store/journal.hpp"

namespace hilo {

// What an evaluation is about, for callers that run the episodes themselves.
struct EvaluationSubject {
  std::string name;
  std::string quantity = "mean return";  // in words
  std::uint64_t seed = 0;
  EvaluationRules rules;
  std::vector<std::string> policies;                   // names, unique
  std::vector<std::string> policy_identities;          // texts that stand for what they do
  std::vector<std::string> simulators;                 // names, the expensive one first
  std::vector<std::string> simulator_identities = {};  // what they are known by; empty: their names
  Configuration high;               // what decides the results of expensive episodes
  std::vector<EpisodeCosts> costs;  // by simulator
  FailureRules failures;
  std::string spec = {};  // for the journal
};

// One episode that is needed.
struct EvaluationRequest {
  EvaluationRound round;
  std::size_t policy = 0;
  std::uint64_t attempt = 0;  // counted from 0
  StreamAddress streams;      // its roll-out is the number of the episode

  std::uint32_t simulator_seed() const;  // below 2^31, for a simulator of the caller's own
};

struct EvaluationFiles {
  std::optional<std::filesystem::path> journal;  // nothing: expensive episodes are not kept
  bool durable = true;
};

// An evaluation whose expensive episodes are in a journal before they are used. The same subject
// and journal go on where they were, with the same results, and pay for nothing twice.
//
//   while (true) {
//     const auto requests = evaluator.ask();
//     if (requests.empty()) break;
//     for (const auto& request : requests) ... tell
//   }
class Evaluator {
 public:
  // `quantity` gives the value of an expensive episode.
  using QuantityOf = std::function<double(const VectorPath&)>;
  Evaluator(EvaluationSubject subject, QuantityOf quantity, const EvaluationFiles& files);
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;
  ~Evaluator();

  // All episodes that can run now, in any order or at the same time; empty if it is done. What has
  // not been told is asked for again.
  std::vector<EvaluationRequest> ask();
  // An expensive episode. `cost` is what the simulator reported, if it did.
  void tell(const EvaluationRequest& request, const VectorPath& path, double seconds,
            std::optional<double> cost = std::nullopt);
  // A cheap one.
  void tell_cheap(const EvaluationRequest& request, double value, std::uint64_t steps,
                  double seconds, std::optional<double> cost = std::nullopt);
  // An expensive attempt failed. Returns the next attempt, which should be made now; nothing if the
  // episode is left out. Throws Errc::simulator if the rules say so, or if three episodes in a row
  // were left out.
  std::optional<EvaluationRequest> tell_failure(
      const EvaluationRequest& request, const std::string& error, double seconds,
      std::optional<double> cost = std::nullopt,
      const std::optional<VectorPath>& so_far = std::nullopt);
  // A cheap simulator failed for good, and is not used.
  void drop(std::size_t simulator, const std::string& error);

  const Evaluation& evaluation() const;
  const EvaluationSubject& subject() const;
  // The first observation of a paired expensive episode of the first policy; null if it has not
  // run.
  const std::vector<double>* start_of(std::uint64_t index) const;

  std::uint64_t failed_attempts() const;
  std::uint64_t replayed() const;  // expensive episodes that were in the journal already
  std::uint64_t paid() const;      // expensive attempts that this process has made
  std::uint64_t steps(std::size_t simulator) const;
  CostUnit unit() const;
  double share() const;  // of the budget that is spent
  // Ends all work with the journal, which others can use then. Nothing can be told any more.
  void close();
  // What the user should know about the journal, in sentences.
  const std::vector<std::string>& notes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hilo
