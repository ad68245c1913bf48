#include "hilo/model/return_baseline.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "hilo/core/bulk_math.hpp"
#include "hilo/core/detail/fixed_blocking.hpp"

namespace hilo {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double kMostInput = 10;  // scaled coordinates beyond that are odd ones

// A column for each step.
Matrix features_of(const NetworkShape& shape, double time_scale, std::size_t num_features,
                   const PathBatch& paths) {
  const std::size_t steps = paths.num_steps();
  const auto count = static_cast<Index>(steps);
  Matrix x(static_cast<Index>(num_features), count);
  Index k = 0;
  x.row(k++).setOnes();
  for (std::size_t path = 0; path < paths.size(); ++path)
    for (std::size_t t = paths.first[path]; t < paths.first[path + 1]; ++t) {
      const double time = static_cast<double>(t - paths.first[path] + 1) * time_scale;
      x(k, static_cast<Index>(t)) = time;
      x(k + 1, static_cast<Index>(t)) = time * time;
      x(k + 2, static_cast<Index>(t)) = time * time * time;
    }
  k += 3;
  std::vector<double> sine(steps), cosine(steps);
  for (std::size_t d = 0; d < shape.observations.dimension(); ++d) {
    const double* row = paths.observations.row(d);
    if (shape.is_angle(d)) {
      bulk_sine_cosine({row, steps}, sine, cosine);
      x.row(k++) = Eigen::Map<const Eigen::RowVectorXd>(cosine.data(), count);
      x.row(k++) = Eigen::Map<const Eigen::RowVectorXd>(sine.data(), count);
      continue;
    }
    for (Index t = 0; t < count; ++t) {
      const double scaled =
          std::clamp((row[t] - shape.centre[d]) / shape.scale[d], -kMostInput, kMostInput);
      x(k, t) = scaled;
      x(k + 1, t) = scaled * scaled;
    }
    k += 2;
  }
  return x;
}

}  // namespace

ReturnBaseline::ReturnBaseline(const NetworkShape& shape, std::uint32_t max_steps)
    : shape_(shape),
      time_scale_(1.0 / max_steps),
      products_(num_features() * num_features(), 0.0),
      sums_(num_features(), 0.0) {}

std::size_t ReturnBaseline::num_features() const { return 4 + 2 * shape_.observations.dimension(); }

void ReturnBaseline::add(const PathBatch& paths, std::span<const double> returns) {
  if (paths.num_steps() == 0) return;
  fix_blocking();
  const Matrix x = features_of(shape_, time_scale_, num_features(), paths);
  const auto size = static_cast<Index>(num_features());
  Eigen::Map<Matrix> products(products_.data(), size, size);
  Eigen::Map<Vector> sums(sums_.data(), size);
  const Eigen::Map<const Vector> y(returns.data(), static_cast<Index>(returns.size()));
  products = kKept * products + x * x.transpose();
  sums = kKept * sums + x * y;
  count_ = kKept * count_ + static_cast<double>(paths.num_steps());
  solve();
}

// A ridge of 1e-4 of what a feature of size 1 would have: enough for features that never change.
void ReturnBaseline::solve() {
  constexpr double kRidge = 1e-4;
  const auto size = static_cast<Index>(num_features());
  Matrix regular = Eigen::Map<const Matrix>(products_.data(), size, size);
  regular.diagonal().array() += kRidge * count_;
  const Vector solved = regular.ldlt().solve(Eigen::Map<const Vector>(sums_.data(), size));
  weights_.assign(solved.data(), solved.data() + size);
  if (!std::ranges::all_of(weights_, [](double w) { return std::isfinite(w); })) weights_.clear();
}

std::vector<double> ReturnBaseline::at(const PathBatch& paths) const {
  std::vector<double> out(paths.num_steps(), 0.0);
  if (weights_.empty() || out.empty()) return out;
  fix_blocking();
  const Matrix x = features_of(shape_, time_scale_, num_features(), paths);
  Eigen::Map<Vector>(out.data(), static_cast<Index>(out.size())) =
      x.transpose() *
      Eigen::Map<const Vector>(weights_.data(), static_cast<Index>(weights_.size()));
  return out;
}

void ReturnBaseline::save(ArchiveWriter& out) const {
  out.array<double>(products_);
  out.array<double>(sums_);
  out.value(count_);
}

void ReturnBaseline::load(ArchiveReader& in) {
  in.array<double>("baseline", std::span(products_));
  in.array<double>("baseline", std::span(sums_));
  count_ = in.value<double>();
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::ranges::all_of(products_, finite) || !std::ranges::all_of(sums_, finite) ||
      !(count_ >= 0) || !std::isfinite(count_))
    ArchiveReader::mismatch("baseline");
  weights_.clear();
  if (count_ > 0) solve();
}

}  // namespace hilo
