#include "hilo/policy/network_gradient.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "hilo/core/bulk_math.hpp"
#include "hilo/core/detail/fixed_blocking.hpp"
#include "hilo/core/error.hpp"

namespace hilo {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
// A row for each unit: the weights of its inputs, and its bias.
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowsView = Eigen::Map<const Rows>;

}  // namespace

struct NetworkBatch::Impl {
  Impl(const NetworkShape& its_shape, std::span<const double> its_weights,
       const Columns& observations)
      : shape(its_shape), weights(its_weights.begin(), its_weights.end()) {
    if (weights.size() != shape.num_weights() ||
        observations.rows() != shape.observations.dimension())
      throw Error(Errc::usage, "weights or observations do not fit the shape of a network");
    fix_blocking();
    enter(observations);
    std::size_t at = 0;
    for (std::size_t l = 0; l <= shape.layers.size(); ++l) {
      const bool is_last = l == shape.layers.size();
      const RowsView w = layer(l, at);
      Matrix z = w.leftCols(w.cols() - 1) * values.back();
      z.colwise() += w.col(w.cols() - 1);
      if (!is_last || !shape.actions.is_discrete()) squash(z);
      values.push_back(std::move(z));
    }
    give();
  }

  // The weights of layer l, which begin at `at`; moves that to the next layer.
  RowsView layer(std::size_t l, std::size_t& at) const {
    const std::size_t inputs = l == 0 ? shape.num_inputs() : shape.layers[l - 1];
    const std::size_t units = l == shape.layers.size() ? shape.num_outputs() : shape.layers[l];
    const double* first = weights.data() + at;
    at += units * (inputs + 1);
    return {first, static_cast<Index>(units), static_cast<Index>(inputs + 1)};
  }

  void enter(const Columns& observations) {
    const auto count = static_cast<Index>(observations.count());
    Matrix x(static_cast<Index>(shape.num_inputs()), count);
    std::vector<double> sine(observations.count()), cosine(sine);
    Index k = 0;
    for (std::size_t d = 0; d < observations.rows(); ++d) {
      const Eigen::Map<const Eigen::RowVectorXd> row(observations.row(d), count);
      if (shape.is_angle(d)) {
        bulk_sine_cosine({observations.row(d), observations.count()}, sine, cosine);
        x.row(k++) = Eigen::Map<const Eigen::RowVectorXd>(cosine.data(), count);
        x.row(k++) = Eigen::Map<const Eigen::RowVectorXd>(sine.data(), count);
      } else {
        x.row(k++) = (row.array() - shape.centre[d]) * (1 / shape.scale[d]);
      }
    }
    values.push_back(std::move(x));
  }

  static void squash(Matrix& z) {
    const std::span<double> all(z.data(), static_cast<std::size_t>(z.size()));
    bulk_tanh(all, all);
  }

  void give() {
    const Matrix& last = values.back();
    outputs.resize(shape.num_outputs(), static_cast<std::size_t>(last.cols()));
    for (std::size_t u = 0; u < outputs.rows(); ++u)
      for (std::size_t i = 0; i < outputs.count(); ++i) {
        const double v = last(static_cast<Index>(u), static_cast<Index>(i));
        outputs.at(u, i) = shape.actions.is_discrete() ? v : middle(u) + half_width(u) * v;
      }
  }

  double middle(std::size_t u) const {
    return (shape.actions.low()[u] + shape.actions.high()[u]) / 2;
  }
  double half_width(std::size_t u) const {
    return (shape.actions.high()[u] - shape.actions.low()[u]) / 2;
  }

  NetworkShape shape;
  std::vector<double> weights;
  std::vector<Matrix> values;  // inputs, then what every layer gives, a column for an observation
  Columns outputs;
};

NetworkBatch::NetworkBatch(const NetworkShape& shape, std::span<const double> weights,
                           const Columns& observations)
    : impl_(std::make_unique<Impl>(shape, weights, observations)) {}
NetworkBatch::~NetworkBatch() = default;

const Columns& NetworkBatch::outputs() const { return impl_->outputs; }

void NetworkBatch::add_gradient(const Columns& pull, std::size_t first_column, std::size_t count,
                                std::span<double> gradient) const {
  const Impl& n = *impl_;
  if (pull.rows() != n.outputs.rows() || pull.count() != n.outputs.count() ||
      count > pull.count() || first_column > pull.count() - count ||
      gradient.size() != n.weights.size())
    throw Error(Errc::usage, "a pull or a gradient does not fit the shape of a network");
  std::vector<std::size_t> first;
  std::size_t at = 0;
  for (std::size_t l = 0; l <= n.shape.layers.size(); ++l) {
    first.push_back(at);
    n.layer(l, at);
  }

  // delta = d (pull . outputs) / d z of a layer, where z is what enters its tanh.
  const auto from = static_cast<Index>(first_column), columns = static_cast<Index>(count);
  Matrix delta(static_cast<Index>(pull.rows()), columns);
  for (std::size_t u = 0; u < pull.rows(); ++u) {
    const double width = n.shape.actions.is_discrete() ? 1 : n.half_width(u);
    delta.row(static_cast<Index>(u)) =
        width * Eigen::Map<const Eigen::RowVectorXd>(pull.row(u) + from, columns);
  }
  for (std::size_t l = n.shape.layers.size() + 1; l-- > 0;) {
    const bool is_linear = l == n.shape.layers.size() && n.shape.actions.is_discrete();
    if (!is_linear) delta.array() *= 1 - n.values[l + 1].middleCols(from, columns).array().square();
    std::size_t start = first[l];
    const RowsView w = n.layer(l, start);
    Eigen::Map<Rows> slope(gradient.data() + first[l], w.rows(), w.cols());
    slope.leftCols(w.cols() - 1).noalias() +=
        delta * n.values[l].middleCols(from, columns).transpose();
    slope.col(w.cols() - 1) += delta.rowwise().sum();
    if (l > 0) delta = w.leftCols(w.cols() - 1).transpose() * delta;
  }
}

}  // namespace hilo
