#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hilo/core/archive.hpp"
#include "hilo/core/moments.hpp"
#include "hilo/estimator/sample_mean.hpp"

namespace hilo {

// The data about one high-fidelity pair (s, a) from which its value is estimated.
struct Evidence {
  const CoMoments& paired;  // x: high-fidelity returns, y: the low-fidelity returns coupled to them
  const Moments& free;      // returns of free low-fidelity roll-outs from (T(s), a)
  const Moments& coupled;   // all coupled low-fidelity returns of (T(s), a)
};

struct CorrectedEstimate {
  double value = 0;
  double standard_error = std::numeric_limits<double>::infinity();  // infinite: unknown
  double variance_ratio = 1;  // expected squared error divided by that of the plain mean
  double correlation = 0;     // of the coupled returns, as the estimator estimates it
  bool corrected = false;     // false: the value is the plain mean
};

// What an estimator has learnt from all pairs together, for the records of a run. All zero if the
// estimator learns nothing from other pairs.
struct PooledFindings {
  double alpha = 0;  // cov / var of the coupled returns
  // The bias Q_lo - E[coupled low-fidelity return], in units of the pair's low-fidelity standard
  // deviation.
  double bias_offset = 0;  // mean over pairs
  double bias_spread = 0;  // standard deviation over pairs, beyond sampling noise
};

// Estimates the value of a pair from its evidence. An estimator may also learn from all pairs
// together; then every change of the evidence must be reported to update().
class Estimator {
 public:
  Estimator() = default;
  virtual ~Estimator() = default;

  // Call when the evidence of a pair has changed. O(1), amortised.
  virtual void update(std::size_t /*pair*/, const Evidence& /*evidence*/) {}
  // Call after the updates of one episode: their errors may be correlated.
  virtual void end_episode() {}
  virtual CorrectedEstimate estimate(const Evidence& evidence) const = 0;
  // The same for callers that do not need the standard error, which may be left unknown.
  virtual CorrectedEstimate estimate_quickly(const Evidence& evidence) const {
    return estimate(evidence);
  }
  virtual PooledFindings findings() const { return {}; }

  virtual std::unique_ptr<Estimator> clone() const = 0;
  virtual void save(ArchiveWriter& /*out*/) const {}
  virtual void load(ArchiveReader& /*in*/) {}

 protected:
  Estimator(const Estimator&) = default;
  Estimator& operator=(const Estimator&) = default;
};

// Which returns give alpha = cov / var, the coefficient of the control variate.
enum class Alpha : std::uint8_t {
  own,     // "own": the pair's, as in the paper; very noisy while the pair has few returns
  pooled,  // "pooled": one alpha from all pairs
  shrunk,  // "shrunk": the pair's own, shrunk towards the pooled one as if by 30 more returns
};
Alpha alpha_from_name(std::string_view name);

struct EstimatorOptions {
  std::string name = "paper";
  Alpha alpha = Alpha::pooled;  // `paper` always takes the pair's own
  double forgetting = 0.9999;   // see PooledEvidence
};

struct EstimatorKind {
  std::string name;
  std::string description;
  // Raised by every change that alters the results of this estimator. It does not affect runs with
  // other estimators.
  std::uint32_t algorithm_version = 1;
  std::function<std::unique_ptr<Estimator>(const EstimatorOptions&, std::size_t num_pairs)> build;
};

// All kinds, the built-in ones first.
std::vector<std::reference_wrapper<const EstimatorKind>> estimator_kinds();
// Throws on an unknown name; the message suggests the nearest known one.
const EstimatorKind& estimator_kind(std::string_view name);
// Adds a kind that the caller defines. Call it before anything runs.
const EstimatorKind& add_estimator_kind(EstimatorKind kind);
std::unique_ptr<Estimator> make_estimator(const EstimatorOptions& options, std::size_t num_pairs);

}  // namespace hilo
