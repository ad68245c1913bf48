#include "hilo/agent/direct.hpp"

#include <cmath>

#include "hilo/agent/detail/kinds.hpp"
#include "hilo/agent/detail/network_parameters.hpp"
#include "hilo/agent/policy_search.hpp"
#include "hilo/core/archive.hpp"
#include "hilo/core/error.hpp"
#include "hilo/policy/network_file.hpp"

namespace hilo {
namespace {

constexpr std::uint32_t kSearchPair = 16;

// Coordinates with bounds are scaled by them; nothing is known about the others beforehand.
NetworkShape shape_of(const VectorSimulator& high, const std::vector<std::size_t>& layers) {
  const Space& space = high.observation_space();
  NetworkShape out{.observations = space,
                   .actions = high.action_space(),
                   .angles = {high.angles().begin(), high.angles().end()},
                   .centre = std::vector<double>(space.dimension(), 0.0),
                   .scale = std::vector<double>(space.dimension(), 1.0),
                   .layers = layers};
  for (std::size_t d = 0; d < space.dimension(); ++d)
    if (std::isfinite(space.low()[d]) && std::isfinite(space.high()[d])) {
      out.centre[d] = (space.low()[d] + space.high()[d]) / 2;
      out.scale[d] = std::max((space.high()[d] - space.low()[d]) / 2, 1e-6);
    }
  out.check();
  require_searchable(out);
  return out;
}

}  // namespace

Direct::Direct(const VectorSimulator& high, DirectOptions options, std::uint64_t seed)
    : options_(std::move(options)),
      seed_(seed),
      shape_(shape_of(high, options_.layers)),
      cma_(std::vector<double>(shape_.num_weights(), 0.0),
           {.sigma = options_.sigma, .population = options_.population}, seed, 0, kSearchPair),
      candidates_(cma_.ask()) {}

std::vector<double> Direct::candidate() const {
  std::vector<double> out(shape_.num_weights());
  candidates_.get(losses_.size(), out);
  return out;
}

std::unique_ptr<const Policy> Direct::policy() const {
  return std::make_unique<const NetworkPolicy>(shape_, candidate());
}
std::unique_ptr<const Policy> Direct::greedy_policy() const {
  return std::make_unique<const NetworkPolicy>(shape_, cma_.mean());
}
PolicyArtifact Direct::artifact() const { return network_artifact(shape_, cma_.mean()); }

LearnReport Direct::learn(const VectorEpisode& episode) {
  if (episode.length() == 0)
    throw Error(Errc::simulator, "an episode without a step teaches nothing");
  tell(summarise(episode, options_.gamma).discounted_return);
  return {};
}

void Direct::tell(double value) {
  returns_.push_back(value);
  losses_.push_back(-value);
  if (losses_.size() < cma_.population()) return;
  cma_.tell(losses_);
  candidates_ = cma_.ask();
  losses_.clear();
}

std::vector<std::byte> Direct::save() const {
  ArchiveWriter out("direct", kArchiveVersion);
  out.value(seed_);
  out.value(static_cast<std::uint64_t>(shape_.num_weights()));
  out.array<double>(returns_);
  return out.finish();
}

void Direct::load(std::span<const std::byte> bytes) {
  ArchiveReader in(bytes, "direct", kArchiveVersion);
  in.expect("seed", seed_);
  in.expect("number of weights", static_cast<std::uint64_t>(shape_.num_weights()));
  const std::vector<double> returns = in.list<double>("returns", kAnyLength);
  in.finish();
  cma_ = Cma(std::vector<double>(shape_.num_weights(), 0.0),
             {.sigma = options_.sigma, .population = options_.population}, seed_, 0, kSearchPair);
  candidates_ = cma_.ask();
  losses_.clear();
  returns_.clear();
  for (const double value : returns) tell(value);
}

AgentKind direct_kind() {
  std::vector<ParameterInfo> parameters = network_parameters();
  parameters.push_back({.name = "population",
                        .description = "episodes of a generation of the search",
                        .default_value = std::int64_t{16},
                        .low = 4,
                        .high = 1000});
  parameters.push_back({.name = "sigma",
                        .description = "first step size of the search",
                        .default_value = 0.5,
                        .low = 1e-6,
                        .high = 100});
  return {
      .name = "direct",
      .display = "direct",
      .description = "policy search (CMA-ES) on the high fidelity itself, an episode for each try",
      .parameters = std::move(parameters),
      .needs = {.low = LowFidelities::none, .discrete_spaces = false},
      .algorithm_version = Direct::kAlgorithmVersion,
      .build_vectors = [](const VectorFidelities& pair, const Parameters& p,
                          const AgentSetting& setting) -> std::unique_ptr<VectorAgent> {
        return std::make_unique<Direct>(
            pair.high(),
            DirectOptions{.layers = network_layers(p),
                          .population = static_cast<std::size_t>(p.integer("population")),
                          .sigma = p.number("sigma"),
                          .gamma = setting.gamma},
            setting.seed);
      }};
}

}  // namespace hilo
