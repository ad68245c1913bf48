#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "hilo/core/error.hpp"
#include "hilo/core/parameters.hpp"
#include "hilo/estimator/bias_aware.hpp"
#include "hilo/estimator/empirical_bayes.hpp"
#include "hilo/estimator/finite_m.hpp"
#include "hilo/estimator/paper.hpp"

namespace hilo {

std::span<const EstimatorKind> estimator_kinds() {
  static constexpr EstimatorKind kKinds[] = {
      {"paper", "the paper's control variate; biased where the dynamics differ"},
      {"finite-m", "the same with free returns alone and a pooled alpha", 2},
      {"bias-aware", "trusts the low fidelity less, the larger the mean square of its bias", 2},
      {"empirical-bayes", "takes out the pairs' common bias and distrusts its spread: MFMCRL+", 2},
  };
  return kKinds;
}

const EstimatorKind& estimator_kind(std::string_view name) {
  std::vector<std::string> known;
  for (const EstimatorKind& kind : estimator_kinds()) {
    if (kind.name == name) return kind;
    known.emplace_back(kind.name);
  }
  throw Error(Errc::spec, fmt::format("unknown estimator '{}'{} (known: {})", name,
                                      did_you_mean(name, known), fmt::join(known, ", ")));
}

Alpha alpha_from_name(std::string_view name) {
  if (name == "own") return Alpha::own;
  if (name == "pooled") return Alpha::pooled;
  if (name == "shrunk") return Alpha::shrunk;
  throw Error(Errc::spec, fmt::format("alpha is '{}', but must be own, pooled or shrunk", name));
}

std::unique_ptr<Estimator> make_estimator(const EstimatorOptions& options, std::size_t num_pairs) {
  const std::string_view name = estimator_kind(options.name).name;
  if (name == "paper") return std::make_unique<PaperEstimator>();
  if (name == "finite-m") return std::make_unique<FiniteMEstimator>(options, num_pairs);
  if (name == "bias-aware") return std::make_unique<BiasAwareEstimator>(options, num_pairs);
  return std::make_unique<EmpiricalBayesEstimator>(options, num_pairs);
}

}  // namespace hilo
