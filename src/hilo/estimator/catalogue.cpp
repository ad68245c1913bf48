#include <fmt/format.h>

#include <vector>

#include "hilo/core/detail/catalogue.hpp"
#include "hilo/core/error.hpp"
#include "hilo/estimator/bias_aware.hpp"
#include "hilo/estimator/empirical_bayes.hpp"
#include "hilo/estimator/finite_m.hpp"
#include "hilo/estimator/paper.hpp"

namespace hilo {

namespace {

template <class E>
std::unique_ptr<Estimator> make(const EstimatorOptions& options, std::size_t num_pairs) {
  return std::make_unique<E>(options, num_pairs);
}

Catalogue<EstimatorKind>& catalogue() {
  static Catalogue<EstimatorKind> the(
      "estimator",
      {{.name = "paper",
        .description = "the paper's control variate; biased where the dynamics differ",
        .build = [](const EstimatorOptions&, std::size_t) -> std::unique_ptr<Estimator> {
          return std::make_unique<PaperEstimator>();
        }},
       {.name = "finite-m",
        .description = "the same with free returns alone and a pooled alpha",
        .algorithm_version = 2,
        .build = make<FiniteMEstimator>},
       {.name = "bias-aware",
        .description = "trusts the low fidelity less, the larger the mean square of its bias",
        .algorithm_version = 2,
        .build = make<BiasAwareEstimator>},
       {.name = "empirical-bayes",
        .description = "takes out the pairs' common bias and distrusts its spread: MFMCRL+",
        .algorithm_version = 2,
        .build = make<EmpiricalBayesEstimator>}});
  return the;
}

}  // namespace

std::vector<std::reference_wrapper<const EstimatorKind>> estimator_kinds() {
  return catalogue().all();
}
const EstimatorKind& estimator_kind(std::string_view name) { return catalogue().find(name); }
const EstimatorKind& add_estimator_kind(EstimatorKind kind) {
  if (!kind.build) throw Error(Errc::usage, fmt::format("estimator '{}' has no build", kind.name));
  require_plain_text("the description of estimator " + kind.name, kind.description);
  return catalogue().add(std::move(kind));
}

Alpha alpha_from_name(std::string_view name) {
  if (name == "own") return Alpha::own;
  if (name == "pooled") return Alpha::pooled;
  if (name == "shrunk") return Alpha::shrunk;
  throw Error(Errc::spec, fmt::format("alpha is '{}', but must be own, pooled or shrunk", name));
}

std::unique_ptr<Estimator> make_estimator(const EstimatorOptions& options, std::size_t num_pairs) {
  return estimator_kind(options.name).build(options, num_pairs);
}

}  // namespace hilo
