#include "control_bare_loop.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "control_bare_loop.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hilo/core/detail/number-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilo::HWY_NAMESPACE {

using bench::BareScenario;
using bench::BareWork;
using bench::kBareInputs;
using bench::kBareNetworks;
using bench::kBareUnits;
using bench::kResidualInputs;
using bench::kResidualOutputs;

constexpr double kForce = 10;  // its bound

struct CartPole {
  Number x, v, angle, turn;  // turn: the angular velocity
};

HWY_INLINE Number bounded(Number x, double bound) {
  return least(greatest(x, Number(-bound)), Number(bound));
}

// The force that each network chooses; `weights` are those of the first lane's network.
HWY_INLINE Number force_of(const BareWork& work, const double* weights, const CartPole& pole,
                           const SineCosine& angle) {
  const Number in[kBareInputs] = {pole.x * Number(work.inverse_scale[0]),
                                  pole.v * Number(work.inverse_scale[1]), angle.cosine, angle.sine,
                                  pole.turn * Number(work.inverse_scale[3])};
  const double* w = weights;
  const double* last = weights + kBareUnits * (kBareInputs + 1) * kBareNetworks;
  Number out;
  for (std::size_t u = 0; u < kBareUnits; ++u) {
    Number sum = load(w) * in[0];
    for (std::size_t j = 1; j < kBareInputs; ++j) sum = sum + load(w + j * kBareNetworks) * in[j];
    const Number unit = hyperbolic_tangent(sum + load(w + kBareInputs * kBareNetworks));
    out = u == 0 ? load(last) * unit : out + load(last + u * kBareNetworks) * unit;
    w += (kBareInputs + 1) * kBareNetworks;
  }
  return Number(kForce) * hyperbolic_tangent(out + load(last + kBareUnits * kBareNetworks));
}

HWY_INLINE void add_residual(const BareWork& work, const double* weights, const CartPole& before,
                             const SineCosine& angle, Number force, CartPole& pole,
                             Number& reward) {
  Number z[kResidualInputs] = {before.x, before.v, angle.cosine, angle.sine, before.turn, force};
  for (std::size_t i = 0; i < kResidualInputs; ++i)
    z[i] = (z[i] - Number(work.centre[i])) * Number(work.inverse_deviation[i]);
  const double* w = weights;
  Number sums[kResidualOutputs];
  for (std::size_t d = 0; d < kResidualOutputs; ++d) sums[d] = Number(w[d]);
  w += kResidualOutputs;
  for (std::size_t i = 0; i < kResidualInputs; ++i, w += kResidualOutputs)
    for (std::size_t d = 0; d < kResidualOutputs; ++d) sums[d] = sums[d] + Number(w[d]) * z[i];
  const double* end = work.frequencies.data() + work.frequencies.size();
  for (const double* f = work.frequencies.data(); f != end; f += kResidualInputs) {
    Number phase = Number(f[0]) * z[0];
    for (std::size_t i = 1; i < kResidualInputs; ++i) phase = phase + Number(f[i]) * z[i];
    const SineCosine both = quick_sine_cosine(phase);
    for (std::size_t d = 0; d < kResidualOutputs; ++d)
      sums[d] =
          sums[d] + (Number(w[d]) * both.cosine + Number(w[kResidualOutputs + d]) * both.sine);
    w += 2 * kResidualOutputs;
  }
  constexpr double kTurn = 2 * std::numbers::pi;
  pole.x = pole.x + sums[0];
  pole.v = pole.v + sums[1];
  pole.angle = pole.angle + sums[2];
  pole.angle = bounded(pole.angle - Number(kTurn) * round_to_even(pole.angle / Number(kTurn)),
                       std::numbers::pi);
  pole.turn = pole.turn + sums[3];
  reward = reward + sums[4];
}

// One Euler step.
HWY_INLINE void move(const ControlOptions& p, const SineCosine& angle, Number force,
                     CartPole& pole) {
  const double total = p.mass_1 + p.mass_2, ml = p.mass_2 * p.length_1, h = p.time_step;
  const Number push = (force + Number(ml) * pole.turn * pole.turn * angle.sine) * Number(1 / total);
  const Number turn = (Number(p.gravity) * angle.sine - angle.cosine * push) /
                      (Number(p.length_1) *
                       (Number(4.0 / 3) - Number(p.mass_2 / total) * angle.cosine * angle.cosine));
  pole.v = pole.v + Number(h) * (push - Number(ml / total) * turn * angle.cosine);
  pole.x = pole.x + Number(h) * pole.v;
  pole.turn = pole.turn + Number(h) * turn;
  pole.angle = pole.angle + Number(h) * pole.turn;
  const Number turns = round_to_even(pole.angle * Number(0x1.45f306dc9c883p-3));
  pole.angle = bounded(
      (pole.angle - turns * Number(0x1.921fb54400000p+2)) - turns * Number(0x1.0b4611a626331p-32),
      std::numbers::pi);
}

HWY_INLINE Number advance(const BareWork& work, const BareScenario& scenario, const double* weights,
                          std::uint32_t t, CartPole& pole) {
  const SineCosine angle = sine_cosine(pole.angle);
  Number force = force_of(work, weights, pole, angle);
  if (!scenario.noise.empty()) force = bounded(force + Number(scenario.noise[t]), kForce);
  Number reward = (Number(1.0) + angle.cosine) * Number(0.5) - Number(0.01) * pole.x * pole.x -
                  Number(0.0005) * force * force;
  const CartPole before = pole;
  move(work.cart_pole, angle, force, pole);
  if (!scenario.weights.empty())
    add_residual(work, scenario.weights.data(), before, angle, force, pole, reward);
  return reward;
}

void run_control_loop(const BareWork& work, double* means) {
  const auto count = static_cast<double>(work.scenarios.size());
  for (const BareScenario& scenario : work.scenarios)
    for (std::size_t i = 0; i < kBareNetworks; i += 2 * kLanes) {
      // Two vectors of paths, because one alone waits for its own results.
      const std::size_t at[] = {i, i + kLanes};
      const CartPole start = {scenario.start[0], scenario.start[1], scenario.start[2],
                              scenario.start[3]};
      CartPole pole[] = {start, start};
      Number sum[] = {0.0, 0.0};
      for (std::uint32_t t = 0; t < work.steps; ++t)
        for (int k = 0; k < 2; ++k)
          sum[k] = sum[k] + advance(work, scenario, work.weights.row(0) + at[k], t, pole[k]);
      for (int k = 0; k < 2; ++k)
        store(load(means + at[k]) + sum[k] / Number(count), means + at[k]);
    }
}

}  // namespace hilo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "hilo/core/bulk_random.hpp"
#include "hilo/core/error.hpp"

namespace hilo::bench {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::uint32_t kSteps = 150;

// Both sides as the catalogue has them.
std::shared_ptr<const ControlSimulator> cheap_cart_pole() {
  return std::make_shared<const ControlSimulator>(ControlOptions{.system = ControlSystem::cart_pole,
                                                                 .mass_1 = 1.2,
                                                                 .mass_2 = 0.3,
                                                                 .length_1 = 0.6,
                                                                 .gravity = 9.8,
                                                                 .time_step = 0.04});
}
std::shared_ptr<const ControlSimulator> expensive_cart_pole() {
  return std::make_shared<const ControlSimulator>(
      ControlOptions{.system = ControlSystem::cart_pole,
                     .mass_1 = 1,
                     .mass_2 = 0.5,
                     .length_1 = 0.5,
                     .friction_1 = 0.3,
                     .friction_2 = 0.02,
                     .strength = 0.9,
                     .gravity = 9.8,
                     .integration = Integration::runge_kutta,
                     .substeps = 10,
                     .time_step = 0.04});
}

NetworkShape shape_for(const ControlSimulator& simulator) {
  return {.observations = simulator.state_space(),
          .actions = simulator.control_space(),
          .angles = {2},
          .centre = {0, 0, 0, 0},
          .scale = {2, 2, 1, 4},
          .layers = {kBareUnits}};
}

Columns random_weights(const NetworkShape& shape, std::size_t count, std::uint32_t pair) {
  Columns out(shape.num_weights(), count);
  std::vector<double> drawn(out.rows());
  for (std::uint32_t i = 0; i < count; ++i) {
    fill_normal(Stream(kSeed, Purpose::user, 0, pair, i), drawn);
    out.set(i, drawn);
  }
  return out;
}

void run_on_best(SimdPath path, const BareWork& work, double* means) {
  switch (path) {
#if HWY_TARGETS & HWY_AVX3
    case SimdPath::avx512:
      return N_AVX3::run_control_loop(work, means);
#endif
#if HWY_TARGETS & HWY_AVX2
    case SimdPath::avx2:
      return N_AVX2::run_control_loop(work, means);
#endif
#if HWY_TARGETS & HWY_SSE4
    case SimdPath::sse4:
      return N_SSE4::run_control_loop(work, means);
#endif
    default:
      return HWY_STATIC_DISPATCH(run_control_loop)(work, means);
  }
}

}  // namespace

std::vector<double> run_control_loop(SimdPath path, const BareWork& work) {
  Columns means(1, kBareNetworks);
  run_on_best(path, work, means.row(0));
  return {means.row(0), means.row(0) + kBareNetworks};
}

ResidualData control_data(std::size_t transitions) {
  const auto cheap = cheap_cart_pole(), expensive = expensive_cart_pole();
  const NetworkShape shape = shape_for(*cheap);
  const auto episodes = static_cast<std::uint32_t>((transitions + kSteps - 1) / kSteps);
  const Columns weights = random_weights(shape, episodes, 1);
  Columns states(4, episodes), actions(1, episodes);
  expensive->start({.seed = kSeed, .purpose = Purpose::user}, states);
  std::vector<Columns> before, after, expected, chosen;
  StepResults real, imagined;
  real.resize(states.padded());
  imagined.resize(states.padded());
  const Stream stream(kSeed, Purpose::user);
  for (std::uint32_t t = 0; t < kSteps; ++t) {
    network_actions(shape, weights, states, actions);
    before.push_back(states);
    expected.push_back(states);
    chosen.push_back(actions);
    expensive->step(states, actions, {&stream, 1}, t + 1, real);
    cheap->step(expected.back(), actions, {&stream, 1}, t + 1, imagined);
    after.push_back(states);
  }
  ResidualData data(cheap->state_space(), cheap->control_space(), {2});
  std::array<double, 4> s{}, next{}, guess{};
  for (std::uint32_t e = 0; e < episodes; ++e)
    for (std::uint32_t t = 0; t < kSteps && data.size() < transitions; ++t) {
      before[t].get(e, s);
      after[t].get(e, next);
      expected[t].get(e, guess);
      const double force = chosen[t].at(0, e);
      data.add(e, s, {&force, 1}, next, 0.01 * std::cos(s[2]) - 0.001 * force, guess, 0);
    }
  return data;
}

ResidualOptions residual_options(std::size_t frequencies) {
  return {.frequencies = frequencies, .process = {.most_points = 250, .threads = 1}};
}

ControlWork::ControlWork(const ControlWorkOptions& options)
    : shape_(shape_for(*cheap_cart_pole())), horizon_{.gamma = 1, .max_steps = kSteps} {
  const auto cheap = cheap_cart_pole();
  bare_.cart_pole = cheap->options();
  for (std::size_t d = 0; d < 4; ++d) bare_.inverse_scale[d] = 1 / shape_.scale[d];
  bare_.weights = random_weights(shape_, kBareNetworks, 0);
  bare_.steps = kSteps;
  Columns starts(4, options.scenarios);
  cheap->start({.seed = kSeed, .purpose = Purpose::search}, starts);
  for (std::uint32_t i = 0; i < options.scenarios; ++i) {
    Scenario scenario{.start = std::vector<double>(4),
                      .simulator = cheap,
                      .stream = Stream(kSeed, Purpose::search, 0, 2, i),
                      .action_noise = options.action_noise};
    starts.get(i, scenario.start);
    BareScenario bare{};
    std::ranges::copy(scenario.start, bare.start.begin());
    for (std::uint32_t t = 0; options.action_noise > 0 && t < kSteps; ++t) {
      Rng rng = Rng::of_step(scenario.stream, t + 1);
      bare.noise.push_back(0);
      draw_action_noise(shape_.actions, options.action_noise, draw_action_words(rng),
                        {&bare.noise.back(), 1});
    }
    scenarios_.push_back(std::move(scenario));
    bare_.scenarios.push_back(std::move(bare));
  }
  if (options.frequencies > 0) add_residual(options);
}

// What a model does not show of itself is computed here once more; `check` tells if it is not the
// same any longer.
void ControlWork::add_residual(const ControlWorkOptions& options) {
  const ResidualData data = control_data(options.transitions);
  const auto model =
      std::make_shared<const ResidualModel>(data, residual_options(options.frequencies), kSeed);
  const auto n = static_cast<double>(data.size());
  for (std::size_t i = 0; i < kResidualInputs; ++i) {
    double sum = 0, squares = 0;
    for (std::size_t a = i; a < data.inputs.size(); a += kResidualInputs) sum += data.inputs[a];
    bare_.centre[i] = sum / n;
    for (std::size_t a = i; a < data.inputs.size(); a += kResidualInputs)
      squares += (data.inputs[a] - bare_.centre[i]) * (data.inputs[a] - bare_.centre[i]);
    bare_.inverse_deviation[i] = 1 / std::sqrt(squares / n);
  }
  bare_.frequencies.resize(options.frequencies * kResidualInputs);
  fill_normal(Stream(kSeed, Purpose::search, 0, 5), bare_.frequencies);
  for (std::size_t j = 0; j < bare_.frequencies.size(); ++j)
    bare_.frequencies[j] /= model->scales().length[j % kResidualInputs];
  for (std::uint32_t i = 0; i < scenarios_.size(); ++i) {
    const ResidualSample sample = model->sample(Stream(kSeed, Purpose::search, 0, 6, i));
    bare_.scenarios[i].weights = sample.weights;
    if (sample.weights.size() != kResidualOutputs * (1 + kResidualInputs + 2 * options.frequencies))
      throw Error(Errc::data, "not every output of the residual is in use");
    scenarios_[i].correction = Correction(model, sample);
  }
}

std::vector<double> ControlWork::run_hilo() const {
  return mean_returns(shape_, bare_.weights, scenarios_, horizon_, 1);
}
std::vector<double> ControlWork::run_bare() const { return run_control_loop(simd_path(), bare_); }

std::uint64_t ControlWork::steps() const {
  return std::uint64_t{bare_.steps} * bare_.scenarios.size() * kBareNetworks;
}

void ControlWork::check() const {
  if (run_hilo() != run_bare())
    throw Error(Errc::data, "the bare loop's returns are not those of the library");
}

}  // namespace hilo::bench
#endif  // HWY_ONCE
