// The equations of motion, in terms of Number. Included inside of a namespace that has one
// (core/detail/plain_number.hpp, core/detail/number-inl.hpp).

// Positions and velocities of a system with one or two degrees of freedom.
struct Motion {
  Number q[2], v[2];
};
struct Accelerations {
  Number a[2];
};

// Gymnasium's pendulum, a uniform rod: a = 3 g/(2 l) sin q + 3/(m l^2) (u - friction v).
HILO_NUMBER_INLINE Accelerations accelerate_pendulum(const ControlOptions& p, const Motion& m,
                                                     Number u) {
  const Number inverse = 3 / (p.mass_1 * p.length_1 * p.length_1);
  return {{Number(1.5 * p.gravity / p.length_1) * sine_cosine(m.q[0]).sine +
               inverse * (u - Number(p.friction_1) * m.v[0]),
           Number(0.0)}};
}

// A uniform pole of half-length l on a cart (Barto, Sutton and Anderson 1983), with friction of the
// cart and of the joint.
HILO_NUMBER_INLINE Accelerations accelerate_cart_pole(const ControlOptions& p, const Motion& m,
                                                      Number u) {
  const double total = p.mass_1 + p.mass_2;
  const double ml = p.mass_2 * p.length_1;
  const SineCosine angle = sine_cosine(m.q[1]);
  const Number push =
      (u - Number(p.friction_1) * m.v[0] + Number(ml) * m.v[1] * m.v[1] * angle.sine) *
      Number(1 / total);
  const Number top =
      Number(p.gravity) * angle.sine - angle.cosine * push - Number(p.friction_2 / ml) * m.v[1];
  const Number bottom = Number(p.length_1) *
                        (Number(4.0 / 3) - Number(p.mass_2 / total) * angle.cosine * angle.cosine);
  const Number turn = top / bottom;
  return {{push - Number(ml / total) * turn * angle.cosine, turn}};
}

// Two links whose centres of mass are in their middles, with moments of inertia of 1 (Sutton and
// Barto 2018, section 11.3 of the first edition); the torque acts between the links.
HILO_NUMBER_INLINE Accelerations accelerate_acrobot(const ControlOptions& p, const Motion& m,
                                                    Number u) {
  const double l1 = p.length_1, c1 = p.length_1 / 2, c2 = p.length_2 / 2;
  const double m1 = p.mass_1, m2 = p.mass_2;
  const SineCosine first = sine_cosine(m.q[0]), second = sine_cosine(m.q[1]);
  const Number cosine = second.cosine, sine = second.sine;
  // cos(q1 + q2 - pi/2) = sin(q1 + q2), and the same for q1 alone.
  const Number sine_of_sum = first.sine * cosine + first.cosine * sine;
  const Number d1 =
      Number(m1 * c1 * c1 + m2 * (l1 * l1 + c2 * c2) + 2) + Number(2 * m2 * l1 * c2) * cosine;
  const Number d2 = Number(m2 * c2 * c2 + 1) + Number(m2 * l1 * c2) * cosine;
  const Number phi2 = Number(m2 * c2 * p.gravity) * sine_of_sum;
  const Number swing = Number(m2 * l1 * c2) * sine;
  const Number phi1 = -swing * m.v[1] * m.v[1] - Number(2.0) * swing * m.v[1] * m.v[0] +
                      Number((m1 * c1 + m2 * l1) * p.gravity) * first.sine + phi2 +
                      Number(p.friction_1) * m.v[0];
  const Number torque = u - Number(p.friction_2) * m.v[1];
  const Number a2 = (torque + d2 / d1 * phi1 - swing * m.v[0] * m.v[0] - phi2) /
                    (Number(m2 * c2 * c2 + 1) - d2 * d2 / d1);
  return {{-(d2 * a2 + phi1) / d1, a2}};
}

HILO_NUMBER_INLINE Accelerations accelerate(const ControlOptions& p, ControlSystem system,
                                            const Motion& m, Number u) {
  if (system == ControlSystem::pendulum) return accelerate_pendulum(p, m, u);
  if (system == ControlSystem::cart_pole) return accelerate_cart_pole(p, m, u);
  return accelerate_acrobot(p, m, u);
}

HILO_NUMBER_INLINE Motion moved(const Motion& m, const Motion& rate, double h) {
  return {{m.q[0] + Number(h) * rate.q[0], m.q[1] + Number(h) * rate.q[1]},
          {m.v[0] + Number(h) * rate.v[0], m.v[1] + Number(h) * rate.v[1]}};
}
HILO_NUMBER_INLINE Motion rate_of(const ControlOptions& p, ControlSystem system, const Motion& m,
                                  Number u) {
  const Accelerations a = accelerate(p, system, m, u);
  return {{m.v[0], m.v[1]}, {a.a[0], a.a[1]}};
}

HILO_NUMBER_INLINE Motion integrate(const ControlOptions& p, ControlSystem system, Motion m,
                                    Number u) {
  const double h = p.time_step / p.substeps;
  for (std::uint32_t k = 0; k < p.substeps; ++k) {
    if (p.integration == Integration::euler) {
      const Accelerations a = accelerate(p, system, m, u);
      for (int i = 0; i < 2; ++i) {
        m.v[i] = m.v[i] + Number(h) * a.a[i];
        m.q[i] = m.q[i] + Number(h) * m.v[i];
      }
      continue;
    }
    const Motion k1 = rate_of(p, system, m, u);
    const Motion k2 = rate_of(p, system, moved(m, k1, h / 2), u);
    const Motion k3 = rate_of(p, system, moved(m, k2, h / 2), u);
    const Motion k4 = rate_of(p, system, moved(m, k3, h), u);
    for (int i = 0; i < 2; ++i) {
      m.q[i] = m.q[i] + Number(h / 6) * (k1.q[i] + Number(2.0) * (k2.q[i] + k3.q[i]) + k4.q[i]);
      m.v[i] = m.v[i] + Number(h / 6) * (k1.v[i] + Number(2.0) * (k2.v[i] + k3.v[i]) + k4.v[i]);
    }
  }
  return m;
}

HILO_NUMBER_INLINE Number within(Number x, double bound) {
  return least(greatest(x, Number(-bound)), Number(bound));
}

// An angle from -pi to pi.
HILO_NUMBER_INLINE Number wrapped(Number angle) {
  const Number turns = round_to_even(angle * Number(0x1.45f306dc9c883p-3));
  // 2 pi in two parts: the first has few digits, so that its product is exact.
  return within(
      (angle - turns * Number(0x1.921fb54400000p+2)) - turns * Number(0x1.0b4611a626331p-32),
      0x1.921fb54442d18p+1);
}

HILO_NUMBER_INLINE Number reward_of(ControlSystem system, const Motion& m, Number u) {
  if (system == ControlSystem::pendulum) {
    const Number angle = wrapped(m.q[0]);
    return -(angle * angle + Number(0.1) * m.v[0] * m.v[0] + Number(0.001) * u * u);
  }
  if (system == ControlSystem::cart_pole)
    return (Number(1.0) + sine_cosine(m.q[1]).cosine) * Number(0.5) -
           Number(0.01) * m.q[0] * m.q[0] - Number(0.0005) * u * u;
  const Number height = -sine_cosine(m.q[0]).cosine - sine_cosine(m.q[0] + m.q[1]).cosine;
  return (height + Number(2.0)) * Number(0.25);
}

HILO_NUMBER_INLINE void advance_system(const ControlOptions& p, ControlSystem system,
                                       const ControlArrays& rows, std::size_t i) {
  const bool has_two = system != ControlSystem::pendulum;
  Motion m = {{load(rows.q[0] + i), has_two ? load(rows.q[1] + i) : Number(0.0)},
              {load(rows.v[0] + i), has_two ? load(rows.v[1] + i) : Number(0.0)}};
  store(reward_of(system, m, load(rows.chosen + i)), rows.reward + i);
  m = integrate(p, system, m, Number(p.strength) * load(rows.action + i));
  for (int k = 0; k < (has_two ? 2 : 1); ++k)
    if (rows.noise[k] != nullptr)
      m.v[k] = m.v[k] + Number(p.process_noise) * load(rows.noise[k] + i);
  if (system == ControlSystem::pendulum) {
    m.v[0] = within(m.v[0], rows.speed_bound[0]);
    m.q[0] = wrapped(m.q[0]);
  } else if (system == ControlSystem::cart_pole) {
    m.q[1] = wrapped(m.q[1]);
    if (p.wall > 0) {
      const Number x = within(m.q[0], p.wall);
      m.v[0] = select(differs(x, m.q[0]), Number(0.0), m.v[0]);
      m.q[0] = x;
    }
  } else {
    m.v[0] = within(m.v[0], rows.speed_bound[0]);
    m.v[1] = within(m.v[1], rows.speed_bound[1]);
    m.q[0] = wrapped(m.q[0]);
    m.q[1] = wrapped(m.q[1]);
  }
  for (int k = 0; k < (has_two ? 2 : 1); ++k) {
    store(m.q[k], rows.q[k] + i);
    store(m.v[k], rows.v[k] + i);
  }
}

// The system is a constant in each of the loops, so that nothing branches inside of them.
inline void advance_all(const ControlOptions& p, const ControlArrays& rows) {
  const std::size_t padded = rows.padded;
  switch (p.system) {
    case ControlSystem::pendulum:
      for (std::size_t i = 0; i < padded; i += kLanes)
        advance_system(p, ControlSystem::pendulum, rows, i);
      return;
    case ControlSystem::cart_pole:
      for (std::size_t i = 0; i < padded; i += kLanes)
        advance_system(p, ControlSystem::cart_pole, rows, i);
      return;
    case ControlSystem::acrobot:
      for (std::size_t i = 0; i < padded; i += kLanes)
        advance_system(p, ControlSystem::acrobot, rows, i);
      return;
  }
}
