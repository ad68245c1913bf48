#pragma once

#include <memory>
#include <vector>

#include "hilo/env/fidelities.hpp"
#include "hilo/env/nas/space.hpp"

namespace hilo {

// The accuracy of every architecture, in percent.
using Accuracies = std::shared_ptr<const std::vector<double>>;

// Architecture search as an MDP (Appendix C.3 of the paper). A state is an architecture and the
// edge to edit next: state = architecture * (edges + 1) + node, where node = edges is terminal. An
// action gives that edge an operation; the reward is the accuracy of the new architecture, and the
// next node is uniform over all edges and the terminal node. Only the accuracies are stored.
class NasEnvironment {
 public:
  static constexpr bool kChecked = true;  // steps are in range by construction

  NasEnvironment(const NasSpace& space, Accuracies accuracies, Architecture start);

  std::size_t num_states() const { return space_.size() * num_nodes_; }
  std::size_t num_actions() const { return space_.operations(); }
  bool is_terminal(State s) const { return s % num_nodes_ == terminal_; }
  State reset(Rng& rng) const { return state(start_, rng.below(terminal_)); }

  Step step(State s, Action a, Rng& rng) const {
    const Architecture next = space_.with(s / num_nodes_, s % num_nodes_, a);
    const std::uint32_t node = rng.below(num_nodes_);
    return {.next = state(next, node), .reward = (*accuracies_)[next], .done = node == terminal_};
  }

  double reward(State s, Action a, State /*next*/) const {
    if (is_terminal(s)) return 0;
    return (*accuracies_)[space_.with(s / num_nodes_, s % num_nodes_, a)];
  }
  // The state after (s, a) whose node is 0.
  State successor(State s, Action a) const {
    return state(space_.with(s / num_nodes_, s % num_nodes_, a), 0);
  }
  const Model* model() const { return model_.get(); }

  Architecture architecture_of(State s) const { return s / num_nodes_; }

 private:
  State state(Architecture a, std::uint32_t node) const { return a * num_nodes_ + node; }

  NasSpace space_;
  Accuracies accuracies_;
  Architecture start_;
  std::uint32_t num_nodes_, terminal_;
  std::shared_ptr<const Model> model_;
};

// The paper's smaller search space, case (ii): edge 0 has the fixed operation `removed`, so that
// state = (the other edges) * (edges + 1) + node. Nodes 0, 1, ... edit edges 1, 2, .... The
// terminal node follows, and after it a node in which no action edits anything: the state map T
// sends the states that edit edge 0 there. The next node is uniform over the remaining edges and
// the terminal node.
class ReducedNasEnvironment {
 public:
  static constexpr bool kChecked = true;

  ReducedNasEnvironment(const NasSpace& space, Accuracies accuracies, Architecture start,
                        std::uint32_t removed);

  std::size_t num_states() const { return std::size_t{space_.place(0)} * num_nodes_; }
  std::size_t num_actions() const { return space_.operations(); }
  bool is_terminal(State s) const { return s % num_nodes_ == terminal_; }
  State reset(Rng& rng) const { return state(start_, rng.below(terminal_)); }

  Step step(State s, Action a, Rng& rng) const {
    const Architecture next = edited(s, a);
    const std::uint32_t node = rng.below(terminal_ + 1);
    return {.next = state(next, node),
            .reward = (*accuracies_)[first_ + next],
            .done = node == terminal_};
  }

  double reward(State s, Action a, State /*next*/) const {
    return is_terminal(s) ? 0 : (*accuracies_)[first_ + edited(s, a)];
  }
  State successor(State s, Action a) const { return state(edited(s, a), 0); }
  const Model* model() const { return model_.get(); }

  Architecture architecture_of(State s) const { return first_ + s / num_nodes_; }

  // The state map T, which drops edge 0.
  static StateMap map(const NasSpace& space);

 private:
  State state(Architecture a, std::uint32_t node) const { return a * num_nodes_ + node; }
  Architecture edited(State s, Action a) const {
    const std::uint32_t node = s % num_nodes_;
    return node < terminal_ ? space_.with(s / num_nodes_, node + 1, a) : s / num_nodes_;
  }

  NasSpace space_;
  Accuracies accuracies_;
  Architecture start_, first_;  // first_: the full form of reduced architecture 0
  std::uint32_t num_nodes_, terminal_;
  std::shared_ptr<const Model> model_;
};

}  // namespace hilo
