#include "hilo/env/nas/environment.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

void check_accuracies(const NasSpace& space, const Accuracies& accuracies, Architecture start) {
  if (accuracies == nullptr || accuracies->size() != space.size())
    throw Error(Errc::usage,
                fmt::format("{} accuracies were given, but the space has {} "
                            "architectures",
                            accuracies == nullptr ? 0 : accuracies->size(), space.size()));
  for (std::size_t i = 0; i < accuracies->size(); ++i)
    if (!std::isfinite((*accuracies)[i]))
      throw Error(Errc::data, fmt::format("the accuracy of architecture {} is no number", i));
  require_within("start architecture", std::uint64_t{start}, 0, space.size() - 1, Errc::usage);
}

// The model of either environment: the next nodes 0, ..., last_node have equal probability.
template <class Environment>
class NasModel final : public Model {
 public:
  NasModel(Environment env, std::uint32_t num_nodes, std::uint32_t last_node, State start)
      : env_(std::move(env)), num_nodes_(num_nodes), last_node_(last_node), start_(start) {
    set_checked();
  }

  std::size_t num_states() const override { return env_.num_states(); }
  std::size_t num_actions() const override { return env_.num_actions(); }
  bool is_terminal(State s) const override { return env_.is_terminal(s); }

  // Uniform over the nodes before the terminal one, each of which edits an edge.
  std::vector<StartProbability> start_distribution() const override {
    std::vector<StartProbability> out;
    std::uint32_t count = 0;
    while (!env_.is_terminal(start_ + count)) ++count;
    for (std::uint32_t i = 0; i < count; ++i) out.push_back({start_ + i, 1.0 / count});
    return out;
  }

  void outcomes(State s, Action a, std::vector<Outcome>& out) const override {
    out.clear();
    if (env_.is_terminal(s)) {
      out.push_back({s, 1, 0});
      return;
    }
    const State first = env_.successor(s, a);
    const double reward = env_.reward(s, a, first);
    for (std::uint32_t node = 0; node <= last_node_; ++node)
      out.push_back({first + node, 1.0 / (last_node_ + 1), reward});
  }

  // The afterstate of (s, a) is the new architecture.
  std::size_t num_afterstates() const override { return env_.num_states() / num_nodes_; }
  std::uint32_t afterstate(State s, Action a) const override {
    return env_.successor(s, a) / num_nodes_;
  }
  double expected_reward_of(State s, Action a) const override { return env_.reward(s, a, 0); }
  void successors(std::uint32_t afterstate, std::vector<Outcome>& out) const override {
    out.clear();
    for (std::uint32_t node = 0; node <= last_node_; ++node)
      out.push_back({afterstate * num_nodes_ + node, 1.0 / (last_node_ + 1), 0});
  }

 private:
  Environment env_;
  std::uint32_t num_nodes_, last_node_;
  State start_;
};

}  // namespace

NasEnvironment::NasEnvironment(const NasSpace& space, Accuracies accuracies, Architecture start)
    : space_(space),
      accuracies_(std::move(accuracies)),
      start_(start),
      num_nodes_(space.edges() + 1),
      terminal_(space.edges()) {
  check_accuracies(space_, accuracies_, start_);
  model_ = std::make_shared<const NasModel<NasEnvironment>>(*this, num_nodes_, terminal_,
                                                            state(start_, 0));
}

ReducedNasEnvironment::ReducedNasEnvironment(const NasSpace& space, Accuracies accuracies,
                                             Architecture start, std::uint32_t removed)
    : space_(space),
      accuracies_(std::move(accuracies)),
      start_(start % space.place(0)),
      first_(removed * space.place(0)),
      num_nodes_(space.edges() + 1),
      terminal_(space.edges() - 1) {
  check_accuracies(space_, accuracies_, start);
  require_within("removed operation", std::uint64_t{removed}, 0, space.operations() - 1,
                 Errc::usage);
  model_ = std::make_shared<const NasModel<ReducedNasEnvironment>>(*this, num_nodes_, terminal_,
                                                                   state(start_, 0));
}

StateMap ReducedNasEnvironment::map(const NasSpace& space) {
  const std::uint32_t nodes = space.edges() + 1;
  std::vector<State> low_of(space.size() * nodes);
  for (Architecture a = 0; a < space.size(); ++a)
    for (std::uint32_t node = 0; node < nodes; ++node) {
      const std::uint32_t low_node = node == 0 ? space.edges() : node - 1;
      low_of[a * nodes + node] = a % space.place(0) * nodes + low_node;
    }
  return {std::move(low_of), std::size_t{space.place(0)} * nodes};
}

}  // namespace hilo
