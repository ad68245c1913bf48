// A network in terms of Number. Included inside of a namespace that has one
// (core/detail/plain_number.hpp, core/detail/number-inl.hpp).

// One weight for all lanes, or one for each.
HILO_NUMBER_INLINE Number weight_at(const NetworkArrays& n, std::size_t k, std::size_t i) {
  return n.is_shared ? Number(n.weights[k * n.weight_stride])
                     : load(n.weights + k * n.weight_stride + i);
}

// Returns the number of weights that were used.
HILO_NUMBER_INLINE std::size_t layer_of(const NetworkArrays& n, std::size_t first, std::size_t i,
                                        const Number* in, std::size_t inputs, Number* out,
                                        std::size_t units, bool is_squashed) {
  std::size_t k = first;
  for (std::size_t u = 0; u < units; ++u) {
    Number sum = weight_at(n, k, i) * in[0];
    for (std::size_t j = 1; j < inputs; ++j) sum = sum + weight_at(n, k + j, i) * in[j];
    sum = sum + weight_at(n, k + inputs, i);
    out[u] = is_squashed ? hyperbolic_tangent(sum) : sum;
    k += inputs + 1;
  }
  return k;
}

inline void network_pass(const NetworkArrays& n) {
  const NetworkShape& shape = *n.shape;
  Number a[NetworkShape::kMostUnits], b[NetworkShape::kMostUnits];
  for (std::size_t i = 0; i < n.padded; i += kLanes) {
    std::size_t inputs = 0;
    for (std::size_t d = 0; d < shape.observations.dimension(); ++d) {
      const Number x = load(n.observations + d * n.stride + i);
      if (n.is_angle[d] != 0) {
        const SineCosine both = sine_cosine(x);
        a[inputs++] = both.cosine;
        a[inputs++] = both.sine;
      } else {
        a[inputs++] = (x - Number(shape.centre[d])) * Number(n.inverse_scale[d]);
      }
    }
    std::size_t k = 0;
    for (const std::size_t units : shape.layers) {
      k = layer_of(n, k, i, a, inputs, b, units, true);
      for (std::size_t u = 0; u < units; ++u) a[u] = b[u];
      inputs = units;
    }
    const std::size_t outputs = n.outputs;
    if (!shape.actions.is_discrete()) {
      layer_of(n, k, i, a, inputs, b, outputs, true);
      for (std::size_t u = 0; u < outputs; ++u) {
        const double low = shape.actions.low()[u], high = shape.actions.high()[u];
        // Exactly within the box, whatever rounding does.
        const Number action = Number((low + high) / 2) + Number((high - low) / 2) * b[u];
        store(least(greatest(action, Number(low)), Number(high)), n.actions + u * n.stride + i);
      }
    } else {
      layer_of(n, k, i, a, inputs, b, outputs, false);
      if (n.gives_preferences) {
        for (std::size_t u = 0; u < outputs; ++u) store(b[u], n.actions + u * n.stride + i);
        continue;
      }
      Number best = 0.0, largest = b[0];
      for (std::size_t u = 1; u < outputs; ++u) {
        const Truth more = is_less(largest, b[u]);
        best = select(more, Number(static_cast<double>(u)), best);
        largest = select(more, b[u], largest);
      }
      store(best, n.actions + i);
    }
  }
}
