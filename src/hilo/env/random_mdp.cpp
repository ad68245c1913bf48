#include "hilo/env/random_mdp.hpp"

#include <algorithm>

#include "hilo/core/bulk_random.hpp"
#include "hilo/core/error.hpp"

namespace hilo {
namespace {

// Draws the rows of one MDP. Every random number has a fixed place in a stream of its row, whether
// it is used or not.
class RowGenerator {
 public:
  RowGenerator(const RandomMdpOptions& options, std::uint64_t seed)
      : options_(options),
        seed_(seed),
        mask_(options.states),
        possible_(options.states),
        weight_(options.states) {}

  void generate(std::uint32_t row, TabularBuilder& builder) {
    const auto num_states = static_cast<std::uint32_t>(options_.states);
    const State terminal = num_states - 1;
    Rng reward_rng(Stream(seed_, Purpose::problem_reward, row));
    const double u_ref = reward_rng.uniform();
    const std::uint32_t fallback = reward_rng.below(terminal);
    const std::uint32_t reward_index = reward_rng.below(num_states);
    const double reward = reward_rng.uniform();

    fill_uniform(Stream(seed_, Purpose::problem_mask, row), mask_);
    for (State i = 0; i < num_states; ++i) possible_[i] = mask_[i] > u_ref ? 1 : 0;
    fill_uniform(Stream(seed_, Purpose::problem_weight, row), std::span(weight_).first(terminal));
    if (std::find(possible_.begin(), possible_.end() - 1, 1) == possible_.end() - 1)
      possible_[fallback] = 1;

    // Without a branch, which would often be mispredicted.
    next_.resize(num_states);
    probability_.resize(num_states);
    double total = 0;
    std::size_t size = 0;
    for (State i = 0; i < terminal; ++i) {
      next_[size] = i;
      probability_[size] = weight_[i];
      total += possible_[i] ? weight_[i] : 0.0;
      size += possible_[i];
    }
    next_.resize(size);
    probability_.resize(size);
    for (double& p : probability_) p *= (1 - options_.terminal_probability) / total;
    next_.push_back(terminal);
    probability_.push_back(options_.terminal_probability);
    builder.add_row(next_, probability_, possible_[reward_index] ? reward : 0);
  }

 private:
  RandomMdpOptions options_;
  std::uint64_t seed_;
  std::vector<double> mask_;
  std::vector<std::uint8_t> possible_;
  std::vector<double> weight_;
  std::vector<State> next_;
  std::vector<double> probability_;
};

}  // namespace

void validate(const RandomMdpOptions& o) {
  require_within("states", o.states, 2, kMaxRandomStates);
  require_within("actions", o.actions, 1, kMaxRandomActions);
  require_within("states * actions * states", o.states * o.actions * o.states, 1, 0xffffffffU);
  require_within("terminal_probability", o.terminal_probability, 1e-6, 1 - 1e-6);
  require_within("start_states", o.start_states, 1, o.states - 1);
}

std::shared_ptr<const TabularMdp> make_random_mdp(const RandomMdpOptions& options,
                                                  std::uint64_t seed) {
  validate(options);
  const auto terminal = static_cast<State>(options.states - 1);
  TabularBuilder builder(options.states, options.actions, {&terminal, 1});
  // About half of all successors are possible; 11/20 leaves a margin.
  builder.reserve(options.states * options.actions * options.states * 11 / 20);

  RowGenerator rows(options, seed);
  const auto num_rows = static_cast<std::uint32_t>(terminal * options.actions);
  for (std::uint32_t row = 0; row < num_rows; ++row) rows.generate(row, builder);
  for (std::size_t a = 0; a < options.actions; ++a) builder.add_absorbing_row();

  std::vector<StartProbability> start;
  for (State s = 0; s < options.start_states; ++s)
    start.push_back({s, 1 / static_cast<double>(options.start_states)});
  return builder.build(start);
}

}  // namespace hilo
