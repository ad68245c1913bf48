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

// What is known of one high-fidelity pair (s, a) when its value is asked for.
struct Evidence {
  const CoMoments& paired;  // x: high-fidelity returns, y: the low-fidelity returns coupled to them
  const Moments& free;      // returns of free low-fidelity roll-outs from (T(s), a)
  const Moments& coupled;   // all coupled low-fidelity returns of (T(s), a)
};

struct CorrectedEstimate {
  double value = 0;
  double standard_error = std::numeric_limits<double>::infinity();  // infinite: unknown
  double variance_ratio = 1;  // squared error expected, against that of the plain mean
  double correlation = 0;     // of the coupled returns, as the estimator sees it
  bool corrected = false;     // false: the value is the plain mean
};

// What an estimator has learnt from all pairs together, for records; zeros where it learns nothing.
struct PooledFindings {
  double alpha = 0;  // cov / var of the coupled returns
  // Of Q_lo - E[coupled low-fidelity return] in units of the pair's low-fidelity standard
  // deviation.
  double bias_offset = 0;  // mean over pairs
  double bias_spread = 0;  // standard deviation over pairs, beyond sampling noise
};

// Turns the evidence of a pair into its value. It may learn from all pairs together what one alone
// cannot tell; then it must be told of every change.
class Estimator {
 public:
  Estimator() = default;
  virtual ~Estimator() = default;

  // The evidence of a pair has changed. O(1), amortised.
  virtual void update(std::size_t /*pair*/, const Evidence& /*evidence*/) {}
  // All updates since the last call came from one episode, so that their errors may be correlated.
  virtual void end_episode() {}
  virtual CorrectedEstimate estimate(const Evidence& evidence) const = 0;
  // The same, where nobody asks for the standard error: it may be left unknown.
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

// Whose covariance decides how much of the low fidelity's surprise is passed on.
enum class Alpha : std::uint8_t {
  own,     // "own": the pair's, as in the paper; wild while it has few returns
  pooled,  // "pooled": one for all pairs
  shrunk,  // "shrunk": the pair's, drawn to the pooled one as if by 30 more returns
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
  // Raised by every change that alters its results, so that runs with other estimators keep theirs.
  std::uint32_t algorithm_version = 1;
  std::function<std::unique_ptr<Estimator>(const EstimatorOptions&, std::size_t num_pairs)> build;
};

// All kinds, those that hilo comes with first.
std::vector<std::reference_wrapper<const EstimatorKind>> estimator_kinds();
// Throws on an unknown name, with the nearest known one.
const EstimatorKind& estimator_kind(std::string_view name);
// Adds a kind of the caller's. Before anything runs.
const EstimatorKind& add_estimator_kind(EstimatorKind kind);
std::unique_ptr<Estimator> make_estimator(const EstimatorOptions& options, std::size_t num_pairs);

}  // namespace hilo
