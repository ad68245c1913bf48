#include "hilo/env/model_check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "hilo/core/error.hpp"
#include "hilo/env/tabular_mdp.hpp"

namespace hilo {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(Errc::simulator, fmt::format("model: {}: {}", where, what));
}

std::string pair_name(State s, Action a) { return fmt::format("state {}, action {}", s, a); }

// `where` is called only when a message is needed.
template <class Where>
void check_row(std::span<const Outcome> row, std::size_t num_states, const Where& where) {
  double sum = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Outcome& o = row[i];
    if (o.next >= num_states)
      fail(where(),
           fmt::format("next state is {}, but must be in [0, {}]", o.next, num_states - 1));
    if (i > 0 && o.next <= row[i - 1].next)
      fail(where(), fmt::format("next state {} comes after {}, but they must be distinct and rise",
                                o.next, row[i - 1].next));
    if (!(o.probability > 0 && o.probability <= 1 + kSumTolerance))
      fail(where(), fmt::format("the probability of next state {} is {}, but must be in (0, 1]",
                                o.next, o.probability));
    if (!std::isfinite(o.reward))
      fail(where(),
           fmt::format("the reward of next state {} is {}, but must be finite", o.next, o.reward));
    sum += o.probability;
  }
  if (!(std::abs(sum - 1) <= kSumTolerance))
    fail(where(), fmt::format("its probabilities sum to {}, but must sum to 1", sum));
}

void check_start(const Model& model) {
  double sum = 0;
  for (const auto& [state, probability] : model.start_distribution()) {
    if (state >= model.num_states())
      fail("start",
           fmt::format("state is {}, but must be in [0, {}]", state, model.num_states() - 1));
    if (!(probability >= 0 && probability <= 1 + kSumTolerance))
      fail("start", fmt::format("the probability of state {} is {}, but must be in [0, 1]", state,
                                probability));
    sum += probability;
  }
  if (!(std::abs(sum - 1) <= kSumTolerance))
    fail("start", fmt::format("its probabilities sum to {}, but must sum to 1", sum));
}

// Checks that the after-state of (s, a) has the successors of its outcomes, and that the expected
// reward is the same.
void check_afterstate(const Model& model, State s, Action a, std::span<const Outcome> row,
                      std::vector<Outcome>& successors) {
  const std::uint32_t after = model.afterstate(s, a);
  if (after >= model.num_afterstates())
    fail(pair_name(s, a), fmt::format("its after-state is {}, but must be in [0, {}]", after,
                                      model.num_afterstates() - 1));
  model.successors(after, successors);
  bool same = successors.size() == row.size();
  double reward = 0;
  double size = 0;
  for (std::size_t i = 0; i < row.size() && same; ++i) {
    same = successors[i].next == row[i].next &&
           std::abs(successors[i].probability - row[i].probability) <= kSumTolerance;
    reward += row[i].probability * row[i].reward;
    size += std::abs(row[i].reward);
  }
  if (!same)
    fail(pair_name(s, a),
         fmt::format("its after-state {} has other successors than its outcomes", after));
  const double told = model.expected_reward_of(s, a);
  if (!(std::abs(told - reward) <= kSumTolerance * (1 + size)))
    fail(pair_name(s, a),
         fmt::format("its expected reward is {}, but its outcomes give {}", told, reward));
}

}  // namespace

void check_model(const Model& model) {
  if (model.is_checked()) return;
  if (model.num_states() == 0 || model.num_actions() == 0)
    throw Error(Errc::simulator, fmt::format("model: it has {} states and {} actions, but must "
                                             "have at least one of each",
                                             model.num_states(), model.num_actions()));
  check_start(model);
  std::vector<Outcome> row, successors;
  for (State s = 0; s < model.num_states(); ++s)
    for (Action a = 0; a < model.num_actions() && !model.is_terminal(s); ++a) {
      model.outcomes(s, a, row);
      check_row(row, model.num_states(), [&] { return pair_name(s, a); });
      if (model.num_afterstates() > 0) check_afterstate(model, s, a, row, successors);
    }
  // After-states that no pair leads to are checked as well, because exact solutions include them.
  for (std::uint32_t u = 0; u < model.num_afterstates(); ++u) {
    model.successors(u, row);
    for (Outcome& o : row) o.reward = 0;  // rewards have no meaning there
    check_row(row, model.num_states(), [&] { return fmt::format("after-state {}", u); });
  }
  model.set_checked();
}

void check_model_of(const Model& model, std::size_t num_states, std::size_t num_actions,
                    const std::function<bool(State)>& is_terminal) {
  if (model.num_states() != num_states || model.num_actions() != num_actions)
    throw Error(Errc::simulator,
                fmt::format("model: it has {} states and {} actions, but its simulator has {} and "
                            "{}",
                            model.num_states(), model.num_actions(), num_states, num_actions));
  for (State s = 0; s < num_states; ++s)
    if (model.is_terminal(s) != is_terminal(s))
      throw Error(Errc::simulator,
                  fmt::format("model: state {} is{} terminal, but in its simulator it is{}", s,
                              model.is_terminal(s) ? "" : " not", is_terminal(s) ? "" : " not"));
  check_model(model);
}

}  // namespace hilo
