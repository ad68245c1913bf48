// hilo_cma_run: evaluations that hilo's CMA-ES needs to reach a target, from 50 starts for each of
// three functions in 10 and 20 dimensions. cma_peer.py gives the same starts to PyPI's cma.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>

#include "hilo/core/cma.hpp"

namespace hilo::bench {
namespace {

constexpr double kTarget = 1e-8, kSigma = 0.5;
constexpr std::uint64_t kMostEvaluations = 100'000;
constexpr std::uint32_t kStarts = 50;

double sphere(std::span<const double> x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return sum;
}

double ellipsoid(std::span<const double> x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += std::pow(1e6, static_cast<double>(i) / static_cast<double>(x.size() - 1)) * x[i] * x[i];
  return sum;
}

double rosenbrock(std::span<const double> x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i)
    sum += 100 * std::pow(x[i] * x[i] - x[i + 1], 2) + std::pow(x[i] - 1, 2);
  return sum;
}

using Function = double (*)(std::span<const double>);

// Whole generations count. 0: the target was not reached, as from starts that lead to the local
// optimum of Rosenbrock's function.
std::uint64_t evaluations_of(Function f, std::span<const double> start, std::uint64_t seed,
                             std::size_t& population) {
  Cma cma(start, {.sigma = kSigma}, seed, 0, 0);
  population = cma.population();
  std::vector<double> values(population), point(start.size());
  for (std::uint64_t done = 0; done < kMostEvaluations;) {
    const Columns& candidates = cma.ask();
    for (std::size_t i = 0; i < population; ++i) {
      candidates.get(i, point);
      values[i] = f(point);
    }
    cma.tell(values);
    done += population;
    if (cma.best_value() <= kTarget) return done;
  }
  return 0;
}

// One line of JSON for each search.
void run(const std::string& name, Function f, std::size_t dimension) {
  for (std::uint32_t i = 0; i < kStarts; ++i) {
    Rng rng(Stream(1, Purpose::user, i));
    std::vector<double> start(dimension);
    for (double& x : start) x = 4 * rng.uniform() - 2;
    std::size_t population = 0;
    const std::uint64_t evaluations = evaluations_of(f, start, i, population);
    fmt::print(
        "{{\"function\": \"{}\", \"sigma\": {}, \"population\": {}, \"target\": {}, \"most\": {}, "
        "\"evaluations\": {}, \"start\": [{}]}}\n",
        name, kSigma, population, kTarget, kMostEvaluations, evaluations, fmt::join(start, ", "));
  }
}

}  // namespace
}  // namespace hilo::bench

int main() {
  try {
    for (const std::size_t dimension : {10U, 20U}) {
      hilo::bench::run("sphere", hilo::bench::sphere, dimension);
      hilo::bench::run("ellipsoid", hilo::bench::ellipsoid, dimension);
      hilo::bench::run("rosenbrock", hilo::bench::rosenbrock, dimension);
    }
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "hilo_cma_run: {}\n", e.what());
    return 1;
  }
}
