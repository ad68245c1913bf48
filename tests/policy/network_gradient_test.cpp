#include "hilo/policy/network_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

NetworkShape shape_with(Space actions, std::vector<std::size_t> layers) {
  return {.observations = Space::box({-3.2, -kInfinity, -1}, {3.2, kInfinity, 1}),
          .actions = std::move(actions),
          .angles = {0},
          .centre = {0, 1, 0},
          .scale = {1, 4, 0.5},
          .layers = std::move(layers)};
}

std::vector<NetworkShape> shapes() {
  std::vector<NetworkShape> out;
  for (const auto& layers : std::vector<std::vector<std::size_t>>{{}, {5}, {6, 4}}) {
    out.push_back(shape_with(Space::box({-2, 0}, {2, 10}), layers));
    out.push_back(shape_with(Space::discrete(3), layers));
  }
  return out;
}

std::vector<double> waves(std::size_t count, double pace) {
  std::vector<double> out(count);
  for (std::size_t k = 0; k < count; ++k) out[k] = std::sin(pace * static_cast<double>(k) + 1);
  return out;
}

Columns observations() {
  Columns out(3, 11);
  const std::vector<double> values = waves(33, 1.7);
  for (std::size_t k = 0; k < values.size(); ++k) out.at(k % 3, k / 3) = values[k];
  return out;
}

TEST(NetworkBatch, ItsActionsAreThoseOfThePolicy) {
  for (const NetworkShape& shape : shapes()) {
    const std::vector<double> weights = waves(shape.num_weights(), 3);
    const Columns seen = observations();
    const NetworkBatch batch(shape, weights, seen);
    Columns one(weights.size(), 1);
    one.fill(weights);
    Columns actions(shape.actions.is_discrete() ? 1 : 2, seen.count());
    network_actions(shape, one, seen, actions);
    for (std::size_t i = 0; i < seen.count(); ++i) {
      if (shape.actions.is_discrete()) {
        std::vector<double> preferences(3);
        batch.outputs().get(i, preferences);
        EXPECT_EQ(actions.at(0, i), std::ranges::max_element(preferences) - preferences.begin());
      } else {
        for (std::size_t u = 0; u < 2; ++u)
          EXPECT_NEAR(actions.at(u, i), batch.outputs().at(u, i), 1e-13);
      }
    }
  }
}

// By central differences, whose error is about the cube root of the rounding squared.
TEST(NetworkBatch, ItsGradientIsThatOfFiniteDifferences) {
  for (const NetworkShape& shape : shapes()) {
    const std::vector<double> weights = waves(shape.num_weights(), 3);
    const Columns seen = observations();
    Columns pull(shape.num_outputs(), seen.count());
    const std::vector<double> pulls = waves(pull.rows() * pull.count(), 0.3);
    for (std::size_t k = 0; k < pulls.size(); ++k)
      pull.at(k % pull.rows(), k / pull.rows()) = pulls[k];
    const auto value = [&](const std::vector<double>& w) {
      const NetworkBatch batch(shape, w, seen);
      double sum = 0;
      for (std::size_t u = 0; u < pull.rows(); ++u)
        for (std::size_t i = 0; i < pull.count(); ++i)
          sum += pull.at(u, i) * batch.outputs().at(u, i);
      return sum;
    };
    std::vector<double> gradient(weights.size(), 1.0);  // it is added to
    NetworkBatch(shape, weights, seen).add_gradient(pull, gradient);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      constexpr double kStep = 1e-5;
      std::vector<double> more = weights, less = weights;
      more[k] += kStep;
      less[k] -= kStep;
      EXPECT_NEAR(gradient[k] - 1, (value(more) - value(less)) / (2 * kStep), 1e-7) << k;
    }
  }
}

TEST(NetworkBatch, RefusesWhatDoesNotFit) {
  const NetworkShape shape = shapes()[2];
  const std::vector<double> weights = waves(shape.num_weights(), 3);
  EXPECT_THROW(NetworkBatch(shape, std::span(weights).first(3), observations()), Error);
  EXPECT_THROW(NetworkBatch(shape, weights, Columns(2, 4)), Error);
  const NetworkBatch batch(shape, weights, observations());
  std::vector<double> gradient(weights.size());
  EXPECT_THROW(batch.add_gradient(Columns(1, 11), gradient), Error);
  gradient.pop_back();
  EXPECT_THROW(batch.add_gradient(Columns(2, 11), gradient), Error);
}

}  // namespace
}  // namespace hilo
