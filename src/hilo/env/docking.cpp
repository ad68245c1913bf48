#include "hilo/env/docking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/env/one_path_simulator.hpp"

namespace hilo {
namespace {

constexpr double kThrust = 1;          // m/s in one second
constexpr double kGust = 0.5;          // m/s
constexpr double kGentleAcross = 0.5;  // largest lateral speed at the dock, m/s
constexpr double kOver = 0.02;         // chance that the mission ends in a step
constexpr double kStartBelow = 4;      // m
constexpr double kTime = -0.01, kFuel = -0.02, kDocked = 1, kLost = -1;

struct Push {
  int x, y;
};

Push push_of(Docking::Thrust thrust) {
  switch (thrust) {
    case Docking::Thrust::coast:
      return {0, 0};
    case Docking::Thrust::right:
      return {1, 0};
    case Docking::Thrust::left:
      return {-1, 0};
    case Docking::Thrust::up:
      return {0, 1};
    case Docking::Thrust::down:
      break;
  }
  return {0, -1};
}

constexpr Push kGusts[] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};

// Shares the model between copies; environments are passed by value.
class DockingEnvironment {
 public:
  static constexpr bool kChecked = true;  // steps are in range by construction

  explicit DockingEnvironment(std::shared_ptr<const Docking> docking)
      : docking_(std::move(docking)) {}
  std::size_t num_states() const { return docking_->num_states(); }
  std::size_t num_actions() const { return Docking::kNumActions; }
  bool is_terminal(State s) const { return docking_->is_terminal(s); }
  State reset(Rng& rng) const { return docking_->reset(rng); }
  Step step(State s, Action a, Rng& rng) const { return docking_->step(s, a, rng); }
  double reward(State s, Action a, State next) const { return docking_->reward(s, a, next); }
  const Model* model() const { return docking_.get(); }

 private:
  std::shared_ptr<const Docking> docking_;
};

}  // namespace

Docking::ActionOrder Docking::shuffled_actions(std::uint64_t seed) {
  ActionOrder order = {Thrust::coast, Thrust::right, Thrust::left, Thrust::up, Thrust::down};
  Rng rng(Stream(seed, Purpose::problem_actions));
  for (std::uint32_t left = kNumActions; left > 1; --left)  // Fisher-Yates shuffle
    std::swap(order[left - 1], order[rng.below(left)]);
  return order;
}

Docking::Docking(const DockingOptions& options, const ActionOrder& order)
    : cells_(options.cells),
      speeds_(options.speeds),
      num_moving_(cells_ * cells_ * speeds_ * speeds_),
      cell_size_(kSide / static_cast<double>(cells_)),
      drag_(options.drag),
      gusts_(options.gusts),
      order_(order) {
  set_checked();
  require_within("cells", options.cells, 3, 1000);
  require_within("speeds", options.speeds, 3, 31);
  if (speeds_ % 2 == 0)
    throw Error(
        Errc::spec,
        fmt::format("speeds is {}, but must be odd, so that speed 0 is among them", speeds_));
  require_within("drag", options.drag, 0, 1);
  require_within("wind", options.wind, -1, 1);
  require_within("gusts", options.gusts, 0, 1);
  velocity_x_ = velocities(options.wind);
  velocity_y_ = velocities(0);
  const auto at_rest = static_cast<std::uint32_t>(speeds_ / 2);
  for (std::uint32_t iy = 0; iy < cells_ && centre(iy) < kStartBelow; ++iy)
    for (std::uint32_t ix = 0; ix < cells_; ++ix)
      starts_.push_back(state({ix, iy, at_rest, at_rest}));
}

std::vector<Docking::Rounded> Docking::velocities(double wind) const {
  std::vector<Rounded> out(speeds_ * 9);
  for (std::uint32_t j = 0; j < speeds_; ++j)
    for (int push = -1; push <= 1; ++push)
      for (int gust = -1; gust <= 1; ++gust) {
        const double u = speed(j);
        const double drag = -drag_ * (u - wind) * std::abs(u - wind);
        out[velocity_index(j, push, gust)] =
            round_velocity(u + kThrust * push + drag + kGust * gust);
      }
  return out;
}

Docking::Rounded Docking::round_velocity(double u) const {
  const auto top = static_cast<double>(speeds_ - 1);
  const double j = std::clamp((u + 1) / 2 * top, 0.0, top);
  const double lower = std::min(std::floor(j), top - 1);
  return {static_cast<std::uint32_t>(lower), j - lower};
}

Docking::Rounded Docking::round_position(double p) const {
  const auto top = static_cast<double>(cells_ - 1);
  const double i = std::clamp(p / cell_size_ - 0.5, 0.0, top);
  const double lower = std::min(std::floor(i), top - 1);
  return {static_cast<std::uint32_t>(lower), i - lower};
}

Docking::Place Docking::place(double x, double y, double ux, double uy) const {
  if (!(x >= 0 && x <= kSide && y >= 0 && y <= kSide)) return Place::lost;
  const double dx = x - kDockX;
  const double dy = y - kDockY;
  if (dx * dx + dy * dy > kDockRadius * kDockRadius) return Place::free;
  const bool gentle = std::abs(ux) <= kGentleAcross && std::abs(uy) <= 1;
  return gentle ? Place::docked : Place::lost;
}

Docking::Motion Docking::motion(State s) const {
  const auto speeds = static_cast<std::uint32_t>(speeds_);
  const auto cells = static_cast<std::uint32_t>(cells_);
  const State cell = s / (speeds * speeds);
  return {cell % cells, cell / cells, s % speeds, s / speeds % speeds};
}

State Docking::state(const Motion& m) const {
  return static_cast<State>(((m.iy * cells_ + m.ix) * speeds_ + m.jy) * speeds_ + m.jx);
}

std::vector<StartProbability> Docking::start_distribution() const {
  std::vector<StartProbability> out;
  for (const State s : starts_) out.push_back({s, 1.0 / static_cast<double>(starts_.size())});
  return out;
}

double Docking::reward(State s, Action a, State next) const {
  if (is_terminal(s)) return 0;
  double reward = kTime + (order_[a] == Thrust::coast ? 0 : kFuel);
  if (next == docked()) reward += kDocked;
  if (next == lost()) reward += kLost;
  return reward;
}

// Every random number has a fixed place among the words of a step, whether it is used or not, so
// that common random numbers drive both fidelities in the same way.
Step Docking::step(State s, Action a, Rng& rng) const {
  if (is_terminal(s)) return {.next = s, .reward = 0, .done = true};
  const double gust_draw = rng.uniform();
  const double over_draw = rng.uniform();
  const double draws[4] = {rng.uniform(), rng.uniform(), rng.uniform(), rng.uniform()};

  const Motion m = motion(s);
  const Push push = push_of(order_[a]);
  const Push gust =
      gust_draw < gusts_
          ? kGusts[std::min<std::size_t>(3, static_cast<std::size_t>(4 * gust_draw / gusts_))]
          : Push{0, 0};
  const auto draw = [](const Rounded& r, double u) { return r.lower + (u < r.up ? 1U : 0U); };
  Motion next = m;
  next.jx = draw(velocity_x_[velocity_index(m.jx, push.x, gust.x)], draws[0]);
  next.jy = draw(velocity_y_[velocity_index(m.jy, push.y, gust.y)], draws[1]);
  const double x = centre(m.ix) + (speed(m.jx) + speed(next.jx)) / 2;
  const double y = centre(m.iy) + (speed(m.jy) + speed(next.jy)) / 2;
  State to = 0;
  switch (place(x, y, speed(next.jx), speed(next.jy))) {
    case Place::docked:
      to = docked();
      break;
    case Place::lost:
      to = lost();
      break;
    case Place::free:
      next.ix = draw(round_position(x), draws[2]);
      next.iy = draw(round_position(y), draws[3]);
      to = over_draw < kOver ? over() : state(next);
  }
  return {.next = to, .reward = reward(s, a, to), .done = is_terminal(to)};
}

void Docking::outcomes(State s, Action a, std::vector<Outcome>& out) const {
  out.clear();
  if (is_terminal(s)) {
    out.push_back({s, 1, 0});
    return;
  }
  const auto add = [&](State next, double probability) {
    if (probability > 0) out.push_back({next, probability, 0});
  };
  const Motion m = motion(s);
  const Push push = push_of(order_[a]);
  // Both neighbours of a rounded value, with their probabilities.
  const auto both = [](const Rounded& r, auto&& visit) {
    if (r.up < 1) visit(r.lower, 1 - r.up);
    if (r.up > 0) visit(r.lower + 1, r.up);
  };
  const auto move = [&](const Motion& to, double p) {
    const double x = centre(m.ix) + (speed(m.jx) + speed(to.jx)) / 2;
    const double y = centre(m.iy) + (speed(m.jy) + speed(to.jy)) / 2;
    const Place where = place(x, y, speed(to.jx), speed(to.jy));
    if (where == Place::docked) return add(docked(), p);
    if (where == Place::lost) return add(lost(), p);
    add(over(), p * kOver);
    both(round_position(x), [&](std::uint32_t ix, double px) {
      both(round_position(y), [&](std::uint32_t iy, double py) {
        add(state({ix, iy, to.jx, to.jy}), p * (1 - kOver) * px * py);
      });
    });
  };
  const auto blow = [&](Push gust, double p) {
    if (p == 0) return;
    both(velocity_x_[velocity_index(m.jx, push.x, gust.x)], [&](std::uint32_t jx, double px) {
      both(velocity_y_[velocity_index(m.jy, push.y, gust.y)], [&](std::uint32_t jy, double py) {
        move({m.ix, m.iy, jx, jy}, p * px * py);
      });
    });
  };
  blow({0, 0}, 1 - gusts_);
  for (const Push& gust : kGusts) blow(gust, gusts_ / 4);

  std::ranges::sort(out, {}, &Outcome::next);
  std::size_t last = 0;
  for (std::size_t i = 1; i < out.size(); ++i)
    if (out[i].next == out[last].next)
      out[last].probability += out[i].probability;
    else
      out[++last] = out[i];
  out.resize(last + 1);
  for (Outcome& o : out) o.reward = reward(s, a, o.next);
}

DockingOptions low_fidelity_of(const DockingOptions& high) {
  return {.cells = (high.cells + 1) / 2, .speeds = high.speeds, .drag = 0, .wind = 0, .gusts = 0};
}

std::shared_ptr<const Simulator> make_docking(const DockingOptions& options, std::uint64_t seed) {
  return make_simulator(DockingEnvironment(
      std::make_shared<const Docking>(options, Docking::shuffled_actions(seed))));
}

Fidelities make_docking_pair(const DockingOptions& options, std::uint64_t seed,
                             const std::shared_ptr<const EpisodeSimulator>& high) {
  const auto order = Docking::shuffled_actions(seed);
  const Docking fine(options, order);
  const auto coarse = std::make_shared<const Docking>(low_fidelity_of(options), order);
  // floor((i + 1/2) n_lo / n_hi): the coarse cell that holds the centre, hence the nearest one.
  const auto nearest = [&](std::uint32_t i) {
    return static_cast<std::uint32_t>((2 * i + 1) * coarse->cells() / (2 * fine.cells()));
  };
  std::vector<State> low_of(fine.num_states());
  for (State s = 0; s < fine.num_states(); ++s) {
    if (fine.is_terminal(s)) {
      low_of[s] = coarse->docked() + (s - fine.docked());
      continue;
    }
    const Docking::Motion m = fine.motion(s);
    low_of[s] = coarse->state({nearest(m.ix), nearest(m.iy), m.jx, m.jy});
  }
  return {high, make_simulator(DockingEnvironment(coarse)),
          StateMap(std::move(low_of), coarse->num_states())};
}

}  // namespace hilo
