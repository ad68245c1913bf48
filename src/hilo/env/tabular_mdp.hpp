#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hilo/core/alias.hpp"
#include "hilo/core/large_pages.hpp"
#include "hilo/env/simulator.hpp"

namespace hilo {

// Probabilities must sum to 1 within this tolerance.
inline constexpr double kSumTolerance = 1e-9;

// A finite MDP with its non-zero transition probabilities: alias rows to draw from in O(1), and the
// probabilities themselves for exact solutions. Rewards depend on (s, a), or on (s, a, next) if a
// row was given with different rewards. It is made by TabularBuilder and immutable afterwards.
class TabularMdp final : public Model {
 public:
  struct Row {
    std::uint32_t offset;
    std::uint32_t size;
    double reward;  // expected reward of (s, a)
  };

  std::size_t num_states() const override { return terminal_.size(); }
  std::size_t num_actions() const override { return num_actions_; }
  bool is_terminal(State s) const override { return terminal_[s] != 0; }
  std::vector<StartProbability> start_distribution() const override { return start_; }
  void outcomes(State s, Action a, std::vector<Outcome>& out) const override;

  double expected_reward(State s, Action a) const { return row(s, a).reward; }
  bool rewards_depend_on_next() const { return !transition_rewards_.empty(); }
  double reward(State s, Action a, State next) const;
  std::size_t num_nonzeros() const { return probabilities_.size(); }
  std::size_t memory_bytes() const;

 private:
  friend class TabularBuilder;
  template <class Index>
  friend class TabularSampler;
  friend class InverseCdfSampler;

  TabularMdp() { set_checked(); }  // TabularBuilder checks every row
  const Row& row(State s, Action a) const { return rows_[s * num_actions_ + a]; }
  // Index of the transition to `next` in the arrays below, or the largest std::size_t if the row
  // has none.
  std::size_t find(const Row& row, State next) const;
  State successor(std::size_t i) const { return narrow_.empty() ? wide_[i].own : narrow_[i].own; }

  std::size_t num_actions_ = 0;
  std::vector<Row> rows_;
  template <class Index>
  using AliasRows = std::vector<AliasEntry<Index>, LargePageAllocator<AliasEntry<Index>>>;
  AliasRows<std::uint16_t> narrow_;  // exactly one of the two is used;
  AliasRows<std::uint32_t> wide_;    // its `own` is the successor of the column
  std::vector<double> probabilities_;
  std::vector<double> transition_rewards_;  // empty if rewards do not depend on next
  std::vector<std::uint8_t> terminal_;
  std::vector<std::uint8_t> goes_on_;  // by state: 0 if it is terminal, otherwise 1
  std::vector<StartProbability> start_;
  std::vector<AliasEntry<std::uint32_t>> start_alias_;
};

// The tables of an MDP that paths in lockstep read (detail/lockstep.hpp).
struct LockstepTables {
  const TabularMdp::Row* rows;
  const AliasEntry<std::uint16_t>* alias;
  const std::uint8_t* goes_on;  // by state: 0 if it is terminal, otherwise 1
  std::uint32_t num_actions;
};

// The environment that draws from a TabularMdp with entries of one width.
template <class Index>
class TabularSampler {
 public:
  static constexpr bool kChecked = true;  // TabularBuilder checked every row

  explicit TabularSampler(std::shared_ptr<const TabularMdp> mdp);

  std::size_t num_states() const { return mdp_->num_states(); }
  std::size_t num_actions() const { return num_actions_; }
  bool is_terminal(State s) const { return terminal_[s] != 0; }
  double reward(State s, Action a, State next) const { return mdp_->reward(s, a, next); }
  const Model* model() const { return mdp_.get(); }

  State reset(Rng& rng) const {
    const auto& start = mdp_->start_alias_;
    return draw_alias(start.data(), static_cast<std::uint32_t>(start.size()), rng.u64());
  }

  // The tables that paths in lockstep read; they have 16-bit entries only.
  LockstepTables lockstep_tables() const requires(sizeof(Index) == 2) {
    return {rows_, alias_, mdp_->goes_on_.data(), static_cast<std::uint32_t>(num_actions_)};
  }

  Step step(State s, Action a, Rng& rng) const {
    const TabularMdp::Row& row = rows_[s * num_actions_ + a];
    const State next = draw_alias(alias_ + row.offset, row.size, rng.u64());
    const double reward = by_next_ ? mdp_->reward(s, a, next) : row.reward;
    return {.next = next, .reward = reward, .done = terminal_[next] != 0};
  }

 private:
  std::shared_ptr<const TabularMdp> mdp_;
  const TabularMdp::Row* rows_;
  const AliasEntry<Index>* alias_;
  const std::uint8_t* terminal_;
  std::size_t num_actions_;
  bool by_next_;
};

// How successors are drawn from their distribution.
enum class Sampling : std::uint8_t {
  alias,        // "alias": O(1), for speed
  inverse_cdf,  // "inverse-cdf": by bisection in state order, for coupling (inverse_cdf.hpp)
};
Sampling sampling_from_name(std::string_view name);

std::shared_ptr<const Simulator> make_simulator(std::shared_ptr<const TabularMdp> mdp,
                                                Sampling sampling = Sampling::alias);

// Takes the rows of an MDP in the order (0, 0), (0, 1), ..., (1, 0), ... and checks each.
class TabularBuilder {
 public:
  // States in `terminal` must absorb: one transition to itself, reward 0.
  TabularBuilder(std::size_t num_states, std::size_t num_actions, std::span<const State> terminal);

  TabularBuilder(const TabularBuilder&) = delete;
  TabularBuilder& operator=(const TabularBuilder&) = delete;
  TabularBuilder(TabularBuilder&&) = default;
  TabularBuilder& operator=(TabularBuilder&&) = default;
  ~TabularBuilder() = default;

  // Reserves memory for this many non-zeros; more are allowed.
  void reserve(std::size_t num_nonzeros);

  // Adds the next row: rising successors, positive probabilities that sum to 1.
  void add_row(std::span<const State> next, std::span<const double> probability, double reward);

  // The same with a reward for each successor.
  void add_row(std::span<const Outcome> outcomes);

  // Adds an absorbing row, for terminal states.
  void add_absorbing_row();

  // Throws unless from every state some path reaches a terminal state, so that episodes under any
  // epsilon-soft policy end.
  void check_terminal_is_reachable() const;

  // Checks that all rows were added, that terminal states can be reached, and the start
  // distribution.
  std::shared_ptr<const TabularMdp> build(std::span<const StartProbability> start);

 private:
  void require_not_built() const;
  State current_state() const;
  void check_row(std::span<const State> next, std::span<const double> probability,
                 double reward) const;

  std::shared_ptr<TabularMdp> mdp_;
  AliasBuilder alias_;
  std::vector<std::uint16_t> narrow_next_;
  std::vector<State> next_;
  std::vector<double> probability_;
};

}  // namespace hilo
