#pragma once

namespace hilo {

// libm's log, exp and pow differ in the last bit between CPU types, but a problem must be the same
// on all of them. These functions use only + - * / sqrt and exact scaling.

// Natural logarithm of a positive normal number; relative error below 1e-15 away from 1.
double portable_log(double x);

// e^x for |x| up to 700; relative error below 1e-15 times max(1, |x|).
double portable_exp(double x);

// Sine and cosine with an absolute error below 2e-16 for |x| up to 2^20; beyond that, those of
// 2^20. bulk_math.hpp has them for many numbers at once.
double portable_sin(double x);
double portable_cos(double x);

// Relative error below 1e-15.
double portable_tanh(double x);

// Inverse of the standard normal distribution function on (0, 1): Wichura's rational
// approximations PPND16 (Applied Statistics 37, 1988, AS 241), about 1e-15.
double normal_quantile(double u);

// The hazard rate of the standard normal distribution, its density at z divided by the probability
// of more than z; relative error below 1e-13 for z down to -30, where it vanishes.
double normal_hazard(double z);

}  // namespace hilo
