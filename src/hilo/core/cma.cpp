#include "hilo/core/cma.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hilo/core/bulk_random.hpp"
#include "hilo/core/detail/fixed_blocking.hpp"
#include "hilo/core/error.hpp"

namespace hilo {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

constexpr double kIllConditioned = 1e14;

// The constants of the tutorial, table 1.
struct Constants {
  Constants(double n, std::size_t lambda, bool active) {
    const auto mu = static_cast<std::size_t>(lambda / 2);
    weights.resize(static_cast<Eigen::Index>(lambda));
    for (std::size_t i = 0; i < lambda; ++i)
      weights[static_cast<Eigen::Index>(i)] = portable_log((static_cast<double>(lambda) + 1) / 2) -
                                              portable_log(static_cast<double>(i) + 1);
    const auto positive = weights.head(static_cast<Eigen::Index>(mu));
    const auto negative = weights.tail(static_cast<Eigen::Index>(lambda - mu));
    mu_eff = positive.sum() * positive.sum() / positive.squaredNorm();
    const double mu_eff_minus = negative.sum() * negative.sum() / negative.squaredNorm();
    c_c = (4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n);
    c_sigma = (mu_eff + 2) / (n + mu_eff + 5);
    d_sigma = 1 + 2 * std::max(0.0, std::sqrt((mu_eff - 1) / (n + 1)) - 1) + c_sigma;
    c_1 = 2 / ((n + 1.3) * (n + 1.3) + mu_eff);
    c_mu = std::min(1 - c_1, 2 * (0.25 + mu_eff + 1 / mu_eff - 2) / ((n + 2) * (n + 2) + mu_eff));
    // Positive weights sum to 1, negative ones to the least of three bounds.
    weights.head(static_cast<Eigen::Index>(mu)) /= positive.sum();
    const double bound = std::min(
        {1 + c_1 / c_mu, 1 + 2 * mu_eff_minus / (mu_eff + 2), (1 - c_1 - c_mu) / (n * c_mu)});
    weights.tail(static_cast<Eigen::Index>(lambda - mu)) *= active ? bound / -negative.sum() : 0.0;
    // The mean length of a standard normal vector.
    chi_n = std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
  }

  Vector weights;
  double mu_eff = 0, c_c = 0, c_sigma = 0, d_sigma = 0, c_1 = 0, c_mu = 0, chi_n = 0;
};

std::size_t default_population(std::size_t n) {
  return n == 0 ? 0 : 4 + static_cast<std::size_t>(3 * portable_log(static_cast<double>(n)));
}

}  // namespace

struct Cma::Impl {
  Impl(std::span<const double> start, const CmaOptions& options, std::uint64_t its_seed,
       std::uint32_t its_episode, std::uint32_t its_pair)
      : n(static_cast<Eigen::Index>(start.size())),
        lambda(options.population > 0 ? options.population : default_population(start.size())),
        constants(static_cast<double>(start.size()), lambda, options.active),
        seed(its_seed),
        episode(its_episode),
        pair(its_pair),
        sigma(options.sigma),
        m(Eigen::Map<const Vector>(start.data(), n)),
        p_c(Vector::Zero(n)),
        p_sigma(Vector::Zero(n)),
        c(Matrix::Identity(n, n)),
        b(Matrix::Identity(n, n)),
        d(Vector::Ones(n)),
        y(n, static_cast<Eigen::Index>(lambda)),
        best(start.begin(), start.end()) {
    if (n < 1 || lambda < 4 || !(sigma > 0))
      throw Error(Errc::usage,
                  "CMA-ES needs a start with at least one coordinate, a population of at least 4 "
                  "and a positive step size");
    fix_blocking();
    candidates.resize(start.size(), lambda);
  }

  void draw() {
    std::vector<double> z(static_cast<std::size_t>(n) * lambda);
    fill_normal(Stream(seed, Purpose::search, episode, pair, generation), z);
    const Eigen::Map<const Matrix> normal(z.data(), n, static_cast<Eigen::Index>(lambda));
    y.noalias() = b * d.asDiagonal() * normal;
    for (std::size_t i = 0; i < lambda; ++i)
      for (Eigen::Index k = 0; k < n; ++k)
        candidates.at(static_cast<std::size_t>(k), i) =
            m[k] + sigma * y(k, static_cast<Eigen::Index>(i));
    // Lanes of the padding repeat the last candidate.
    for (std::size_t i = lambda; i < candidates.padded(); ++i)
      for (std::size_t k = 0; k < candidates.rows(); ++k)
        candidates.at(k, i) = candidates.at(k, lambda - 1);
  }

  void decompose() {
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(c);
    b = solver.eigenvectors();
    const double largest = std::max(solver.eigenvalues().maxCoeff(), 1e-300);
    d = solver.eigenvalues().cwiseMax(largest / kIllConditioned / 100).cwiseSqrt();
    decomposed_at = generation;
  }

  void update(std::span<const double> values) {
    std::vector<std::size_t> order(lambda);
    std::iota(order.begin(), order.end(), 0);
    const auto key = [&](std::size_t i) {
      return std::isfinite(values[i]) ? values[i] : std::numeric_limits<double>::infinity();
    };
    std::ranges::stable_sort(order, {}, key);
    if (key(order[0]) < best_value) {
      best_value = key(order[0]);
      candidates.get(order[0], best);
    }

    const Constants& k = constants;
    const auto size = static_cast<double>(n);
    const auto column = [&](std::size_t rank) {
      return y.col(static_cast<Eigen::Index>(order[rank]));
    };
    Vector mean_step = Vector::Zero(n);
    for (std::size_t i = 0; i < lambda / 2; ++i)
      mean_step += k.weights[static_cast<Eigen::Index>(i)] * column(i);
    m += sigma * mean_step;

    // Paths: of the step size in coordinates where steps are standard normal, and of the mean.
    const Vector whitened = b * (b.transpose() * mean_step).cwiseQuotient(d);
    p_sigma =
        (1 - k.c_sigma) * p_sigma + std::sqrt(k.c_sigma * (2 - k.c_sigma) * k.mu_eff) * whitened;
    ++generation;
    const double faded =
        1 -
        portable_exp(
            -2.0 * std::min(static_cast<double>(generation) * -portable_log(1 - k.c_sigma), 300.0));
    const bool h_sigma =
        p_sigma.norm() / std::sqrt(std::max(faded, 1e-12)) < (1.4 + 2 / (size + 1)) * k.chi_n;
    p_c = (1 - k.c_c) * p_c;
    if (h_sigma) p_c += std::sqrt(k.c_c * (2 - k.c_c) * k.mu_eff) * mean_step;

    // Rank one, rank mu, and bad steps with negative weights, scaled to the length of a normal
    // vector.
    Vector w = k.weights;
    for (std::size_t i = 0; i < lambda; ++i) {
      double& weight = w[static_cast<Eigen::Index>(i)];
      if (weight < 0)
        weight *=
            size / std::max((b.transpose() * column(i)).cwiseQuotient(d).squaredNorm(), 1e-300);
    }
    const double kept = h_sigma ? 0 : k.c_c * (2 - k.c_c);
    c *= 1 + k.c_1 * kept - k.c_1 - k.c_mu * k.weights.sum();
    c += k.c_1 * p_c * p_c.transpose();
    for (std::size_t i = 0; i < lambda; ++i)
      if (const double weight = w[static_cast<Eigen::Index>(i)]; weight != 0)
        c += k.c_mu * weight * column(i) * column(i).transpose();
    sigma *= portable_exp(std::min(1.0, k.c_sigma / k.d_sigma * (p_sigma.norm() / k.chi_n - 1)));

    const double pause = 1 / ((k.c_1 + k.c_mu) * size * 10);
    if (static_cast<double>(generation - decomposed_at) >= pause) decompose();
  }

  Eigen::Index n;
  std::size_t lambda;
  Constants constants;
  std::uint64_t seed;
  std::uint32_t episode, pair;
  std::uint32_t generation = 0, decomposed_at = 0;
  double sigma;
  Vector m, p_c, p_sigma;
  Matrix c, b;  // C = B diag(d)^2 B'
  Vector d;
  Matrix y;  // the steps of the candidates, in units of sigma
  Columns candidates;
  std::vector<double> best;
  double best_value = std::numeric_limits<double>::infinity();
  bool is_asked = false;
};

Cma::Cma(std::span<const double> start, const CmaOptions& options, std::uint64_t seed,
         std::uint32_t episode, std::uint32_t pair)
    : impl_(std::make_unique<Impl>(start, options, seed, episode, pair)) {}
Cma::Cma(Cma&&) noexcept = default;
Cma& Cma::operator=(Cma&&) noexcept = default;
Cma::~Cma() = default;

std::size_t Cma::dimension() const { return static_cast<std::size_t>(impl_->n); }
std::size_t Cma::population() const { return impl_->lambda; }
std::uint32_t Cma::generation() const { return impl_->generation; }
double Cma::sigma() const { return impl_->sigma; }
const std::vector<double>& Cma::best() const { return impl_->best; }
double Cma::best_value() const { return impl_->best_value; }

std::vector<double> Cma::mean() const { return {impl_->m.data(), impl_->m.data() + impl_->n}; }

const Columns& Cma::ask() {
  if (!impl_->is_asked) impl_->draw();
  impl_->is_asked = true;
  return impl_->candidates;
}

void Cma::tell(std::span<const double> values) {
  if (!impl_->is_asked || values.size() != impl_->lambda)
    throw Error(Errc::usage, "CMA-ES was told values of candidates that it was not asked for");
  impl_->is_asked = false;
  impl_->update(values);
}

bool Cma::is_exhausted() const {
  const double largest = impl_->d.maxCoeff(), smallest = impl_->d.minCoeff();
  return impl_->sigma * largest < 1e-12 * (1 + impl_->m.norm()) ||
         largest / smallest > std::sqrt(kIllConditioned) || !std::isfinite(impl_->sigma);
}

}  // namespace hilo
