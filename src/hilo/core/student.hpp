#pragma once

namespace hilo {

// Student's t distribution with a positive real number of degrees of freedom.

// P(T <= t), to about 1e-13.
double student_t_cdf(double t, double degrees_of_freedom);

// The t with P(T <= t) = p, 0 < p < 1; relative error below 1e-9. Infinitely many degrees of
// freedom give the normal quantile.
double student_t_quantile(double p, double degrees_of_freedom);

}  // namespace hilo
