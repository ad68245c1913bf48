#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hilo {

// How a signed row that sums to one becomes a probability distribution (docs/departures.md).
enum class Projection {
  simplex,    // the nearest distribution in the Euclidean sense
  bisection,  // what a binary search in the cumulative sums of the signed row would draw
  clip,       // negative entries to zero, then scaled
};

// The names used in specs: "simplex", "bisection", "clip".
Projection projection_from_name(std::string_view name);
std::string_view name_of(Projection projection);

// Projects a signed row as it is done for the random MDP's low fidelity, for users who make noisy
// low fidelities of their own. The row must be finite and sum to one, within 1e-9 times the sum of
// its absolute values.
std::vector<double> projected(Projection projection, std::span<const double> row);

// The same in place, for rows that were just divided by their sum. The sum itself is not checked,
// but the function throws if the projected row is not finite.
void project(Projection projection, std::span<double> row);

void project_onto_simplex(std::span<double> row);
void project_by_bisection(std::span<double> row);
void project_by_clipping(std::span<double> row);

// The search that `bisection` describes: the index at which u in [0, 1) ends, given the cumulative
// sums of the signed row.
std::size_t bisect(std::span<const double> cumulative, double u);

}  // namespace hilo
