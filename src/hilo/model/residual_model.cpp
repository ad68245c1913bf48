#include "hilo/model/residual_model.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "hilo/core/bulk_math.hpp"
#include "hilo/core/bulk_random.hpp"
#include "hilo/core/detail/fixed_blocking.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/parallel.hpp"
#include "hilo/model/detail/feature_kernel.hpp"

namespace hilo {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double kNothing = 1e-9;     // residuals below this part of a coordinate's spread are none
constexpr double kOutlier = 4;        // standard deviations, from which on a step loses weight
constexpr double kFarOutlier = 8;     // from which on the scales are fitted without it
constexpr double kLeastError = 0.01;  // of an output's spread: below this nothing is an outlier
constexpr std::size_t kFolds = 8;     // groups of episodes that are left out in turn
constexpr double kUnproven = 1.5;     // inflation where there is only one episode
constexpr double kLargestInflation = 10;

// Rounding may make a precision matrix indefinite; a larger prior mends that.
Eigen::LLT<Matrix, Eigen::Lower> factorised(Matrix& precision) {
  double jitter = 1e-12;
  for (int attempt = 0; attempt < 8; ++attempt) {
    Eigen::LLT<Matrix, Eigen::Lower> llt(precision);
    if (llt.info() == Eigen::Success) return llt;
    precision.diagonal() *= 1 + jitter;
    jitter *= 100;
  }
  throw Error(Errc::simulator,
              "the residual of a cheap simulator cannot be fitted: its steps are too ill "
              "conditioned");
}

double wrapped(double angle) {
  const double turns = std::nearbyint(angle / (2 * std::numbers::pi));
  return angle - turns * 2 * std::numbers::pi;
}

}  // namespace

ResidualData::ResidualData(Space its_states, Space its_actions, std::vector<std::size_t> its_angles)
    : states(std::move(its_states)),
      actions(std::move(its_actions)),
      angles(std::move(its_angles)) {
  if (states.is_discrete() || num_inputs() > FeatureArrays::kMostInputs ||
      num_outputs() > FeatureArrays::kMostOutputs)
    throw Error(Errc::spec,
                fmt::format("observations have {} coordinates, which makes {} inputs with the "
                            "actions (two for each angle, one for each numbered action), but what "
                            "is learnt about a simulator takes at most {} and {}",
                            states.dimension(), num_inputs(), FeatureArrays::kMostOutputs - 1,
                            FeatureArrays::kMostInputs));
}

std::size_t ResidualData::num_inputs() const {
  return states.dimension() + angles.size() +
         (actions.is_discrete() ? actions.size() : actions.dimension());
}

void ResidualData::add(std::uint32_t episode, std::span<const double> state,
                       std::span<const double> action, std::span<const double> next, double reward,
                       std::span<const double> expected, double expected_reward) {
  const auto is_finite = [](double x) { return std::isfinite(x); };
  const bool is_known = std::ranges::all_of(next, is_finite) && std::isfinite(reward) &&
                        std::ranges::all_of(expected, is_finite) && std::isfinite(expected_reward);
  for (std::size_t d = 0; d < states.dimension(); ++d) {
    const bool is_angle = std::ranges::binary_search(angles, d);
    if (is_angle) {
      inputs.push_back(portable_cos(state[d]));
      inputs.push_back(portable_sin(state[d]));
    } else {
      inputs.push_back(state[d]);
    }
    const double residual = is_known ? next[d] - expected[d] : 0;
    outputs.push_back(is_angle ? wrapped(residual) : residual);
    // At the bounds of the box, what would have come without them is not known. A cheap simulator
    // that is exactly at a bound was clamped there as well.
    const double low = states.low()[d], high = states.high()[d];
    const bool is_cut = !is_angle && (next[d] <= low || next[d] >= high || expected[d] == low ||
                                      expected[d] == high);
    seen.push_back(is_cut || !is_known ? 0 : 1);
  }
  if (actions.is_discrete())
    for (std::uint64_t a = 0; a < actions.size(); ++a)
      inputs.push_back(static_cast<double>(a) == action[0] ? 1 : 0);
  else
    inputs.insert(inputs.end(), action.begin(), action.end());
  outputs.push_back(is_known ? reward - expected_reward : 0);
  seen.push_back(is_known ? 1 : 0);
  episodes.push_back(episode);
}

struct ResidualModel::Impl {
  // One output that is not zero.
  struct Output {
    std::size_t number = 0;
    double unit = 1;   // its outputs are in units of this
    double noise = 1;  // standard deviation, in that unit
    Vector mean;
    Matrix factor;  // lower triangular: precision = factor factor'
    Vector prior;   // precisions
    double inflation = 1;
    double held_out = 0;  // mean squared error on steps that were left out, in the square of unit
  };

  // Starts from the scales of `before`, or takes `known` as they are.
  Impl(const ResidualData& data, const ResidualOptions& options, std::uint64_t seed,
       const ResidualModel* before, const ProcessScales* known)
      : states(data.states), actions(data.actions), is_angle(states.dimension(), 0) {
    for (const std::size_t d : data.angles) is_angle[d] = 1;
    all_inflations.assign(data.num_outputs(), 1);
    fix_blocking();
    if (data.size() == 0) return;
    standardise(data);
    choose_outputs(data);
    if (outputs.empty()) return;
    if (known != nullptr &&
        (known->length.size() != centre.size() || known->signal.size() != outputs.size() ||
         known->linear.size() != outputs.size() || known->noise.size() != outputs.size()))
      throw Error(Errc::data, "the scales of a saved model do not fit its steps");
    fit(data, options, seed, before, known);
  }

  // Inputs are shifted and scaled to a mean of 0 and a standard deviation of 1.
  void standardise(const ResidualData& data) {
    const std::size_t p = data.num_inputs();
    const auto n = static_cast<double>(data.size());
    centre.assign(p, 0);
    inverse_scale.assign(p, 1);
    for (std::size_t i = 0; i < p; ++i) {
      double sum = 0, squares = 0;
      for (std::size_t a = 0; a < data.size(); ++a) sum += data.inputs[a * p + i];
      centre[i] = sum / n;
      for (std::size_t a = 0; a < data.size(); ++a) {
        const double step = data.inputs[a * p + i] - centre[i];
        squares += step * step;
      }
      const double deviation = std::sqrt(squares / n);
      if (deviation > 1e-9 * (1 + std::abs(centre[i]))) inverse_scale[i] = 1 / deviation;
    }
  }

  // Outputs that are zero but for rounding are left out.
  void choose_outputs(const ResidualData& data) {
    const std::size_t count = data.num_outputs();
    for (std::size_t k = 0; k < count; ++k) {
      double squares = 0, n = 0, largest = 0;
      for (std::size_t a = 0; a < data.size(); ++a) {
        if (data.seen[a * count + k] == 0) continue;
        const double y = data.outputs[a * count + k];
        squares += y * y;
        largest = std::max(largest, std::abs(y));
        ++n;
      }
      Output output;
      output.number = k;
      output.unit = n > 0 ? std::sqrt(squares / n) : 1;
      if (n > 0 && largest > kNothing * magnitude_of(data, k)) outputs.push_back(std::move(output));
    }
  }

  // How large the numbers are that an output is a difference of: rounding is relative to that.
  double magnitude_of(const ResidualData& data, std::size_t k) const {
    if (k >= states.dimension() || is_angle[k] != 0) return 1;  // rewards, and angles up to pi
    std::size_t input = k;
    for (std::size_t d = 0; d < k; ++d) input += is_angle[d];
    double largest = 0;
    for (std::size_t i = input; i < data.inputs.size(); i += data.num_inputs())
      largest = std::max(largest, std::abs(data.inputs[i]));
    return largest > 0 ? largest : 1;
  }

  void fit(const ResidualData& data, const ResidualOptions& options, std::uint64_t seed,
           const ResidualModel* before, const ProcessScales* known) {
    const std::size_t n = data.size(), p = data.num_inputs(), d = outputs.size();
    Columns z(p, n), y(d, n), seen(d, n);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t i = 0; i < p; ++i)
        z.at(i, a) = (data.inputs[a * p + i] - centre[i]) * inverse_scale[i];
      for (std::size_t k = 0; k < d; ++k) {
        const std::size_t at = a * data.num_outputs() + outputs[k].number;
        y.at(k, a) = data.outputs[at] / outputs[k].unit;
        seen.at(k, a) = data.seen[at];
      }
    }
    if (known != nullptr) {
      scales = *known;
      draw_frequencies(options.frequencies, p, seed);
      regress(features_of(z), y, seen, data, options);
      return;
    }
    ProcessScales start;
    if (before != nullptr && before->impl_->has_same_outputs(*this)) start = before->scales();
    scales = fit_scales(z, y, seen, start, options.process);
    draw_frequencies(options.frequencies, p, seed);
    const Matrix phi = features_of(z);
    regress(phi, y, seen, data, options);
    // Steps that fit no smooth function, such as contacts, must not decide what noise is.
    Columns usual = seen;
    bool any = false;
    for (std::size_t k = 0; k < d; ++k) {
      const double bound = kFarOutlier * robust_error(phi, y, seen, k);
      for (std::size_t a = 0; a < n; ++a)
        if (seen.at(k, a) > 0 && error_of(phi, y, k, a) > bound) {
          usual.at(k, a) = 0;
          any = true;
        }
    }
    if (!any) return;
    scales = fit_scales(z, y, usual, scales, options.process);
    draw_frequencies(options.frequencies, p, seed);
    regress(features_of(z), y, seen, data, options);
  }

  double error_of(const Matrix& phi, const Columns& y, std::size_t k, std::size_t a) const {
    return std::abs(y.at(k, a) - phi.row(static_cast<Index>(a)).dot(outputs[k].mean));
  }

  // A standard deviation of the errors that a few large ones do not change: from their median.
  double robust_error(const Matrix& phi, const Columns& y, const Columns& seen,
                      std::size_t k) const {
    std::vector<double> errors;
    for (std::size_t a = 0; a < y.count(); ++a)
      if (seen.at(k, a) > 0) errors.push_back(error_of(phi, y, k, a));
    if (errors.empty()) return INFINITY;
    const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
    std::ranges::nth_element(errors, middle);
    return std::max(1.4826 * *middle, kLeastError);
  }

  bool has_same_outputs(const Impl& other) const {
    return std::ranges::equal(outputs, other.outputs, {}, &Output::number, &Output::number) &&
           scales.length.size() == other.centre.size();
  }

  void draw_frequencies(std::size_t count, std::size_t p, std::uint64_t seed) {
    frequencies.resize(count * p);
    fill_normal(Stream(seed, Purpose::search, 0, kFrequencyPair), frequencies);
    for (std::size_t j = 0; j < count; ++j)
      for (std::size_t i = 0; i < p; ++i) frequencies[j * p + i] /= scales.length[i];
    num_frequencies = count;
  }

  // A row for each step: 1, the inputs, and cosine and sine for each frequency.
  Matrix features_of(const Columns& z) const {
    const auto n = static_cast<Index>(z.count()), p = static_cast<Index>(z.rows());
    Matrix phi(n, 1 + p + 2 * static_cast<Index>(num_frequencies));
    phi.col(0).setOnes();
    for (Index i = 0; i < p; ++i)
      phi.col(1 + i) = Eigen::Map<const Vector>(z.row(static_cast<std::size_t>(i)), n);
    std::vector<double> phase(static_cast<std::size_t>(n)), sine(phase), cosine(phase);
    for (std::size_t j = 0; j < num_frequencies; ++j) {
      for (std::size_t a = 0; a < phase.size(); ++a) {
        double sum = frequencies[j * z.rows()] * z.at(0, a);
        for (std::size_t i = 1; i < z.rows(); ++i)
          sum += frequencies[j * z.rows() + i] * z.at(i, a);
        phase[a] = sum;
      }
      bulk_sine_cosine(phase, sine, cosine);
      const Index column = 1 + p + 2 * static_cast<Index>(j);
      phi.col(column) = Eigen::Map<const Vector>(cosine.data(), n);
      phi.col(column + 1) = Eigen::Map<const Vector>(sine.data(), n);
    }
    return phi;
  }

  void regress(const Matrix& phi, const Columns& y, const Columns& seen, const ResidualData& data,
               const ResidualOptions& options) {
    const Matrix gram = phi.transpose() * phi;
    parallel_for(outputs.size(), options.process.threads,
                 [&](std::size_t k) { regress_one(k, phi, gram, y, seen, data); });
    for (Output& output : outputs) {
      if (output.number < options.caution.size())
        output.inflation *= options.caution[output.number];
      all_inflations[output.number] = output.inflation;
    }
  }

  // Most steps have weight 1: what the others lack is taken away from the sums of all. Weights fall
  // as (bound/error)^2 beyond a bound, so that a single contact does not bend the function.
  void regress_one(std::size_t k, const Matrix& phi, const Matrix& gram, const Columns& y,
                   const Columns& seen, const ResidualData& data) {
    Output& out = outputs[k];
    const Index n = phi.rows(), size = phi.cols(), p = static_cast<Index>(centre.size());
    const double linear = 1 / (scales.linear[k] * scales.linear[k]);
    const double smooth =
        static_cast<double>(num_frequencies) / (scales.signal[k] * scales.signal[k]);
    out.prior = Vector::Constant(size, smooth);
    out.prior.head(1 + p).setConstant(linear);
    out.noise = scales.noise[k];
    const Eigen::Map<const Vector> target(y.row(k), n);
    Vector weights(n);
    for (Index a = 0; a < n; ++a) weights[a] = seen.at(k, static_cast<std::size_t>(a));
    for (int round = 0; round < 3; ++round) {
      Matrix precision = gram;
      for (Index a = 0; a < n; ++a)
        if (weights[a] != 1)
          precision.selfadjointView<Eigen::Lower>().rankUpdate(phi.row(a).transpose(),
                                                               weights[a] - 1);
      precision /= out.noise * out.noise;
      precision.diagonal() += out.prior;
      const Eigen::LLT<Matrix, Eigen::Lower> llt = factorised(precision);
      const Vector sums = phi.transpose() * weights.cwiseProduct(target) / (out.noise * out.noise);
      out.mean = llt.solve(sums);
      out.factor = llt.matrixL();
      const Vector errors = target - phi * out.mean;
      bool changed = false;
      for (Index a = 0; a < n; ++a) {
        if (seen.at(k, static_cast<std::size_t>(a)) == 0) continue;
        const double bound = kOutlier * out.noise, error = std::abs(errors[a]);
        const double weight = error <= bound ? 1 : bound * bound / (error * error);
        changed = changed || std::abs(weight - weights[a]) > 0.01;
        weights[a] = weight;
      }
      if (!changed) break;
    }
    leave_out(out, phi, gram, target, weights, data);
  }

  // Errors on episodes that were left out, in units of what was predicted: 95 % of them should be
  // below 1.96.
  static void leave_out(Output& out, const Matrix& phi, const Matrix& gram, const Vector& target,
                        const Vector& weights, const ResidualData& data) {
    const std::uint32_t last = data.episodes.back(), first = data.episodes.front();
    out.inflation = kUnproven;
    out.held_out = 1;
    if (last == first) return;
    const std::size_t folds = std::min<std::size_t>(kFolds, last - first + 1);
    std::vector<double> ratios;
    double squares = 0;
    for (std::size_t fold = 0; fold < folds; ++fold) {
      std::vector<Index> left_out;
      Matrix precision = gram;
      Vector kept = weights;
      for (Index a = 0; a < phi.rows(); ++a) {
        if ((data.episodes[static_cast<std::size_t>(a)] - first) % folds == fold) {
          left_out.push_back(a);
          kept[a] = 0;
        } else if (weights[a] != 1) {
          precision.selfadjointView<Eigen::Lower>().rankUpdate(phi.row(a).transpose(),
                                                               weights[a] - 1);
        }
      }
      const Matrix rows = phi(left_out, Eigen::all);
      precision -= rows.transpose() * rows;
      precision /= out.noise * out.noise;
      precision.diagonal() += out.prior;
      const Eigen::LLT<Matrix, Eigen::Lower> llt = factorised(precision);
      const Vector mean =
          llt.solve(phi.transpose() * kept.cwiseProduct(target) / (out.noise * out.noise));
      for (const Index a : left_out) {
        if (weights[a] == 0) continue;
        const Vector feature = phi.row(a).transpose();
        const double variance = llt.matrixL().solve(feature).squaredNorm() + out.noise * out.noise;
        const double error = target[a] - feature.dot(mean);
        squares += error * error;
        ratios.push_back(std::abs(error) / std::sqrt(variance));
      }
    }
    if (ratios.empty()) return;
    out.held_out = squares / static_cast<double>(ratios.size());
    const auto place = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() * 95 / 100);
    std::ranges::nth_element(ratios, place);
    out.inflation = std::clamp(*place / 1.96, 1.0, kLargestInflation);
  }

  // Weights of all outputs, in the units of the simulators, as the kernel reads them.
  ResidualSample weights_of(const std::vector<Vector>& of_outputs) const {
    ResidualSample out;
    if (outputs.empty()) return out;
    const auto size = static_cast<std::size_t>(of_outputs[0].size());
    out.weights.resize(size * outputs.size());
    for (std::size_t k = 0; k < outputs.size(); ++k)
      for (std::size_t j = 0; j < size; ++j)
        out.weights[j * outputs.size() + k] =
            of_outputs[k][static_cast<Index>(j)] * outputs[k].unit;
    return out;
  }

  static constexpr std::uint32_t kFrequencyPair = 5;

  Space states, actions;
  std::vector<std::uint8_t> is_angle;
  std::vector<double> centre, inverse_scale;  // of inputs
  std::vector<Output> outputs;
  ProcessScales scales;
  std::vector<double> frequencies;  // [frequency][input]
  std::size_t num_frequencies = 0;
  std::vector<double> all_inflations;
};

ResidualModel::ResidualModel(const ResidualData& data, const ResidualOptions& options,
                             std::uint64_t seed, const ResidualModel* before)
    : impl_(std::make_unique<Impl>(data, options, seed, before, nullptr)) {}
ResidualModel::ResidualModel(const ResidualData& data, const ResidualOptions& options,
                             std::uint64_t seed, const ProcessScales& known)
    : impl_(std::make_unique<Impl>(data, options, seed, nullptr, &known)) {}
ResidualModel::~ResidualModel() = default;

bool ResidualModel::is_empty() const { return impl_->outputs.empty(); }
const ProcessScales& ResidualModel::scales() const { return impl_->scales; }
std::span<const double> ResidualModel::inflation() const { return impl_->all_inflations; }

double ResidualModel::held_out_error() const {
  constexpr double kLeast = 1e-30;  // of coordinates without a residual
  double sum = static_cast<double>(impl_->states.dimension()) * portable_log(kLeast);
  for (const auto& output : impl_->outputs)
    if (output.number < impl_->states.dimension())
      sum += portable_log(std::max(output.held_out * output.unit * output.unit, kLeast) / kLeast);
  return sum;
}

ResidualSample ResidualModel::mean() const {
  std::vector<Vector> means;
  for (const auto& output : impl_->outputs) means.push_back(output.mean);
  return impl_->weights_of(means);
}

ResidualSample ResidualModel::sample(const Stream& stream) const {
  std::vector<Vector> drawn;
  if (is_empty()) return {};
  const auto size = static_cast<std::size_t>(impl_->outputs[0].mean.size());
  std::vector<double> normal(size * impl_->outputs.size());
  fill_normal(stream, normal);
  for (std::size_t k = 0; k < impl_->outputs.size(); ++k) {
    const auto& output = impl_->outputs[k];
    const Eigen::Map<const Vector> z(normal.data() + k * size, static_cast<Index>(size));
    drawn.push_back(output.mean +
                    output.inflation *
                        output.factor.transpose().triangularView<Eigen::Upper>().solve(z));
  }
  return impl_->weights_of(drawn);
}

void ResidualModel::correct(const ResidualSample& sample, const Columns& states,
                            const Columns& actions, Columns& next,
                            std::span<double> rewards) const {
  if (is_empty()) return;
  const std::size_t d = impl_->outputs.size();
  thread_local Columns sums;
  if (sums.rows() != d || sums.padded() != states.padded()) sums.resize(d, states.padded());
  weigh_features(simd_path(), {.states = states.row(0),
                               .actions = actions.row(0),
                               .num_states = states.rows(),
                               .num_actions = actions.rows(),
                               .is_angle = impl_->is_angle.data(),
                               .centre = impl_->centre.data(),
                               .inverse_scale = impl_->inverse_scale.data(),
                               .num_inputs = impl_->centre.size(),
                               .is_discrete = impl_->actions.is_discrete(),
                               .num_choices = impl_->actions.size(),
                               .frequencies = impl_->frequencies.data(),
                               .num_frequencies = impl_->num_frequencies,
                               .weights = sample.weights.data(),
                               .num_outputs = d,
                               .out = sums.row(0),
                               .stride = states.padded(),
                               .padded = states.padded()});
  for (std::size_t k = 0; k < d; ++k) {
    const std::size_t number = impl_->outputs[k].number;
    double* to = number < next.rows() ? next.row(number) : rewards.data();
    const double* add = sums.row(k);
    for (std::size_t i = 0; i < states.padded(); ++i) to[i] += add[i];
  }
}

ResidualModel::Prediction ResidualModel::predict(std::span<const double> state,
                                                 std::span<const double> action) const {
  std::vector<std::size_t> angles;
  for (std::size_t d = 0; d < impl_->is_angle.size(); ++d)
    if (impl_->is_angle[d] != 0) angles.push_back(d);
  ResidualData one(impl_->states, impl_->actions, std::move(angles));
  one.add(0, state, action, state, 0, state, 0);
  return predict_inputs(one.inputs);
}

ResidualModel::Prediction ResidualModel::predict_inputs(std::span<const double> inputs) const {
  const std::size_t count = impl_->states.dimension() + 1;
  Prediction out{.mean = std::vector<double>(count, 0.0),
                 .deviation = std::vector<double>(count, 0.0)};
  if (is_empty()) return out;
  Columns z(inputs.size(), 1);
  for (std::size_t i = 0; i < z.rows(); ++i)
    z.at(i, 0) = (inputs[i] - impl_->centre[i]) * impl_->inverse_scale[i];
  const Vector feature = impl_->features_of(z).row(0).transpose();
  for (const auto& output : impl_->outputs) {
    const double epistemic =
        output.factor.triangularView<Eigen::Lower>().solve(feature).squaredNorm();
    out.mean[output.number] = output.unit * feature.dot(output.mean);
    out.deviation[output.number] =
        output.unit * output.inflation * std::sqrt(epistemic + output.noise * output.noise);
  }
  return out;
}

}  // namespace hilo
