#include "hilo/agent/temporal_difference.hpp"

#include "hilo/core/error.hpp"
#include "hilo/core/portable_math.hpp"

namespace hilo {

TdValues::TdValues(std::size_t num_states, std::size_t num_actions, const TdOptions& options)
    : options_(options), q_(num_states, num_actions), updates_(num_states * num_actions, 0) {
  require_within("gamma", options.gamma, 0, 1);
  require_within("epsilon", options.epsilon, 0, 1);
  require_within("step_exponent", options.step_exponent, 0, 1);
  require_within("step_size", options.step_size, 0, 1);
}

// std::pow is not the same on all CPUs.
double TdValues::step_size(double n) const {
  if (options_.step_size > 0) return options_.step_size;
  return n > 1 ? portable_exp(-options_.step_exponent * portable_log(n)) : 1;
}

void TdValues::update(State s, Action a, double target) {
  double& n = updates_[s * q_.num_actions() + a];
  n += 1;
  q_.set(s, a, q_(s, a) + step_size(n) * (target - q_(s, a)));
}

void TdValues::start_at(State s, Action a, double value, double updates) {
  updates_[s * q_.num_actions() + a] = updates;
  q_.set(s, a, value);
}

void TdValues::q_learning(const Episode& episode) {
  for (std::size_t t = 0; t < episode.length(); ++t) {
    const double next = episode.ends_at(t) ? 0 : q_.best(episode.states[t + 1]);
    update(episode.states[t], episode.actions[t], episode.rewards[t] + options_.gamma * next);
  }
}

void TdValues::save(ArchiveWriter& out) const {
  out.value(options_.gamma);
  out.value(options_.epsilon);
  out.value(options_.step_exponent);
  out.value(options_.step_size);
  out.value(static_cast<std::uint64_t>(q_.num_states()));
  out.value(static_cast<std::uint64_t>(q_.num_actions()));
  out.array<double>(q_.values());
  out.array<double>(updates_);
}

void TdValues::load(ArchiveReader& in) {
  in.expect("gamma", options_.gamma);
  in.expect("epsilon", options_.epsilon);
  in.expect("step_exponent", options_.step_exponent);
  in.expect("step_size", options_.step_size);
  in.expect("number of states", static_cast<std::uint64_t>(q_.num_states()));
  in.expect("number of actions", static_cast<std::uint64_t>(q_.num_actions()));
  std::vector<double> q(q_.values().size());
  in.array<double>("number of Q values", q);
  in.array<double>("number of updates", updates_);
  q_.assign(q);
}

std::vector<std::byte> TdAgent::write(std::string_view tag, std::uint32_t version) const {
  ArchiveWriter out(tag, version);
  values_.save(out);
  out.value(episodes_);
  return out.finish();
}

void TdAgent::read(std::span<const std::byte> bytes, std::string_view tag, std::uint32_t version) {
  TdValues values = values_;
  ArchiveReader in(bytes, tag, version);
  values.load(in);
  const auto episodes = in.value<std::uint64_t>();
  in.finish();
  values_ = std::move(values);
  episodes_ = episodes;
}

}  // namespace hilo
