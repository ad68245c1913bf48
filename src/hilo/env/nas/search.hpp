#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "hilo/core/archive.hpp"
#include "hilo/core/random.hpp"
#include "hilo/env/nas/environment.hpp"

namespace hilo {

// The architectures that a search has trained so far, and the best of them.
class TrainedArchitectures {
 public:
  explicit TrainedArchitectures(Accuracies accuracies)
      : accuracies_(std::move(accuracies)), trained_(accuracies_->size(), 0) {}

  // Trains the architecture, unless it was trained before, and returns its accuracy.
  double train(Architecture a);

  std::size_t count() const { return count_; }
  Architecture best() const { return best_; }
  double best_accuracy() const { return count_ == 0 ? 0 : (*accuracies_)[best_]; }
  bool all() const { return count_ == trained_.size(); }

  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  Accuracies accuracies_;
  std::vector<std::uint8_t> trained_;
  std::size_t count_ = 0;
  Architecture best_ = 0;
};

// Random search: uniform over all architectures, each trained once.
class RandomSearch {
 public:
  RandomSearch(Accuracies accuracies, std::uint64_t seed);
  // Continues until `budget` architectures are trained and returns their best accuracy.
  double run_to(std::size_t budget);

 private:
  std::uint32_t size_;
  TrainedArchitectures trained_;
  Rng rng_;
};

// Regularised evolution (Real, Aggarwal, Huang and Le, 2019, Algorithm 1): the best of a sample of
// the population is copied with one edge changed, and the oldest member is removed. An architecture
// that was trained before does not count towards the budget. After kPatience such children in a
// row, children are drawn at random until one is new.
class RegularisedEvolution {
 public:
  static constexpr std::size_t kPopulation = 50, kSample = 10, kPatience = 100;

  RegularisedEvolution(const NasSpace& space, Accuracies accuracies, std::uint64_t seed);
  double run_to(std::size_t budget);
  std::size_t trained() const { return trained_.count(); }

 private:
  Architecture child();

  NasSpace space_;
  Accuracies accuracies_;
  TrainedArchitectures trained_;
  Rng rng_;
  std::deque<Architecture> population_;  // oldest first
  std::size_t idle_ = 0;                 // children since the last new architecture
};

}  // namespace hilo
