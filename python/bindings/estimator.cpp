#include "hilo/estimator/estimator.hpp"

#include "bindings.hpp"
#include "hilo/estimator/bounds.hpp"
#include "hilo/estimator/control_variate.hpp"
#include "hilo/estimator/costs.hpp"
#include "hilo/estimator/sample_mean.hpp"

namespace hilo::python {
namespace {

// The evidence of many state-action pairs, and an estimator that is updated with every change.
class Estimation {
 public:
  Estimation(const std::string& name, std::size_t num_pairs, const std::string& alpha,
             double forgetting)
      : name_(name),
        estimator_(make_estimator(
            {.name = name, .alpha = alpha_from_name(alpha), .forgetting = forgetting},
            checked(num_pairs))),
        paired_(num_pairs),
        free_(num_pairs),
        coupled_(num_pairs) {}

  void add_paired(std::size_t pair, double high, double low) {
    check(pair);
    paired_[pair].add(high, low);
    coupled_[pair].add(low);
    estimator_->update(pair, evidence(pair));
  }
  void add_free(std::size_t pair, const InVector<double>& returns) {
    check(pair);
    for (const double g : span_of(returns)) free_[pair].add(g);
    estimator_->update(pair, evidence(pair));
  }
  CorrectedEstimate estimate(std::size_t pair) const {
    check(pair);
    return estimator_->estimate(evidence(pair));
  }

  const std::string& name() const { return name_; }
  std::size_t size() const { return paired_.size(); }

 private:
  // Checked before anything is allocated.
  static std::size_t checked(std::size_t num_pairs) {
    require_within("num_pairs", num_pairs, 1, 1U << 30, Errc::usage);
    return num_pairs;
  }
  void check(std::size_t pair) const {
    require_within("pair", pair, 0, paired_.size() - 1, Errc::usage);
  }
  Evidence evidence(std::size_t pair) const { return {paired_[pair], free_[pair], coupled_[pair]}; }

  std::string name_;
  std::unique_ptr<Estimator> estimator_;
  std::vector<CoMoments> paired_;
  std::vector<Moments> free_, coupled_;
};

}  // namespace

void bind_estimator(nb::module_& m) {
  m.def(
      "sample_mean",
      [](const Moments& returns) {
        const MeanEstimate estimate = sample_mean(returns);
        return std::pair(estimate.value, estimate.standard_error);
      },
      "returns"_a, "Plain Monte Carlo: the mean and its standard error (equations 5 and 6).");

  nb::class_<ControlVariate>(m, "ControlVariate",
                             "A mean corrected by a correlated one that is known better.")
      .def_ro("value", &ControlVariate::value, "The estimate.")
      .def_ro("alpha", &ControlVariate::alpha, "The coefficient; 0 if no correction was made.")
      .def_ro("variance_ratio", &ControlVariate::variance_ratio, "The estimate of 1 - rho^2.")
      .def_prop_ro("correlation", &ControlVariate::correlation, "The estimate of rho.")
      .def("__repr__", [](const ControlVariate& cv) {
        return "ControlVariate(value=" + std::to_string(cv.value) +
               ", alpha=" + std::to_string(cv.alpha) +
               ", variance_ratio=" + std::to_string(cv.variance_ratio) + ")";
      });
  m.def("control_variate", &control_variate, "pairs"_a, "mu_lo"_a,
        "The mean of x corrected by y, whose mean mu_lo is known better (equations 7 to 10).");

  nb::class_<CorrectedEstimate>(m, "CorrectedEstimate",
                                "An estimate of the value of a state-action pair.")
      .def_ro("value", &CorrectedEstimate::value, "The estimate.")
      .def_ro("standard_error", &CorrectedEstimate::standard_error,
              "The standard error; infinite if unknown.")
      .def_ro("variance_ratio", &CorrectedEstimate::variance_ratio,
              "The expected squared error divided by that of the plain mean.")
      .def_ro("correlation", &CorrectedEstimate::correlation,
              "The correlation of the coupled returns.")
      .def_ro("corrected", &CorrectedEstimate::corrected, "False if the value is the plain mean.")
      .def("__repr__", [](const CorrectedEstimate& e) {
        return "CorrectedEstimate(value=" + std::to_string(e.value) +
               ", standard_error=" + std::to_string(e.standard_error) +
               ", variance_ratio=" + std::to_string(e.variance_ratio) + ")";
      });
  nb::class_<Estimation>(m, "Estimator",
                         "An estimator by its name, with the returns of many state-action pairs. "
                         "hilo.estimator_kinds() lists the names.")
      .def(nb::init<const std::string&, std::size_t, const std::string&, double>(), "name"_a,
           "num_pairs"_a, "alpha"_a = "pooled", "forgetting"_a = 0.9999)
      .def("add_paired", &Estimation::add_paired, "pair"_a, "high"_a, "low"_a,
           "Adds a high-fidelity return of a pair and the low-fidelity return coupled to it.")
      .def("add_free", &Estimation::add_free, "pair"_a, "returns"_a,
           "Adds returns of free low-fidelity roll-outs from the pair.")
      .def("estimate", &Estimation::estimate, "pair"_a,
           "The current estimate of the value of the pair.")
      .def("__repr__", [](const Estimation& e) {
        return "Estimator('" + e.name() + "', num_pairs=" + std::to_string(e.size()) + ")";
      });
  m.def(
      "estimator_kinds",
      [] {
        std::map<std::string, std::string> out;
        for (const EstimatorKind& kind : estimator_kinds())
          out[std::string(kind.name)] = std::string(kind.description);
        return out;
      },
      "The estimators, by name, with their descriptions.");

  nb::class_<Bounded>(m, "Bounded", "A bounded random variable whose mean is estimated.")
      .def(
          "__init__",
          [](Bounded* self, double variance, double b) {
            new (self) Bounded{variance, b};
          },
          "variance"_a, "b"_a)
      .def_ro("variance", &Bounded::variance, "sigma^2")
      .def_ro("b", &Bounded::b, "|X - E[X]| <= b")
      .def("__reduce__",
           [](nb::handle self) {
             return nb::make_tuple(self.type(),
                                   nb::make_tuple(self.attr("variance"), self.attr("b")));
           })
      .def("__repr__", [](const Bounded& x) {
        return "Bounded(variance=" + std::to_string(x.variance) + ", b=" + std::to_string(x.b) +
               ")";
      });
  m.def("return_bound", &return_bound, "reward_min"_a, "reward_max"_a, "gamma"_a,
        "The largest distance of a discounted return from its mean.");
  m.def("control_variate_of", &control_variate_of, "high"_a, "rho"_a, "alpha"_a, "b_low"_a,
        "The corrected return as a bounded variable.");
  m.def(
      "tail_bound", &tail_bound, "x"_a, "n"_a, "xi"_a,
      "Lemma 1: an upper bound of the probability that the mean of n values is off by xi or more.");
  m.def("range_of_lemma_1", &range_of_lemma_1, "x"_a,
        "The largest xi for which the first form of Lemma 1 holds.");
  m.def("samples_needed", &samples_needed, "x"_a, "xi"_a, "delta"_a,
        "Theorem 1: the fewest samples for an error of at most xi with probability 1 - delta.");
  m.def(
      "greedy_is_best_bound",
      [](double best_variance, const std::vector<std::pair<double, double>>& rivals) {
        std::vector<Rival> all;
        require_within("best_variance", best_variance, 0, 1e300, Errc::usage);
        for (const auto& [gap, variance] : rivals) {
          require_within("gap", gap, 0, 1e300, Errc::usage);
          require_within("variance", variance, 0, 1e300, Errc::usage);
          all.push_back({gap, variance});
        }
        return greedy_is_best_bound(best_variance, all);
      },
      "best_variance"_a, "rivals"_a,
      "Theorem 2: a lower bound of the probability that the greedy action is the best one. A rival "
      "is (gap, variance of its estimate).");
  m.def(
      "best_ratio", &best_ratio, "rho"_a, "w"_a,
      "The best number of low-fidelity returns for each high-fidelity return, which costs as much "
      "as w of them.");
  m.def("error_at_equal_cost", &error_at_equal_cost, "rho"_a, "w"_a,
        "The squared error divided by that of plain Monte Carlo at the same total cost. The low "
        "fidelity pays if it is below 1.");
  m.def(
      "break_even_cost_ratio", [](double rho) { return break_even_cost_ratio(rho); }, "rho"_a,
      "The w above which the low fidelity pays.");
}

}  // namespace hilo::python
