#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/driver/detail/loops.hpp"
#include "hilo/driver/detail/vector_paths.hpp"
#include "hilo/env/step_source.hpp"
#include "hilo/experiment/vector_run.hpp"

namespace hilo {
namespace {

class VectorLoop final : public LearnLoop {
 public:
  VectorLoop(const Spec& spec, std::uint64_t seed) : run_(spec, seed) {}

  LearnRequest ask(std::uint64_t ahead) override {
    if (ahead > 0) throw Error(Errc::usage, "a problem of vectors has one episode at a time");
    const EpisodeRequest request = run_.ask();
    return {.streams = request.streams,
            .horizon = request.horizon,
            .policy = std::shared_ptr<const Policy>(run_.agent().policy())};
  }
  LearnRequest test(const StreamAddress& streams, const Horizon& horizon) const override {
    Horizon own = horizon;
    own.max_steps = std::min(own.max_steps, run_.high().time_limit());
    return {.streams = streams,
            .horizon = own,
            .policy = std::shared_ptr<const Policy>(run_.agent().greedy_policy())};
  }

  PlayedEpisode play(const LearnRequest& request) const override {
    PlayedEpisode out;
    VectorEpisode episode(run_.high());
    try {
      run_.high().run_episode(request.vectors(), request.streams, request.horizon, episode);
      if (episode.length() == 0)
        throw Error(Errc::simulator, "the high fidelity gave an episode without a step");
    } catch (const Error& e) {
      if (e.code() != Errc::simulator) throw;
      out.failure = e.what();
    }
    out.cost = episode.cost;
    out.paid.vectors = out.failure ? whole_steps_of(episode, run_.high())
                                   : std::optional(path_of(episode, run_.high()));
    return out;
  }

  void complete(const LearnRequest& request, PaidEpisode& paid) const override {
    paid.discounted_return = 0;
    for (std::size_t t = paid.vectors->length(); t-- > 0;)
      paid.discounted_return =
          request.horizon.gamma * paid.discounted_return + paid.vectors->rewards[t];
  }

  void check(const PaidEpisode& paid) const override {
    if (!paid.vectors)
      throw Error(Errc::simulator, "the episode is one of a table, but the problem has vectors");
    episode_of(*paid.vectors, run_.high());
  }

  bool follows(const LearnRequest& request, const PaidEpisode& paid) const override {
    if (!request.vectors().is_memoryless()) return true;
    const VectorEpisode episode = episode_of(*paid.vectors, run_.high());
    Points seen(run_.high().observation_space()), chosen(run_.high().action_space());
    std::vector<ActionWords> words;
    for (std::uint32_t t = 0; t < episode.length(); ++t) {
      seen.push_back(episode.observations[t]);
      Rng rng = Rng::of_step(request.streams.stream(), request.streams.first_step + t + 1);
      words.push_back(draw_action_words(rng));
    }
    request.vectors().act(seen, words, chosen);
    return std::ranges::equal(chosen.coordinates(), episode.actions.coordinates()) &&
           std::ranges::equal(chosen.indices(), episode.actions.indices());
  }

  void tell(const PaidEpisode& paid) override { run_.tell(episode_of(*paid.vectors, run_.high())); }
  void skip() override { run_.skip(); }
  void stop() override { run_.stop(); }

  const Agent& agent() const override { return run_.agent(); }
  const AnySimulator& high() const override { return run_.high(); }
  std::size_t num_workers() const override { return 1; }
  std::optional<OwnValue> own_value() const override {
    const std::optional<double> value = run_.agent().own_value();
    if (!value || !std::isfinite(*value)) return std::nullopt;
    return OwnValue{*value, INFINITY};
  }
  std::uint64_t low_steps() const override { return run_.low_steps(); }
  std::uint64_t dropped() const override { return 0; }

  ControlledTest sharpen(std::span<const TestEpisode> tests, const LearnRequest& first,
                         double cost_ratio) const override {
    const auto low = std::dynamic_pointer_cast<const VectorSimulator>(run_.pair().shared_low());
    if (low == nullptr) return {};
    return run_controlled_test(*low, first.vectors(), tests, first.streams, first.horizon,
                               cost_ratio);
  }

  bool can_be_saved() const override { return run_.can_be_saved(); }
  std::vector<std::byte> save() const override { return run_.save(); }
  void load(std::span<const std::byte> bytes) override { run_.load(bytes); }

 private:
  VectorRun run_;
};

}  // namespace

std::unique_ptr<LearnLoop> make_vector_loop(const Spec& spec, std::uint64_t seed) {
  return std::make_unique<VectorLoop>(spec, seed);
}

std::unique_ptr<LearnLoop> LearnLoop::make(const Spec& spec, std::uint64_t seed) {
  const RunConfig& config = spec.configs.front();
  return config.problem_kind->has_vectors(config.problem) ? make_vector_loop(spec, seed)
                                                          : make_table_loop(spec, seed);
}

std::size_t length_of(const PaidEpisode& paid) {
  return paid.vectors ? paid.vectors->length() : paid.path.length();
}

}  // namespace hilo
