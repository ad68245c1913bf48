#include "hilo/agent/tabular_agent.hpp"
#include "hilo/core/error.hpp"
#include "hilo/driver/detail/loops.hpp"
#include "hilo/experiment/single_run.hpp"
#include "hilo/rollout/check_episode.hpp"

namespace hilo {
namespace {

// The probability with which the policy takes action a in state s.
double probability(const Behaviour& policy, State s, Action a) {
  const double uniform = policy.epsilon / policy.num_actions;
  const GreedyHead head = policy.heads[s];
  bool greedy = head.count == 1 && head.first == a;
  for (std::uint32_t k = 0; head.count > 1 && k < head.count; ++k)
    greedy = greedy || policy.ties[std::size_t{s} * policy.num_actions + k] == a;
  return uniform + (greedy ? (1 - policy.epsilon) / head.count : 0);
}

class TableLoop final : public LearnLoop {
 public:
  TableLoop(const Spec& spec, std::uint64_t seed) : run_(spec, "", seed) {}

  LearnRequest ask(std::uint64_t ahead) override {
    const TabularRequest request = ahead == 0 ? run_.ask() : run_.ask_ahead(ahead);
    return {.streams = request.streams, .horizon = request.horizon, .policy = request.policy};
  }
  LearnRequest test(const StreamAddress& streams, const Horizon& horizon) const override {
    return {.streams = streams, .horizon = horizon, .policy = run_.greedy()};
  }

  PlayedEpisode play(const LearnRequest& request) const override {
    PlayedEpisode out;
    Episode& path = out.paid.path;
    try {
      run_.high().run_episode(request.table(), request.streams, request.horizon, path);
      if (path.length() == 0)
        throw Error(Errc::simulator, "the high fidelity gave an episode without a step");
    } catch (const Error& e) {
      if (e.code() != Errc::simulator) throw;
      out.failure = e.what();
    }
    out.cost = path.cost;
    return out;
  }

  void complete(const LearnRequest& request, PaidEpisode& paid) const override {
    const Episode& path = paid.path;
    paid.discounted_return = 0;
    paid.probabilities.clear();
    for (std::size_t t = path.length(); t-- > 0;)
      paid.discounted_return = request.horizon.gamma * paid.discounted_return + path.rewards[t];
    for (std::size_t t = 0; t < path.length(); ++t)
      paid.probabilities.push_back(probability(request.table(), path.states[t], path.actions[t]));
  }

  void check(const PaidEpisode& paid) const override {
    if (paid.vectors)
      throw Error(Errc::simulator, "the episode is one of vectors, but the problem is a table");
    check_episode(paid.path, run_.high().num_states(), run_.high().num_actions());
  }

  bool follows(const LearnRequest& request, const PaidEpisode& paid) const override {
    for (std::size_t t = 0; t < paid.path.length(); ++t)
      if (request.action(static_cast<std::uint32_t>(t), paid.path.states[t]) !=
          paid.path.actions[t])
        return false;
    return true;
  }

  void tell(const PaidEpisode& paid) override { run_.tell(paid.path); }
  void skip() override { run_.skip(); }
  void stop() override { run_.stop(); }

  const Agent& agent() const override { return run_.agent(); }
  const AnySimulator& high() const override { return run_.high(); }
  std::size_t num_workers() const override { return run_.high().num_workers(); }
  std::optional<OwnValue> own_value() const override { return run_.own_value(); }
  std::uint64_t low_steps() const override { return run_.low_steps(); }
  std::uint64_t dropped() const override { return run_.dropped(); }

  ControlledTest sharpen(std::span<const TestEpisode> tests, const LearnRequest& first,
                         double cost_ratio) const override {
    return run_controlled_test(run_.fidelities(), run_.agent().q(), tests, first.streams,
                               first.horizon, cost_ratio);
  }

  bool can_be_saved() const override { return run_.can_be_saved(); }
  std::vector<std::byte> save() const override { return run_.save(); }
  void load(std::span<const std::byte> bytes) override { run_.load(bytes); }

  const SingleRun* table() const override { return &run_; }

 private:
  SingleRun run_;
};

}  // namespace

std::unique_ptr<LearnLoop> make_table_loop(const Spec& spec, std::uint64_t seed) {
  return std::make_unique<TableLoop>(spec, seed);
}

}  // namespace hilo
