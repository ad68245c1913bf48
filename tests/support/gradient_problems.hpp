#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "hilo/agent/policy_gradient.hpp"
#include "hilo/env/inverse_cdf.hpp"
#include "hilo/exact/evaluate.hpp"
#include "support/problems.hpp"
#include "support/steps_of.hpp"

// Problems on which the gradient of a policy's value is known, with cheap simulators of many kinds.
namespace hilo::testing {

// x' = A x + B u + noise, reward -(x'Qx + u^2/10) for a fixed number of steps: two coordinates, one
// action. The box of actions is so large that tanh is a straight line in its middle, so that a
// network without layers is a linear policy.
struct LinearQuadratic {
  using State = std::array<double, 2>;
  static constexpr double kBox = 1e6;
  static constexpr double kSpread = 0.5;  // of actions

  double pull = 0.8, noise = 0.1, reward_factor = 1, reward_noise = 0;

  Space observation_space() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return Space::box({-kInfinity, -kInfinity}, {kInfinity, kInfinity});
  }
  Space action_space() const { return Space::box({-kBox}, {kBox}); }
  State reset(Rng& rng) const { return {rng.normal(), 0.5 + rng.normal()}; }
  VectorStep<State> step(const State& x, const Point& action, Rng& rng) const {
    const double u = action.coordinates()[0];
    const double z0 = rng.normal(), z1 = rng.normal(), z2 = rng.normal();
    const double reward = -(x[0] * x[0] + 0.5 * x[1] * x[1] + 0.1 * u * u);
    const State next = {x[0] + 0.3 * x[1] + noise * z0, pull * x[1] + 0.3 * u + noise * z1};
    return {next, reward_factor * reward + reward_noise * z2, false};
  }
  State observe(const State& x) const { return x; }
  static State state_at(std::span<const double> x) { return {x[0], x[1]}; }

  // The value of u = f0 x0 + f1 x1 + f2 + spread * z, by second moments of (x0, x1, 1).
  double value_of(const std::array<double, 3>& f, double gamma, std::uint32_t steps) const {
    using Matrix = std::array<std::array<double, 3>, 3>;
    const Matrix a = {{{1, 0.3, 0}, {0.3 * f[0], pull + 0.3 * f[1], 0.3 * f[2]}, {0, 0, 1}}};
    Matrix m = {{{1, 0, 0}, {0, 1.25, 0.5}, {0, 0.5, 1}}};
    double sum = 0, discount = 1;
    for (std::uint32_t t = 0; t < steps; ++t, discount *= gamma) {
      double square = kSpread * kSpread;  // E u^2
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) square += f[i] * f[j] * m[i][j];
      sum -= discount * (m[0][0] + 0.5 * m[1][1] + 0.1 * square);
      Matrix next = {};
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          for (int k = 0; k < 3; ++k)
            for (int l = 0; l < 3; ++l) next[i][j] += a[i][k] * m[k][l] * a[j][l];
      next[0][0] += noise * noise;
      next[1][1] += noise * noise + 0.09 * kSpread * kSpread;
      m = next;
    }
    return reward_factor * sum;
  }
};

// A table whose states are seen as corners of a cube: (1, 0, 0, ...), (0, 1, 0, ...).
struct CornerTable {
  using State = std::vector<double>;
  std::shared_ptr<const TabularMdp> table;
  double reward_factor = 1;

  Space observation_space() const {
    return Space::box(std::vector<double>(table->num_states(), 0.0),
                      std::vector<double>(table->num_states(), 1.0));
  }
  Space action_space() const { return Space::discrete(table->num_actions()); }
  State corner(hilo::State s) const {
    State out(table->num_states(), 0.0);
    out[s] = 1;
    return out;
  }
  State reset(Rng& rng) const { return corner(InverseCdfSampler(table).reset(rng)); }
  VectorStep<State> step(const State& at, const Point& action, Rng& rng) const {
    const auto s = static_cast<hilo::State>(std::ranges::find(at, 1.0) - at.begin());
    const Step step = InverseCdfSampler(table).step(s, static_cast<Action>(action.index()), rng);
    return {corner(step.next), reward_factor * step.reward, step.done};
  }
  State observe(const State& at) const { return at; }
  static State state_at(std::span<const double> at) { return {at.begin(), at.end()}; }
};

// The value of a linear network with actions drawn by softmax, by dynamic programming.
inline double softmax_value(const TabularMdp& table, const NetworkShape& shape,
                            const std::vector<double>& weights, double gamma) {
  const std::size_t n = table.num_states(), k = table.num_actions();
  PolicyMatrix policy{.num_states = n, .num_actions = k, .probability = {}};
  for (std::size_t s = 0; s < n; ++s) {
    std::vector<double> row(k);
    double sum = 0;
    for (std::size_t u = 0; u < k; ++u) {
      double z = weights[u * (n + 1) + n];
      for (std::size_t d = 0; d < n; ++d)
        z += weights[u * (n + 1) + d] * ((d == s ? 1 : 0) - shape.centre[d]) / shape.scale[d];
      sum += row[u] = std::exp(z);
    }
    for (const double p : row) policy.probability.push_back(p / sum);
  }
  return start_value(table, evaluate_policy(table, policy, gamma).v);
}

// By central differences.
template <class F>
std::vector<double> derivatives(const F& value, std::vector<double> at, double step) {
  std::vector<double> out;
  for (double& x : at) {
    const double middle = x;
    x = middle + step;
    const double up = value(at);
    x = middle - step;
    out.push_back((up - value(at)) / (2 * step));
    x = middle;
  }
  return out;
}

// Sums of batches of a policy gradient at fixed weights.
struct GradientSums {
  std::vector<double> sum, squares;   // of the controlled gradient, coordinate by coordinate
  double trace = 0, plain_trace = 0;  // sums of squared distances from the truth
  double trace_squares = 0, plain_trace_squares = 0, trace_product = 0;
  GradientMoments::State moments;     // sums of what the agent knew at each batch
  std::uint64_t used = 0, count = 0;  // batches with a coefficient; batches

  void add(const PolicyGradient& agent, const std::vector<double>& truth) {
    const auto g = agent.last_gradient(), plain = agent.last_plain_gradient();
    sum.resize(g.size());
    squares.resize(g.size());
    double error = 0, plain_error = 0;
    for (std::size_t k = 0; k < g.size(); ++k) {
      sum[k] += g[k] - truth[k];
      squares[k] += (g[k] - truth[k]) * (g[k] - truth[k]);
      error += (g[k] - truth[k]) * (g[k] - truth[k]);
      plain_error += (plain[k] - truth[k]) * (plain[k] - truth[k]);
    }
    trace += error;
    plain_trace += plain_error;
    trace_squares += error * error;
    plain_trace_squares += plain_error * plain_error;
    trace_product += error * plain_error;
    moments.cross += agent.moments().cross;
    moments.high += agent.moments().high;
    moments.low += agent.moments().low;
    used += agent.last_coefficient() != 0 ? 1 : 0;
    ++count;
  }
  void add(const GradientSums& other) {
    sum.resize(other.sum.size());
    squares.resize(other.sum.size());
    for (std::size_t k = 0; k < sum.size(); ++k) {
      sum[k] += other.sum[k];
      squares[k] += other.squares[k];
    }
    trace += other.trace;
    plain_trace += other.plain_trace;
    trace_squares += other.trace_squares;
    plain_trace_squares += other.plain_trace_squares;
    trace_product += other.trace_product;
    moments.cross += other.moments.cross;
    moments.high += other.moments.high;
    moments.low += other.moments.low;
    used += other.used;
    count += other.count;
  }

  // The largest bias of a coordinate, in its standard errors.
  double worst_z() const {
    const auto n = static_cast<double>(count);
    double worst = 0;
    for (std::size_t k = 0; k < sum.size(); ++k) {
      const double mean = sum[k] / n;
      const double error = std::sqrt((squares[k] / n - mean * mean) / n);
      worst = std::max(worst, std::abs(mean) / std::max(error, 1e-12));
    }
    return worst;
  }
  // Squared error relative to that of the plain gradient of the same expensive episodes, and its
  // standard error.
  double ratio() const { return trace / plain_trace; }
  double ratio_error() const {
    return std::sqrt(trace_squares - 2 * ratio() * trace_product +
                     ratio() * ratio() * plain_trace_squares) /
           plain_trace;
  }
  double rho_squared() const {
    return moments.low > 0 ? moments.cross * moments.cross / moments.high / moments.low : 0;
  }
};

}  // namespace hilo::testing
