#include "gradient_bare_loop.hpp"

#include <Eigen/Core>
#include <cmath>
#include <memory>

#include "hilo/agent/policy_gradient.hpp"
#include "hilo/core/bulk_math.hpp"
#include "hilo/core/bulk_random.hpp"
#include "hilo/core/error.hpp"

namespace hilo::bench {
namespace {

constexpr std::size_t kInputs = 8, kUnits = 64, kOutputs = 2, kPaths = 10, kLength = 200;
constexpr double kNoise = 0.3, kStepSize = 0.02;

std::vector<double> normal(std::uint32_t pair, std::size_t count) {
  std::vector<double> out(count);
  fill_normal(Stream(1, Purpose::search, 0, pair), out);
  return out;
}

}  // namespace

using Matrix = Eigen::MatrixXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct GradientWork::Bare {
  Matrix x, action, h1, h2, out, d1, d2, d3;
  Eigen::RowVectorXd advantage;
  Rows w1, w2, w3, g1, g2, g3;  // the last column is the bias
};

GradientWork::GradientWork()
    : shape_{.observations =
                 Space::box(std::vector<double>(kInputs, -1e9), std::vector<double>(kInputs, 1e9)),
             .actions = Space::box({-1, -1}, {1, 1}),
             .angles = {},
             .centre = std::vector<double>(kInputs, 0.0),
             .scale = std::vector<double>(kInputs, 1.0),
             .layers = {kUnits, kUnits}},
      bare_(std::make_shared<Bare>()) {
  const std::size_t steps = kPaths * kLength;
  weights_ = normal(1, shape_.num_weights());
  for (double& w : weights_) w *= 0.1;
  advantages_ = normal(2, steps);
  const std::vector<double> seen = normal(3, kInputs * steps), drawn = normal(4, kOutputs * steps);
  paths_.observations.resize(kInputs, steps);
  paths_.actions.resize(kOutputs, steps);
  paths_.rewards.assign(steps, 0.0);
  for (std::size_t k = 1; k <= kPaths; ++k) paths_.first.push_back(k * kLength);
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t d = 0; d < kInputs; ++d) paths_.observations.at(d, t) = seen[d * steps + t];
    // Within the box, so that no action is at a bound.
    for (std::size_t u = 0; u < kOutputs; ++u)
      paths_.actions.at(u, t) = 0.9 * std::tanh(drawn[u * steps + t]);
  }
  Bare& b = *bare_;
  const auto count = static_cast<Eigen::Index>(steps);
  const auto matrix_of = [&](const Columns& from) {
    Matrix to(static_cast<Eigen::Index>(from.rows()), count);
    for (std::size_t d = 0; d < from.rows(); ++d)
      for (std::size_t t = 0; t < steps; ++t)
        to(static_cast<Eigen::Index>(d), static_cast<Eigen::Index>(t)) = from.at(d, t);
    return to;
  };
  b.x = matrix_of(paths_.observations);
  b.action = matrix_of(paths_.actions);
  b.advantage = Eigen::Map<const Eigen::RowVectorXd>(advantages_.data(), count);
  for (auto* w : {&b.w1, &b.g1}) w->resize(kUnits, kInputs + 1);
  for (auto* w : {&b.w2, &b.g2}) w->resize(kUnits, kUnits + 1);
  for (auto* w : {&b.w3, &b.g3}) w->resize(kOutputs, kUnits + 1);
  const double* at = weights_.data();
  for (Rows* w : {&b.w1, &b.w2, &b.w3}) {
    *w = Eigen::Map<const Rows>(at, w->rows(), w->cols());
    at += w->size();
  }
  for (auto* h : {&b.h1, &b.h2, &b.d1, &b.d2}) h->resize(kUnits, count);
  for (auto* h : {&b.out, &b.d3}) h->resize(kOutputs, count);
}

std::vector<double> GradientWork::climb(const std::vector<double>& gradient) const {
  std::vector<double> out = weights_;
  Adam(weights_.size()).climb(gradient, kStepSize, out);
  return out;
}

std::vector<double> GradientWork::run_sum() {
  return climb(sum_of_gradients(shape_, weights_, kNoise, paths_, advantages_, 1));
}

std::vector<double> GradientWork::run_paths() {
  const auto all = path_gradients(shape_, weights_, kNoise, paths_, advantages_, 1);
  std::vector<double> sum(weights_.size(), 0.0);
  for (std::size_t k = 0; k < kPaths; ++k)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += all[k * sum.size() + i];
  return climb(sum);
}

std::vector<double> GradientWork::run_bare() {
  Bare& b = *bare_;
  const auto forward = [](const Rows& w, const Matrix& in, Matrix& out) {
    out.noalias() = w.leftCols(w.cols() - 1) * in;
    out.colwise() += w.col(w.cols() - 1);
    const std::span<double> all(out.data(), static_cast<std::size_t>(out.size()));
    bulk_tanh(all, all);
  };
  forward(b.w1, b.x, b.h1);
  forward(b.w2, b.h1, b.h2);
  forward(b.w3, b.h2, b.out);
  b.d3 = ((b.action - b.out) / (kNoise * kNoise)).array().rowwise() * b.advantage.array();
  b.d3.array() *= 1 - b.out.array().square();
  const auto backward = [](const Matrix& delta, const Matrix& in, Rows& g) {
    g.leftCols(g.cols() - 1).noalias() = delta * in.transpose();
    g.col(g.cols() - 1) = delta.rowwise().sum();
  };
  backward(b.d3, b.h2, b.g3);
  b.d2.noalias() = b.w3.leftCols(kUnits).transpose() * b.d3;
  b.d2.array() *= 1 - b.h2.array().square();
  backward(b.d2, b.h1, b.g2);
  b.d1.noalias() = b.w2.leftCols(kUnits).transpose() * b.d2;
  b.d1.array() *= 1 - b.h1.array().square();
  backward(b.d1, b.x, b.g1);
  std::vector<double> gradient;
  for (const Rows* g : {&b.g1, &b.g2, &b.g3})
    gradient.insert(gradient.end(), g->data(), g->data() + g->size());
  return climb(gradient);
}

void GradientWork::check() {
  const auto sum = run_sum(), paths = run_paths(), bare = run_bare();
  for (std::size_t i = 0; i < bare.size(); ++i)
    if (!(std::abs(sum[i] - bare[i]) < 1e-9) || !(std::abs(paths[i] - bare[i]) < 1e-9))
      throw Error(Errc::data, "the bare loop of a gradient step does other work");
}

}  // namespace hilo::bench
