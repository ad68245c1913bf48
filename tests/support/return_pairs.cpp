#include "support/return_pairs.hpp"

#include <cmath>

namespace hilo::testing {
namespace {

using Returns = ReturnPair::Returns;

double normal(std::mt19937_64& g) {
  thread_local std::normal_distribution<> distribution;
  return distribution(g);
}

double uniform(std::mt19937_64& g) { return std::uniform_real_distribution<>()(g); }
double exponential(std::mt19937_64& g) { return -std::log1p(-uniform(g)); }

// Student's distribution with five degrees of freedom: variance 5/3.
double heavy(std::mt19937_64& g) {
  double sum = 0;
  for (int i = 0; i < 5; ++i) sum += std::pow(normal(g), 2);
  return normal(g) / std::sqrt(sum / 5);
}

// Correlation rho with the first cheap simulator; the others see it with more and more noise.
ReturnPair correlated(double rho) {
  return {.name = "normal, correlation " + std::to_string(rho).substr(0, 5),
          .draw = [rho](std::mt19937_64& g, Returns& r) {
            const double z = normal(g);
            r[0] = rho * z + std::sqrt(std::max(0.0, 1 - rho * rho)) * normal(g);
            for (std::size_t l = 1; l < r.size(); ++l)
              r[l] = z + static_cast<double>(l - 1) * normal(g);
          }};
}

void each(Returns& r, const auto& value) {
  for (std::size_t l = 1; l < r.size(); ++l) r[l] = value();
}

}  // namespace

std::vector<ReturnPair> return_pairs() {
  std::vector<ReturnPair> out;
  for (const double rho : {1.0, 0.999, 0.99, 0.95, 0.9, 0.8, 0.6, 0.3, 0.0, -0.9})
    out.push_back(correlated(rho));
  const auto add = [&](std::string name, double mean, double variance, double skewness, auto draw) {
    out.push_back({std::move(name), mean, variance, skewness, draw});
  };
  using G = std::mt19937_64;
  add("constant cheap one", 0, 1, 0, [](G& g, Returns& r) {
    r[0] = normal(g);
    each(r, [] { return 3.0; });
  });
  add("other scale and offset, reversed", 0, 1, 0, [](G& g, Returns& r) {
    const double z = normal(g);
    r[0] = z;
    each(r, [&] { return 1e6 - 1e4 * (z + 0.2 * normal(g)); });
  });
  add("sign changes from episode to episode", 0, 1, 0, [](G& g, Returns& r) {
    const double z = normal(g);
    r[0] = z;
    each(r, [&] { return uniform(g) < 0.5 ? z : -z; });
  });
  add("a square, uncorrelated", 0, 1, 0, [](G& g, Returns& r) {
    const double z = normal(g);
    r[0] = z;
    each(r, [&] { return z * z; });
  });
  add("saturated", 0.5, 0.25, 0, [](G& g, Returns& r) {
    const double z = normal(g);
    r[0] = z > 0 ? 1 : 0;
    each(r, [&] { return z + 0.2 * normal(g); });
  });
  add("exponential, noisy copy", 1, 1, 2, [](G& g, Returns& r) {
    const double x = exponential(g);
    r[0] = x;
    each(r, [&] { return x + 0.5 * normal(g); });
  });
  add("exponential, unrelated", 1, 1, 2, [](G& g, Returns& r) {
    r[0] = exponential(g);
    each(r, [&] { return exponential(g); });
  });
  // e^z has the mean sqrt(e), the variance e (e - 1) and the skewness 6.18.
  add("lognormal, noisy copy", std::exp(0.5), std::exp(1.0) * (std::exp(1.0) - 1), 6.18,
      [](G& g, Returns& r) {
        const double z = normal(g);
        r[0] = std::exp(z);
        each(r, [&] { return std::exp(z + 0.3 * normal(g)); });
      });
  add("rare failures of both, nearly the same", 0.95, 0.0475, -4.13, [](G& g, Returns& r) {
    const double u = uniform(g);
    r[0] = u < 0.05 ? 0 : 1;
    each(r, [&] { return u < 0.07 ? 0.0 : 1.0; });
  });
  add("rare failures, unrelated", 0.95, 0.0475, -4.13, [](G& g, Returns& r) {
    r[0] = uniform(g) < 0.05 ? 0 : 1;
    each(r, [&] { return uniform(g) < 0.05 ? 0.0 : 1.0; });
  });
  add("good, with rare large errors of the cheap one", 0, 1, 0, [](G& g, Returns& r) {
    const double z = normal(g);
    r[0] = z;
    each(r, [&] { return z + (uniform(g) < 0.03 ? 30 * normal(g) : 0); });
  });
  add("good, with rare large errors of the expensive one", 0, 4, 0, [](G& g, Returns& r) {
    const double z = normal(g);
    r[0] = z + (uniform(g) < 0.03 ? 10 * normal(g) : 0);
    each(r, [&] { return z; });
  });
  add("heavy tails, related", 0, 5.0 / 3 * 1.25, 0, [](G& g, Returns& r) {
    const double t = heavy(g);
    r[0] = t + 0.5 * heavy(g);
    each(r, [&] { return t + 0.5 * heavy(g); });
  });
  add("a sum of what the cheap ones see", 0, 1.01, 0, [](G& g, Returns& r) {
    each(r, [&] { return normal(g); });
    r[0] = 0.1 * normal(g) + 0.8 * r[1] + 0.6 * r[2];
  });
  return out;
}

std::vector<ReturnPair> other_return_pairs() {
  std::vector<ReturnPair> out;
  const auto add = [&](std::string name, double mean, double variance, double skewness, auto draw) {
    out.push_back({std::move(name), mean, variance, skewness, draw});
  };
  using G = std::mt19937_64;
  add("two modes, the cheap one mistakes a fifth of them", 0, 1.04, 0, [](G& g, Returns& r) {
    const double mode = uniform(g) < 0.5 ? -1 : 1;
    r[0] = mode + 0.2 * normal(g);
    each(r, [&] { return uniform(g) < 0.2 ? -mode : mode; });
  });
  add("counts, thinned", 10, 10, 0.32, [](G& g, Returns& r) {
    const int count = std::poisson_distribution<>(10)(g);
    r[0] = count;
    each(r, [&] { return static_cast<double>(std::binomial_distribution<>(count, 0.7)(g)); });
  });
  add("cut at a limit that the cheap one does not have", 1 - std::exp(-1.0),
      1 - 2 / std::exp(1.0) - std::exp(-2.0), -0.4, [](G& g, Returns& r) {
        const double x = exponential(g);
        r[0] = std::min(x, 1.0);
        each(r, [&] { return x; });
      });
  add("the cheap one is cut at a limit", 1, 1, 2, [](G& g, Returns& r) {
    const double x = exponential(g);
    r[0] = x;
    each(r, [&] { return std::min(x, 1.0); });
  });
  add("quarter of a turn apart", 0, 0.5, 0, [](G& g, Returns& r) {
    const double angle = 6.283185307179586 * uniform(g);
    r[0] = std::sin(angle);
    each(r, [&] { return std::sin(angle + 0.8) + 0.1 * normal(g); });
  });
  add("agrees in one episode of two", 0, 1, 0, [](G& g, Returns& r) {
    const double z = normal(g);
    r[0] = z;
    each(r, [&] { return uniform(g) < 0.5 ? z : normal(g); });
  });
  add("the cheap one never fails", 0.9, 0.09 + 0.01, -2.4, [](G& g, Returns& r) {
    const bool fails = uniform(g) < 0.1;
    const double z = 0.1 * normal(g);
    r[0] = (fails ? 0 : 1) + z;
    each(r, [&] { return 1 + z; });
  });
  add("fails one time in a hundred, the cheap one in fifty", 0.99, 0.0099, -9.85,
      [](G& g, Returns& r) {
        const double u = uniform(g);
        r[0] = u < 0.01 ? 0 : 1;
        each(r, [&] { return u < 0.02 ? 0.0 : 1.0; });
      });
  add("noise that grows with the return", 1, 1.25, 2.2, [](G& g, Returns& r) {
    const double x = exponential(g);
    r[0] = x * (1 + 0.35355339059327373 * normal(g));
    each(r, [&] { return x; });
  });
  return out;
}

}  // namespace hilo::testing
