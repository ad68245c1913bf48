// Saves and loads the Bayes agent.
#include <algorithm>

#include "hilo/agent/bayes.hpp"
#include "hilo/core/error.hpp"

namespace hilo {

std::vector<std::byte> Bayes::save() const {
  ArchiveWriter out("bayes", kArchiveVersion);
  out.value(options_.gamma);
  out.value(options_.optimism);
  out.value(options_.use_low);
  out.value(options_.low_steps);
  out.value(options_.low_samples);
  out.value(seed_);
  out.value(static_cast<std::uint64_t>(q_.num_states()));
  out.value(static_cast<std::uint64_t>(q_.num_actions()));
  out.value(static_cast<std::uint64_t>(low_values_.size()));
  out.value(prepared_);
  out.value(episodes_);
  out.value(next_refit_);
  out.value(cut_episodes_);
  out.value(explores_);
  model_.save(out);
  out.array<double>(q_.values());
  out.array<double>(optimistic_.values());
  out.array<Value>(values_);
  out.array<ValueMoments>(low_values_);
  out.value(base_value_);
  out.value(known_base_);
  out.value(largest_value_);
  out.array<State>(std::vector<State>(queue_.begin(), queue_.end()));
  return out.finish();
}

void Bayes::load(std::span<const std::byte> bytes) {
  Bayes loaded = *this;
  ArchiveReader in(bytes, "bayes", kArchiveVersion);
  in.expect("gamma", options_.gamma);
  in.expect("optimism", options_.optimism);
  if (in.flag("use of the low fidelity") != options_.use_low)
    ArchiveReader::mismatch("use of the low fidelity");
  in.expect("low_steps", options_.low_steps);
  in.expect("low_samples", options_.low_samples);
  in.expect("seed", seed_);
  in.expect("number of states", static_cast<std::uint64_t>(q_.num_states()));
  in.expect("number of actions", static_cast<std::uint64_t>(q_.num_actions()));
  in.expect("number of low-fidelity states", static_cast<std::uint64_t>(low_values_.size()));
  loaded.prepared_ = in.flag("preparation");
  loaded.episodes_ = in.value<std::uint64_t>();
  loaded.next_refit_ = in.value<std::uint64_t>();
  loaded.cut_episodes_ = in.value<std::uint64_t>();
  loaded.explores_ = in.value<double>();
  require_within("saved chance of a random action", loaded.explores_, 0, 1, Errc::data);
  loaded.model_.load(in);
  std::vector<double> q(beliefs_.size()), optimistic(beliefs_.size());
  in.array<double>("number of Q values", q);
  in.array<double>("number of Q values", optimistic);
  in.array<Value>("number of states", loaded.values_);
  in.array<ValueMoments>("number of low-fidelity states", loaded.low_values_);
  loaded.base_value_ = in.value<ValueMoments>();
  loaded.known_base_ = in.value<ValueMoments>();
  loaded.largest_value_ = in.value<double>();
  const auto queue = in.list<State>("number of states to plan", values_.size());
  loaded.queue_.assign(queue.begin(), queue.end());
  in.finish();
  loaded.q_.assign(q);
  loaded.optimistic_.assign(optimistic);
  loaded.restore_links();
  *this = std::move(loaded);
}

// Rebuilds the parts that are not saved because they follow from the rest.
void Bayes::restore_links() {
  std::ranges::fill(queued_, std::uint8_t{0});
  for (const State s : queue_) {
    require_within("saved state", std::uint64_t{s}, 0, values_.size() - 1, Errc::data);
    queued_[s] = 1;
  }
  for (auto& list : predecessors_) list.clear();
  for (auto& list : low_predecessors_) list.clear();
  for (State s = 0; s < values_.size(); ++s)
    for (Action a = 0; a < q_.num_actions(); ++a) {
      for (const auto& successor : model_.successors(s, a)) link(s, successor.next);
      if (prepared_) believe(s, a);
    }
  link_low_model();
}

}  // namespace hilo
