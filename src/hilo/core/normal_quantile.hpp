#pragma once

#include <array>

#include "hilo/core/portable_math.hpp"

namespace hilo {

using NormalPolynomial = std::array<double, 8>;  // coefficients, constant term first

// The centre of AS 241, |u - 1/2| <= 0.425, for loops over many numbers:
//   z = q top(r) / bottom(r),   q = u - 1/2,   r = 0.425^2 - q^2.
inline constexpr double kNormalCentre = 0.425;
inline constexpr double kNormalCentreSquare = 0.180625;
inline constexpr NormalPolynomial kNormalCentreTop = {
    3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
    1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
    3.3430575583588128105e4, 2.5090809287301226727e3};
inline constexpr NormalPolynomial kNormalCentreBottom = {1.0,
                                                         4.2313330701600911252e1,
                                                         6.8718700749205790830e2,
                                                         5.3941960214247511077e3,
                                                         2.1213794301586595867e4,
                                                         3.9307895800092710610e4,
                                                         2.8729085735721942674e4,
                                                         5.2264952788528545610e3};

}  // namespace hilo
