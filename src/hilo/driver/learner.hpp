#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hilo/core/summary.hpp"
#include "hilo/diagnose/diagnosis.hpp"
#include "hilo/driver/cost_unit.hpp"
#include "hilo/env/policy.hpp"
#include "hilo/env/vector_simulator.hpp"
#include "hilo/experiment/learn_spec.hpp"
#include "hilo/experiment/single_run.hpp"
#include "hilo/store/journal.hpp"

namespace hilo {

class RemoteWorkers;

// The files of a learn run, and how they are written.
struct LearnFiles {
  std::filesystem::path journal;
  bool durable = true;          // whether an attempt survives a power failure, not only a crash
  double checkpoint_every = 5;  // seconds; checkpoints take at most a fiftieth of the time
  bool use_checkpoint = true;   // otherwise everything is learnt again from the journal
  // Journals of other runs, whose episodes of the same expensive simulator a new run learns from
  // before its own. They are copied into its journal, so that going on does not need them.
  std::vector<std::filesystem::path> reuse = {};

  // Beside the journal: a checkpoint, and episodes that have ended and are not in it yet.
  std::filesystem::path checkpoint() const { return journal.string() + ".checkpoint"; }
  std::filesystem::path arrived() const { return journal.string() + ".arrived"; }
};

// A request for an expensive episode, with the policy that it must follow.
struct LearnRequest {
  EpisodeAddress at = {};
  std::uint64_t attempt = 0;  // counted from 0
  StreamAddress streams;
  Horizon horizon;
  // Of a table, a view that is valid until the learner changes; or a policy for vectors.
  std::variant<Behaviour, std::shared_ptr<const Policy>> policy = {};

  bool is_table() const { return std::holds_alternative<Behaviour>(policy); }
  // They throw Errc::usage in the other domain.
  const Behaviour& table() const;
  const Policy& vectors() const;

  // For callers that run it one step at a time: the action of step t, counted from 0, and a seed
  // below 2^31 for a simulator of their own.
  Action action(std::uint32_t t, State s) const;
  std::vector<double> action(std::uint32_t t, std::span<const double> observation) const;
  std::uint32_t simulator_seed() const;
};

// What a run has cost. All counts are those of the journal.
struct Bill {
  std::uint64_t episodes = 0;  // expensive ones that succeeded: of training and of final tests
  std::uint64_t training = 0, testing = 0;
  std::uint64_t pilot = 0;                 // of training
  std::uint64_t reused = 0;                // paid for by other runs, and not among the others
  std::uint64_t attempts = 0, failed = 0;  // attempts that failed are among the attempts
  std::uint64_t skipped = 0;               // episodes all of whose attempts failed
  std::uint64_t steps = 0, low_steps = 0;
  std::uint64_t test_low_steps = 0;  // of the cheap steps, those that sharpened the final test
  double high_cost = 0, low_cost = 0;
  CostUnit unit = CostUnit::declared;
  double clock = 0;            // wall seconds
  double attempt_seconds = 0;  // of all attempts, one after the other

  double cost() const { return high_cost + low_cost; }
  double low_share() const { return cost() > 0 ? low_cost / cost() : 0; }
};

// The same value, sharpened by the cheap simulators (estimator/controlled_mean.hpp): they ran the
// policy with the random numbers of the test, and in further episodes of their own.
struct ControlledTestValue {
  double value = 0, low = 0, high = 0, standard_error = 0;
  double correlation = 0;           // of the cheap returns with those of the test
  std::uint64_t free_episodes = 0;  // of each cheap simulator
  double worth_episodes = 0;        // plain test episodes with the same standard error
};

// The value of the final policy on the expensive simulator.
struct TestedValue {
  Summary returns;  // n = 0: not tested
  double skewness = 0;
  // Why the interval may hold the true value less often than in 95 % of all cases; "" if there is
  // no reason to think so.
  std::string caution;
  std::optional<ControlledTestValue> controlled;  // nothing: the cheap simulators did not help
};

struct LearnOutcome {
  TestedValue value;
  std::optional<OwnValue> believed;  // by the agent itself
  std::string stopped_by;            // which limit ended training: episodes, steps, cost or wall
};

// What the pilot said about the cheap simulator, and what was done about it.
struct PilotVerdict {
  Diagnosis diagnosis;
  Advice advice = Advice::cannot_tell;  // the one that was acted on
  std::string goes_on_with;             // the label of the agent that learnt from then on
};

// Where attempts failed, by the state that they were in: skipping episodes that come there would
// bias what is learnt.
struct FailureReport {
  struct Region {
    State state;
    std::uint64_t visits;  // attempts that came there
    std::uint64_t failed;  // of these, attempts that failed there
  };
  std::uint64_t attempts = 0, failed = 0;  // of those whose paths are known
  std::vector<Region> regions = {};        // the most failures first
  std::string last_error = {};             // of the last attempt that failed
  bool is_concentrated = false;  // some states fail more often than the others, beyond chance
};

// What the value of the policy is to be compared with, exact, where the expensive simulator has a
// model.
struct LearnReference {
  std::optional<double> policy;       // the policy itself
  std::optional<double> optimum;      // the best policy
  std::optional<double> cheap_alone;  // the policy that `low-only` learns in the cheap simulator
};

// Learns one policy for one budget, and loses nothing that was paid for: every expensive episode is
// in the journal before it is learnt from. The same spec and journal go on where they were, with
// the same bits: from a checkpoint, and from there by learning again from the journal.
//
//   Learner learner(load_learn_spec("plant.toml"), {.journal = "plant.journal"});
//   while (!learner.step()) {}
//   learner.outcome().value.returns.mean;
//
// Ask and tell are the same loop for callers that make the expensive episodes themselves.
class Learner {
 public:
  // Episodes in flight (train.lag) also run on other processes, if there are any; they must outlive
  // the learner.
  Learner(LearnSpec spec, LearnFiles files, RemoteWorkers* remote = nullptr);
  Learner(Learner&&) noexcept;
  Learner& operator=(Learner&&) noexcept;
  ~Learner();

  // Makes one attempt at the next expensive episode, or ends the run. Returns whether it is done.
  // Throws Errc::simulator if the spec says that failures stop the run, and if three episodes in a
  // row failed.
  bool step();
  // Learns from all that the journal has, and spends nothing. Returns whether the run is done.
  // Returns early if keep_going, which is asked before every episode, says no.
  bool catch_up(const std::function<bool()>& keep_going = {});
  bool is_done() const;

  // The next expensive episode; nothing if the run is done. Asking again gives the same one.
  std::optional<LearnRequest> ask();
  // The episode that was asked for. Throws Errc::simulator, and keeps nothing, unless it is valid.
  // `cost` is what the simulator reported, if it did.
  void tell(const Episode& episode, std::optional<double> cost = std::nullopt);
  void tell(const VectorPath& episode, std::optional<double> cost = std::nullopt);
  // The attempt failed. It is kept with its cost and, if it is known, its path up to there, and
  // asked for again or skipped.
  void tell_failure(const std::string& error, std::optional<double> cost = std::nullopt,
                    const PaidEpisode& so_far = {});

  const LearnSpec& spec() const;
  const Journal& journal() const;
  // The attempts of this run, of all those in the journal.
  void for_each_attempt(const std::function<void(const Attempt&)>& visit) const;
  // A paid episode in the domain of vectors. Throws Errc::usage for one of a table.
  VectorEpisode vectors_of(const PaidEpisode& paid) const;
  Bill bill() const;
  LearnOutcome outcome() const;  // the run must be done
  LearnReference reference() const;
  // Where attempts failed.
  FailureReport failures() const;
  // Nothing if there is no pilot, or if it is not at its end.
  std::optional<PilotVerdict> pilot() const;
  // The label of the agent that learns now: without the cheap simulator, if the pilot dropped it.
  const std::string& agent_label() const;
  // What the agent found out about the simulators, after 1, 2, 5, 10, 20, 50, ... episodes.
  const std::vector<Measurement>& findings() const;
  const Agent& agent() const;
  // For what only tables have; null in the domain of vectors.
  const TabularAgent* table_agent() const;
  const AnySimulator& high() const;
  std::uint64_t replayed() const;  // training episodes that were learnt again from the journal
  std::vector<std::string> notes() const;
  double share() const;                       // of the budget that is spent
  std::optional<double> last_return() const;  // of the last expensive episode
  void keep_checkpoint();                     // now, whatever its time
  // Writes down that the request is carried to another process, so that the time until the answer
  // counts.
  void note_asked();
  // The request of another process is answered by the next tell.
  void note_answer();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hilo
