#pragma once

#include <functional>
#include <vector>

#include "hilo/experiment/records.hpp"
#include "hilo/experiment/training_domain.hpp"

namespace hilo {

// A budget in episodes or in high-fidelity steps: the one that is not 0 counts.
struct TrainingOptions {
  std::uint64_t episodes = 0;
  std::uint64_t steps = 0;
  double gamma = 0.99;
  std::uint32_t max_steps = 10'000;
  std::uint64_t seed = 0;
  // This many episodes at the beginning follow the uniform policy: those of a pilot study, used
  // again.
  std::uint64_t pilot_episodes = 0;
  // Episode e follows the policy after exactly the episodes 0 to e - lag, so that `lag` episodes
  // can be under way at the same time, and the results do not depend on which of them ends first.
  std::uint64_t lag = 1;
};

struct TestPlan {
  std::uint64_t every = 50;       // episodes
  std::uint32_t episodes = 200;   // per test; 0: none, training rewards are recorded instead
  std::uint64_t exact_every = 0;  // episodes; 0: never
  bool count_steps = false;       // record the steps so far at every test
  std::vector<Fact> at_end = {};  // known beforehand, recorded with the totals
};

// The only training loop, as a state machine that does one piece of work at a time: it lets the
// agent prepare, and tests before the first episode, after every `every` episodes and after the
// last one.
//
//   while (!training.step()) {}
//
// It can be saved between any two steps, and another object with the same options that loads it
// continues with the same bits. Ask and tell use the same machine, for callers that run the
// episodes themselves:
//
//   while (!training.is_done()) { request = training.ask(); ...; domain.take(...);
//   training.tell(); }
class Training {
 public:
  // The domain must outlive it.
  Training(TrainingDomain& domain, const TrainingOptions& options, TestPlan test);

  // Does the next piece of work: preparation, a test, or an episode. Returns whether all is done.
  // Throws if all of the first episodes were cut and dropped: nothing would ever be learnt. If it
  // throws, the domain must be loaded from a saved state before it is used again.
  bool step();
  bool is_done() const { return phase_ == Phase::done; }
  double share() const;  // of the budget that is spent

  // Does all work that is due before the next episode and requests the episode, or one of the next
  // `lag` ones. Asking again gives the same request. Throws Errc::usage if the budget is spent.
  EpisodeRequest ask(std::uint64_t ahead = 0);
  // Called after the domain has taken the requested episode. After the last one all is done.
  void tell();

  // Passes over the requested episode, which cannot be had. The next request has the next number.
  void skip();
  // Ends training as if the budget were spent: the last test and the totals follow. For budgets
  // that are kept outside.
  void stop();

  // Whether it is between two pieces of work; false after an exception in the middle of one.
  bool is_whole() const { return is_whole_; }

  // All measurements so far.
  const std::vector<Measurement>& measurements() const { return out_; }
  double seconds() const { return seconds_; }  // of training, without tests
  std::uint64_t low_steps() const { return counters_.low_steps; }
  std::uint64_t dropped() const {
    return counters_.dropped;
  }  // episodes that were cut and left out

  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  enum class Phase : std::uint8_t { fresh, test_is_due, episode_is_due, done };

  void require_whole() const;
  bool budget_is_spent() const;
  EpisodeRequest next_request(std::uint64_t ahead = 0);
  EpisodeRequest request_of(std::uint64_t number) const;
  void prepare();
  void take_in();
  void check_hope(const EpisodeFacts& facts) const;
  void measure();
  void record_totals();
  void add(const std::string& metric, double value);
  void add_all(const std::vector<Fact>& facts);
  Horizon horizon() const { return {.gamma = options_.gamma, .max_steps = options_.max_steps}; }

  // Counters that are saved as one value.
  struct Counters {
    std::uint64_t high_steps = 0, low_steps = 0, test_steps = 0, episodes_since_test = 0;
    std::uint64_t truncated = 0, truncated_high = 0, dropped = 0, corrected_since_test = 0;
    std::uint64_t skipped = 0;
    double reward_since_test = 0, return_since_test = 0, ratio_since_test = 0;
    double correlation_since_test = 0;
  };

  TrainingDomain& domain_;
  TrainingOptions options_;
  TestPlan test_;
  Phase phase_ = Phase::fresh;
  Counters counters_;
  std::uint64_t kept_until_ = 0;  // episodes before it have their policies, if there is a lag
  std::vector<Measurement> out_;
  std::vector<double> last_ratios_;  // of the last episodes, a ring buffer
  double seconds_ = 0;
  bool is_stopped_ = false;
  bool is_whole_ = true;
};

}  // namespace hilo
