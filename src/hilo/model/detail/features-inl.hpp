// Random Fourier features in terms of Number. Included inside of a namespace that has one
// (core/detail/plain_number.hpp, core/detail/number-inl.hpp).

// Returns the number of inputs.
HILO_NUMBER_INLINE std::size_t inputs_at(const FeatureArrays& f, std::size_t i, Number* z) {
  std::size_t k = 0;
  for (std::size_t d = 0; d < f.num_states; ++d) {
    const Number x = load(f.states + d * f.stride + i);
    if (f.is_angle[d] != 0) {
      const SineCosine both = sine_cosine(x);
      z[k++] = both.cosine;
      z[k++] = both.sine;
    } else {
      z[k++] = x;
    }
  }
  for (std::size_t d = 0; d < f.num_actions; ++d) {
    const Number a = load(f.actions + d * f.stride + i);
    if (!f.is_discrete) {
      z[k++] = a;
      continue;
    }
    for (; k < f.num_inputs; ++k) {
      const auto index = static_cast<double>(k - (f.num_inputs - f.num_choices));
      z[k] = select(differs(a, Number(index)), Number(0.0), Number(1.0));
    }
  }
  for (std::size_t j = 0; j < k; ++j)
    z[j] = (z[j] - Number(f.centre[j])) * Number(f.inverse_scale[j]);
  return k;
}

// Sums of `outputs` outputs, a constant where it matters, so that they stay in registers.
HILO_NUMBER_INLINE void sums_at(const FeatureArrays& f, std::size_t i, const Number* z,
                                std::size_t inputs, std::size_t first, std::size_t outputs) {
  Number sums[8];
  const double* w = f.weights + first;
  for (std::size_t d = 0; d < outputs; ++d) sums[d] = Number(w[d]);
  w += f.num_outputs;
  for (std::size_t k = 0; k < inputs; ++k, w += f.num_outputs)
    for (std::size_t d = 0; d < outputs; ++d) sums[d] = sums[d] + Number(w[d]) * z[k];
  const double* frequency = f.frequencies;
  for (std::size_t j = 0; j < f.num_frequencies; ++j, frequency += inputs) {
    Number phase = Number(frequency[0]) * z[0];
    for (std::size_t k = 1; k < inputs; ++k) phase = phase + Number(frequency[k]) * z[k];
    const SineCosine both = quick_sine_cosine(phase);
    for (std::size_t d = 0; d < outputs; ++d)
      sums[d] = sums[d] + (Number(w[d]) * both.cosine + Number(w[f.num_outputs + d]) * both.sine);
    w += 2 * f.num_outputs;
  }
  for (std::size_t d = 0; d < outputs; ++d) store(sums[d], f.out + (first + d) * f.stride + i);
}

inline void weigh_all(const FeatureArrays& f) {
  Number z[FeatureArrays::kMostInputs];
  for (std::size_t i = 0; i < f.padded; i += kLanes) {
    const std::size_t inputs = inputs_at(f, i, z);
    std::size_t first = 0;
    for (; first + 8 <= f.num_outputs; first += 8) sums_at(f, i, z, inputs, first, 8);
    switch (f.num_outputs - first) {  // constants
#define HILO_SUMS(n)                    \
  case n:                               \
    sums_at(f, i, z, inputs, first, n); \
    break;
      HILO_SUMS(1)
      HILO_SUMS(2)
      HILO_SUMS(3)
      HILO_SUMS(4)
      HILO_SUMS(5)
      HILO_SUMS(6)
      HILO_SUMS(7)
#undef HILO_SUMS
      default:
        break;
    }
  }
}
