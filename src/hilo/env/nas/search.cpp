#include "hilo/env/nas/search.hpp"

#include <algorithm>

namespace hilo {

double TrainedArchitectures::train(Architecture a) {
  const double accuracy = (*accuracies_)[a];
  if (trained_[a] == 0) {
    trained_[a] = 1;
    if (count_++ == 0 || accuracy > (*accuracies_)[best_]) best_ = a;
  }
  return accuracy;
}

void TrainedArchitectures::save(ArchiveWriter& out) const {
  out.array<std::uint8_t>(trained_);
  out.value(best_);
}

void TrainedArchitectures::load(ArchiveReader& in) {
  in.array<std::uint8_t>("number of architectures", trained_);
  best_ = in.value<Architecture>();
  if (best_ >= trained_.size()) ArchiveReader::mismatch("best architecture");
  count_ = static_cast<std::size_t>(std::ranges::count(trained_, 1));
}

RandomSearch::RandomSearch(Accuracies accuracies, std::uint64_t seed)
    : size_(static_cast<std::uint32_t>(accuracies->size())),
      trained_(std::move(accuracies)),
      rng_(Stream(seed, Purpose::nas_search, 0)) {}

double RandomSearch::run_to(std::size_t budget) {
  while (trained_.count() < budget && !trained_.all()) trained_.train(rng_.below(size_));
  return trained_.best_accuracy();
}

RegularisedEvolution::RegularisedEvolution(const NasSpace& space, Accuracies accuracies,
                                           std::uint64_t seed)
    : space_(space),
      accuracies_(accuracies),
      trained_(std::move(accuracies)),
      rng_(Stream(seed, Purpose::nas_search, 1)) {}

Architecture RegularisedEvolution::child() {
  if (population_.size() < kPopulation || idle_ >= kPatience)
    return rng_.below(static_cast<std::uint32_t>(space_.size()));
  Architecture parent = population_[rng_.below(kPopulation)];
  for (std::size_t i = 1; i < kSample; ++i) {
    const Architecture other = population_[rng_.below(kPopulation)];
    if ((*accuracies_)[other] > (*accuracies_)[parent]) parent = other;
  }
  const std::uint32_t edge = rng_.below(space_.edges());
  const std::uint32_t shift = 1 + rng_.below(space_.operations() - 1);
  return space_.with(parent, edge, (space_.operation(parent, edge) + shift) % space_.operations());
}

double RegularisedEvolution::run_to(std::size_t budget) {
  while (trained_.count() < budget && !trained_.all()) {
    const std::size_t before = trained_.count();
    const Architecture a = child();
    trained_.train(a);
    population_.push_back(a);
    if (population_.size() > kPopulation) population_.pop_front();
    idle_ = trained_.count() > before ? 0 : idle_ + 1;
  }
  return trained_.best_accuracy();
}

}  // namespace hilo
