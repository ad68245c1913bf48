// Functions of a Number with + - * / sqrt and exact steps alone, so that their bits depend neither
// on the CPU nor on how many numbers are computed at once. Included inside of a namespace that has
// a Number (plain_number.hpp, number-inl.hpp).

struct SineCosine {
  Number sine, cosine;
};

// For |x| up to 2^20, with an absolute error below 2e-16; beyond that the sine and cosine of 2^20,
// so that a simulation that diverges stays in bounds.
HILO_NUMBER_INLINE SineCosine sine_cosine(Number x) {
  const Number largest = 0x1p20;
  x = least(greatest(x, -largest), largest);
  // x = k pi/2 + r. The first two parts of pi/2 have 33 bits, so that their products with k are
  // exact.
  const Number k = round_to_even(x * Number(0x1.45f306dc9c883p-1));
  const Number r = ((x - k * Number(0x1.921fb54400000p+0)) - k * Number(0x1.0b4611a600000p-34)) -
                   k * Number(0x1.3198a2e037073p-69);
  // Taylor series for |r| <= pi/4: the first terms left out are below 1e-18.
  const Number r2 = r * r;
  Number s = 1 / 355687428096000.0;
  s = s * r2 - Number(1 / 1307674368000.0);
  s = s * r2 + Number(1 / 6227020800.0);
  s = s * r2 - Number(1 / 39916800.0);
  s = s * r2 + Number(1 / 362880.0);
  s = s * r2 - Number(1 / 5040.0);
  s = s * r2 + Number(1 / 120.0);
  s = s * r2 - Number(1 / 6.0);
  s = r + r * r2 * s;
  Number c = 1 / 20922789888000.0;
  c = c * r2 - Number(1 / 87178291200.0);
  c = c * r2 + Number(1 / 479001600.0);
  c = c * r2 - Number(1 / 3628800.0);
  c = c * r2 + Number(1 / 40320.0);
  c = c * r2 - Number(1 / 720.0);
  c = c * r2 + Number(1 / 24.0);
  c = Number(1.0) - (r2 * Number(0.5) - r2 * r2 * c);
  // The quadrant, k mod 4.
  const Number half = k * Number(0.5);
  const Number whole = round_down(half);
  const Truth odd = differs(half, whole);
  const Number quarter = whole * Number(0.5);
  const Truth upper = differs(quarter, round_down(quarter));
  const Number sine = select(odd, c, s), cosine = select(odd, s, c);
  return {select(upper, -sine, sine), select(exclusive_or(odd, upper), -cosine, cosine)};
}

// The same with an absolute error below 1e-11, in half the time: for features, whose weights are
// not known any better.
HILO_NUMBER_INLINE SineCosine quick_sine_cosine(Number x) {
  const Number largest = 0x1p20;
  x = least(greatest(x, -largest), largest);
  // x = k pi + r, |r| <= pi/2. The first part of pi has 33 bits, so that its product is exact.
  const Number k = round_to_even(x * Number(0x1.45f306dc9c883p-2));
  const Number r = (x - k * Number(0x1.921fb54400000p+1)) - k * Number(0x1.0b4611a626331p-33);
  // Taylor series, even and odd terms apart, so that processors can work on both at a time.
  const Number r2 = r * r, r4 = r2 * r2;
  const Number s_even =
      Number(-1 / 6.0) +
      r4 * (Number(-1 / 5040.0) + r4 * (Number(-1 / 39916800.0) + r4 * (-1 / 1307674368000.0)));
  const Number s_odd =
      Number(1 / 120.0) + r4 * (Number(1 / 362880.0) + r4 * Number(1 / 6227020800.0));
  const Number c_even =
      Number(-0.5) +
      r4 * (Number(-1 / 720.0) + r4 * (Number(-1 / 3628800.0) + r4 * (-1 / 87178291200.0)));
  const Number c_odd =
      Number(1 / 24.0) +
      r4 * (Number(1 / 40320.0) + r4 * (Number(1 / 479001600.0) + r4 * (1 / 20922789888000.0)));
  const Number sine = r + r * r2 * (s_even + r2 * s_odd);
  const Number cosine = Number(1.0) + r2 * (c_even + r2 * c_odd);
  // Odd multiples of pi turn both signs.
  const Number half = k * Number(0.5);
  const Truth odd = differs(half, round_down(half));
  return {select(odd, -sine, sine), select(odd, -cosine, cosine)};
}

struct ExponentialParts {
  Number scale, rest;  // e^x = scale (1 + rest)
};

// For |x| up to 700.
HILO_NUMBER_INLINE ExponentialParts exponential_parts(Number x) {
  // x = k log 2 + r, |r| <= log(2)/2; the product of k and the first part of log 2 is exact.
  const Number k = round_to_even(x * Number(0x1.71547652b82fep+0));
  const Number r = (x - k * Number(0x1.62e42fee00000p-1)) - k * Number(0x1.a39ef35793c76p-33);
  Number p = 1 / 87178291200.0;
  p = p * r + Number(1 / 6227020800.0);
  p = p * r + Number(1 / 479001600.0);
  p = p * r + Number(1 / 39916800.0);
  p = p * r + Number(1 / 3628800.0);
  p = p * r + Number(1 / 362880.0);
  p = p * r + Number(1 / 40320.0);
  p = p * r + Number(1 / 5040.0);
  p = p * r + Number(1 / 720.0);
  p = p * r + Number(1 / 120.0);
  p = p * r + Number(1 / 24.0);
  p = p * r + Number(1 / 6.0);
  p = p * r + Number(0.5);
  return {power_of_two(k), r + r * r * p};
}

// e^x with a relative error below 4e-16 for |x| up to 700; x is taken for the nearest of these.
HILO_NUMBER_INLINE Number exponential(Number x) {
  const ExponentialParts parts =
      exponential_parts(least(greatest(x, Number(-700.0)), Number(700.0)));
  return parts.scale + parts.scale * parts.rest;
}

// With a relative error below 1e-15: (e^2x - 1) / (e^2x + 1), where e^2x - 1 loses no digits.
HILO_NUMBER_INLINE Number hyperbolic_tangent(Number x) {
  const Number a = least(magnitude(x), Number(20.0));  // from there on it is 1 to all digits
  const ExponentialParts parts = exponential_parts(a + a);
  const Number less_one = parts.scale * parts.rest + (parts.scale - Number(1.0));
  const Number t = less_one / (less_one + Number(2.0));
  return select(is_less(x, Number(0.0)), -t, t);
}
