#include "hilo/policy/network_policy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hilo/core/error.hpp"
#include "hilo/policy/network_file.hpp"

namespace hilo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

NetworkShape boxes(std::vector<std::size_t> layers) {
  return {.observations = Space::box({-3.2, -kInfinity, -1}, {3.2, kInfinity, 1}),
          .actions = Space::box({-2, 0}, {2, 10}),
          .angles = {0},
          .centre = {0, 1, 0},
          .scale = {1, 4, 0.5},
          .layers = std::move(layers)};
}

std::vector<double> weights_of(const NetworkShape& shape) {
  std::vector<double> out(shape.num_weights());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = std::sin(3.0 * static_cast<double>(k) + 1);
  return out;
}

// The same by hand, with libm.
std::vector<double> reference(const NetworkShape& shape, std::span<const double> weights,
                              std::span<const double> x) {
  std::vector<double> in;
  for (std::size_t d = 0; d < x.size(); ++d) {
    if (shape.is_angle(d)) {
      in.push_back(std::cos(x[d]));
      in.push_back(std::sin(x[d]));
    } else {
      in.push_back((x[d] - shape.centre[d]) / shape.scale[d]);
    }
  }
  std::size_t k = 0;
  const auto layer = [&](std::size_t units, bool squash) {
    std::vector<double> out;
    for (std::size_t u = 0; u < units; ++u) {
      double sum = 0;
      for (const double value : in) sum += weights[k++] * value;
      sum += weights[k++];
      out.push_back(squash ? std::tanh(sum) : sum);
    }
    in = out;
  };
  for (const std::size_t units : shape.layers) layer(units, true);
  layer(shape.num_outputs(), !shape.actions.is_discrete());
  if (shape.actions.is_discrete())
    return {static_cast<double>(std::ranges::max_element(in) - in.begin())};
  for (std::size_t d = 0; d < in.size(); ++d) {
    const double low = shape.actions.low()[d], high = shape.actions.high()[d];
    in[d] = (low + high) / 2 + (high - low) / 2 * in[d];
  }
  return in;
}

TEST(NetworkPolicy, ComputesWhatItSays) {
  for (const std::vector<std::size_t>& layers :
       {std::vector<std::size_t>{}, std::vector<std::size_t>{7}, std::vector<std::size_t>{4, 9}})
    for (const bool discrete : {false, true}) {
      NetworkShape shape = boxes(layers);
      if (discrete) shape.actions = Space::discrete(5);
      const std::vector<double> weights = weights_of(shape);
      const NetworkPolicy policy(shape, weights);
      EXPECT_FALSE(policy.is_random());
      Points seen(shape.observations), chosen(shape.actions);
      for (int i = 0; i < 11; ++i)
        seen.push_back(
            std::vector<double>{std::sin(i) * 3, 5.0 * std::cos(2 * i), std::sin(5 * i)});
      policy.act(seen, std::vector<ActionWords>(11), chosen);
      ASSERT_EQ(chosen.size(), 11U);
      for (std::size_t i = 0; i < 11; ++i) {
        const std::vector<double> expected = reference(shape, weights, seen[i].coordinates());
        if (discrete)
          EXPECT_EQ(static_cast<double>(chosen[i].index()), expected[0]);
        else
          for (std::size_t d = 0; d < 2; ++d)
            EXPECT_NEAR(chosen[i].coordinates()[d], expected[d], 1e-13);
      }
    }
}

TEST(NetworkPolicy, ManyNetworksAtOnceHaveTheBitsOfEachOnEveryPath) {
  const NetworkShape shape = boxes({6});
  Columns weights(shape.num_weights(), 13), seen(3, 13), all(2, 13), one(2, 13);
  for (std::size_t i = 0; i < 13; ++i) {
    for (std::size_t k = 0; k < weights.rows(); ++k)
      weights.at(k, i) = std::sin(static_cast<double>(k * 13 + i));
    seen.set(i, std::vector<double>{0.1 * static_cast<double>(i), -2, 0.5});
  }
  std::vector<std::vector<double>> first;
  for (const SimdPath path : simd_paths()) {
    network_actions(shape, weights, seen, all, path);
    for (std::size_t i = 0; i < 13; ++i) {
      std::vector<double> own(weights.rows()), action(2), alone(2);
      weights.get(i, own);
      Columns shared(own.size(), 1);
      shared.fill(own);
      network_actions(shape, shared, seen, one, path);
      all.get(i, action);
      one.get(i, alone);
      EXPECT_EQ(action, alone) << name_of(path);
      if (first.size() <= i) first.push_back(action);
      EXPECT_EQ(action, first[i]) << name_of(path);
    }
  }
}

TEST(NetworkPolicy, NoiseStaysInTheBoxAndIsAFunctionOfTheWords) {
  const NetworkShape shape = boxes({3});
  const NetworkPolicy policy(shape, weights_of(shape), 1.0);
  EXPECT_TRUE(policy.is_random());
  Points seen(shape.observations), a(shape.actions), b(shape.actions);
  std::vector<ActionWords> words;
  for (std::uint32_t i = 0; i < 500; ++i) {
    seen.push_back(std::vector<double>{0, 0, 0});
    words.push_back({.explore = i * 2654435761U, .action = i * 40503U});
  }
  policy.act(seen, words, a);
  policy.act(seen, words, b);
  double sum = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    EXPECT_TRUE(shape.actions.contains(a[i]));
    EXPECT_EQ(a[i].coordinates()[0], b[i].coordinates()[0]);
    sum += a[i].coordinates()[0] != a[0].coordinates()[0] ? 1 : 0;
  }
  EXPECT_GT(sum, 200);
}

TEST(NetworkFile, RoundTripsToTheLastBit) {
  for (const bool discrete : {false, true}) {
    NetworkShape shape = boxes({4, 3});
    if (discrete) shape.actions = Space::discrete(3);
    const std::vector<double> weights = weights_of(shape);
    const auto read = parse_network(network_json(shape, weights, "mine"), "here");
    EXPECT_TRUE(std::ranges::equal(read->weights(), weights));
    EXPECT_TRUE(read->shape().observations == shape.observations);
    EXPECT_TRUE(read->shape().actions == shape.actions);
    EXPECT_EQ(read->shape().layers, shape.layers);
    EXPECT_EQ(read->shape().angles, shape.angles);
    EXPECT_EQ(read->shape().scale, shape.scale);
  }
}

TEST(NetworkFile, BadFilesAreRefusedWithWhatIsWrong) {
  const NetworkShape shape = boxes({2});
  const std::string good = network_json(shape, weights_of(shape), "");
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_network(text, "file.json");
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::data);
      return e.what();
    }
    return "accepted";
  };
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string out = good;
    const std::size_t at = out.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return out.replace(at, from.size(), to);
  };
  EXPECT_NE(message("nonsense").find("file.json: is not a policy"), std::string::npos);
  EXPECT_NE(message(changed("\"hilo_policy\":1", "\"hilo_policy\":2")).find("version 1"),
            std::string::npos);
  EXPECT_NE(message(changed("\"network\"", "\"forest\"")).find("forest"), std::string::npos);
  EXPECT_NE(message(changed("\"angles\":[0]", "\"angles\":[7]")).find("angles"), std::string::npos);
  EXPECT_NE(message(changed("\"scale\":[1.0", "\"scale\":[0.0")).find("scale"), std::string::npos);
  EXPECT_NE(message(changed("\"scale\":[1.0,", "\"scale\":[")).find("scale"), std::string::npos);
  EXPECT_NE(message(changed("\"bias\":[", "\"bias\":[1e999,")).find("file.json"),
            std::string::npos);
  EXPECT_NE(message(changed("\"low\":[-3.2", "\"low\":[-3.2,0")).find("file.json"),
            std::string::npos);
}

TEST(NetworkPolicy, BadShapesAreRefused) {
  const auto refused = [](const NetworkShape& shape) {
    EXPECT_THROW(NetworkPolicy(shape, std::vector<double>(shape.num_weights(), 0.0)), Error);
  };
  NetworkShape shape = boxes({3});
  shape.actions = Space::box({-1}, {kInfinity});
  refused(shape);
  shape = boxes({3});
  shape.observations = Space::discrete(4);
  refused(shape);
  shape = boxes({3, 3, 3});
  refused(shape);
  shape = boxes({300});
  refused(shape);
  EXPECT_THROW(NetworkPolicy(boxes({3}), {1, 2, 3}), Error);
}

}  // namespace
}  // namespace hilo
