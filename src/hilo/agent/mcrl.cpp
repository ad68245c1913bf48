#include "hilo/agent/mcrl.hpp"

#include "hilo/agent/detail/kinds.hpp"
#include "hilo/agent/detail/shared_parameters.hpp"
#include "hilo/core/archive.hpp"
#include "hilo/core/error.hpp"
#include "hilo/rollout/check_episode.hpp"

namespace hilo {

Mcrl::Mcrl(std::size_t num_states, std::size_t num_actions, const McrlOptions& options)
    : options_(options),
      explores_(chance_of_uniform_action(options.exploration, options.epsilon, num_actions)),
      q_(num_states, num_actions),
      returns_(num_states * num_actions),
      first_visits_(num_states, num_actions) {
  require_within("gamma", options.gamma, 0, 1);
  require_within("epsilon", options.epsilon, 0, 1);
  require_within("recency", options.recency, 1, 100);
}

LearnReport Mcrl::learn(const Episode& episode) {
  check_episode(episode, q_.num_states(), q_.num_actions());
  if (episode.truncated) {
    ++episodes_;
    return {.dropped = true};
  }
  auto first_visits = first_visits_.find(episode);

  // G <- 0; for t = T-1, ..., 0: G <- gamma G + r_{t+1}; at a first visit, Q <- mean of the returns
  double g = 0;
  for (std::size_t t = episode.length(); t-- > 0;) {
    g = options_.gamma * g + episode.rewards[t];
    if (first_visits.empty() || first_visits.back() != t) continue;
    first_visits = first_visits.first(first_visits.size() - 1);

    const State s = episode.states[t];
    const Action a = episode.actions[t];
    Moments& returns = returns_[s * q_.num_actions() + a];
    returns.add(g, options_.recency);
    q_.set(s, a, sample_mean(returns).value);
  }
  ++episodes_;
  return {};
}

std::vector<std::byte> Mcrl::save() const {
  ArchiveWriter out("mcrl", kArchiveVersion);
  out.value(options_.gamma);
  out.value(options_.epsilon);
  out.value(options_.recency);
  out.value(options_.exploration);
  out.value(static_cast<std::uint64_t>(q_.num_states()));
  out.value(static_cast<std::uint64_t>(q_.num_actions()));
  out.value(episodes_);
  out.array<double>(q_.values());
  out.array<Moments>(returns_);
  return out.finish();
}

void Mcrl::load(std::span<const std::byte> bytes) {
  Mcrl loaded = *this;
  ArchiveReader in(bytes, "mcrl", kArchiveVersion);
  in.expect("gamma", options_.gamma);
  in.expect("epsilon", options_.epsilon);
  in.expect("recency", options_.recency);
  in.expect("exploration", options_.exploration);
  in.expect("number of states", static_cast<std::uint64_t>(q_.num_states()));
  in.expect("number of actions", static_cast<std::uint64_t>(q_.num_actions()));
  loaded.episodes_ = in.value<std::uint64_t>();
  std::vector<double> q(q_.values().size());
  in.array<double>("number of Q values", q);
  in.array<Moments>("number of returns", loaded.returns_);
  in.finish();
  loaded.q_.assign(q);
  *this = std::move(loaded);
}

AgentKind mcrl_kind() {
  return {.name = "mcrl",
          .display = "MCRL",
          .description = "first-visit Monte Carlo control on the high fidelity alone",
          .parameters = {weights_parameter(), exploration_parameter()},
          .algorithm_version = Mcrl::kAlgorithmVersion,
          .build = [](const Fidelities& fidelities, const Parameters& p,
                      const AgentSetting& setting) -> std::unique_ptr<TabularAgent> {
            return std::make_unique<Mcrl>(fidelities.high().num_states(), fidelities.num_actions(),
                                          McrlOptions{.gamma = setting.gamma,
                                                      .epsilon = setting.epsilon,
                                                      .recency = recency_of(p),
                                                      .exploration = exploration_of(p)});
          }};
}

}  // namespace hilo
