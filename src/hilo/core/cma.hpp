#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hilo/core/columns.hpp"
#include "hilo/core/random.hpp"

namespace hilo {

struct CmaOptions {
  double sigma = 0.5;          // the first step size, the same for all coordinates
  std::size_t population = 0;  // candidates of a generation; 0: 4 + 3 log n
  bool active = true;          // bad candidates shrink the covariance where they lie
};

// Minimises a function of n variables without derivatives: the evolution strategy with covariance
// matrix adaptation (CMA-ES; N. Hansen, The CMA evolution strategy: a tutorial, arXiv:1604.00772,
// whose symbols and default constants the implementation has).
//
//   while (...) {
//     const Columns& candidates = cma.ask();   // one column for each
//     ...
//     cma.tell(values);                        // in the same order
//   }
//
// Random numbers are addressed: generation g of a search is drawn from roll-out g of the stream
// that it is given, so that a search is a function of its address and the values it is told.
class Cma {
 public:
  // The address is that of roll-out 0.
  Cma(std::span<const double> start, const CmaOptions& options, std::uint64_t seed,
      std::uint32_t episode, std::uint32_t pair);
  Cma(Cma&&) noexcept;
  Cma& operator=(Cma&&) noexcept;
  ~Cma();

  std::size_t dimension() const;
  std::size_t population() const;
  std::uint32_t generation() const;  // that were told

  const Columns& ask();
  // Values that are not finite count as worse than all others.
  void tell(std::span<const double> values);

  std::vector<double> mean() const;
  double sigma() const;
  // The best candidate that was told, and its value.
  const std::vector<double>& best() const;
  double best_value() const;
  // Whether going on is of no use: steps have become too small or the covariance too ill
  // conditioned for double precision.
  bool is_exhausted() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hilo
