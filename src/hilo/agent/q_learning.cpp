#include "hilo/agent/q_learning.hpp"

#include "hilo/rollout/shadow.hpp"

namespace hilo {

LearnReport QLearning::learn(const Episode& episode) {
  check_episode(episode, q().num_states(), q().num_actions());
  values_.q_learning(episode);
  ++episodes_;
  return {};
}

std::vector<std::byte> QLearning::save() const {
  ArchiveWriter out("q-learning", kArchiveVersion);
  values_.save(out);
  out.value(episodes_);
  return out.finish();
}

void QLearning::load(std::span<const std::byte> bytes) {
  QLearning loaded = *this;
  ArchiveReader in(bytes, "q-learning", kArchiveVersion);
  loaded.values_.load(in);
  loaded.episodes_ = in.value<std::uint64_t>();
  in.finish();
  *this = std::move(loaded);
}

}  // namespace hilo
