#pragma once

#include "hilo/env/policy.hpp"

namespace hilo {

// The policy of a table, as a policy that acts on observations. It is a view, like its Behaviour.
class TablePolicy final : public Policy {
 public:
  explicit TablePolicy(const Behaviour& behaviour)
      : Policy(Space::discrete(behaviour.heads.size()), Space::discrete(behaviour.num_actions)),
        behaviour_(behaviour) {}

  void act(const Points& observations, std::span<const ActionWords> words,
           Points& actions) const override {
    actions.clear();
    for (std::size_t i = 0; i < observations.size(); ++i)
      actions.push_back(std::uint64_t{behaviour_.choose(
          static_cast<State>(observations.indices()[i]), words[i].explore, words[i].action)});
  }

  const Behaviour* table() const override { return &behaviour_; }

 private:
  Behaviour behaviour_;
};

}  // namespace hilo
