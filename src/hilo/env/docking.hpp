#pragma once

#include <array>
#include <memory>
#include <vector>

#include "hilo/env/fidelities.hpp"

namespace hilo {

struct DockingOptions {
  std::size_t cells = 10;  // per side
  std::size_t speeds = 3;  // per axis, odd
  double drag = 0.3;       // per metre
  double wind = 0.4;       // m/s along +x
  double gusts = 0.2;      // probability of a gust in each second
};

// A vehicle in a plane that must reach a dock gently; docs/docking.md describes the model.
// Successors are computed when needed. Only the velocity changes along each axis and the start
// states are stored.
class Docking final : public Model {
 public:
  static constexpr std::size_t kNumActions = 5;
  static constexpr double kSide = 10, kDockX = 5, kDockY = 8.5, kDockRadius = 1;

  // What an action does, in the order before shuffling.
  enum class Thrust : std::uint8_t { coast, right, left, up, down };
  using ActionOrder = std::array<Thrust, kNumActions>;  // [action]
  static ActionOrder shuffled_actions(std::uint64_t seed);

  Docking(const DockingOptions& options, const ActionOrder& order);

  std::size_t num_states() const override { return num_moving_ + 3; }
  std::size_t num_actions() const override { return kNumActions; }
  bool is_terminal(State s) const override { return s >= num_moving_; }
  std::vector<StartProbability> start_distribution() const override;
  void outcomes(State s, Action a, std::vector<Outcome>& out) const override;

  State reset(Rng& rng) const { return starts_[rng.below(num_starts())]; }
  Step step(State s, Action a, Rng& rng) const;
  double reward(State s, Action a, State next) const;

  State docked() const { return static_cast<State>(num_moving_); }
  State lost() const { return docked() + 1; }
  State over() const { return docked() + 2; }

  // The grid indices of a non-terminal state.
  struct Motion {
    std::uint32_t ix, iy, jx, jy;  // cell and speed
  };
  Motion motion(State s) const;
  State state(const Motion& m) const;
  double centre(std::uint32_t i) const { return (i + 0.5) * cell_size_; }
  double speed(std::uint32_t j) const { return -1 + 2.0 * j / static_cast<double>(speeds_ - 1); }
  std::size_t cells() const { return cells_; }
  Thrust thrust(Action a) const { return order_[a]; }

 private:
  // A value between two neighbouring grid points. It is rounded to the upper one with probability
  // `up`.
  struct Rounded {
    std::uint32_t lower = 0;
    double up = 0;
  };
  enum class Place : std::uint8_t { free, docked, lost };

  std::uint32_t num_starts() const { return static_cast<std::uint32_t>(starts_.size()); }
  std::size_t velocity_index(std::uint32_t j, int push, int gust) const {
    return (j * 3 + static_cast<std::size_t>(push + 1)) * 3 + static_cast<std::size_t>(gust + 1);
  }
  std::vector<Rounded> velocities(double wind) const;
  Rounded round_velocity(double u) const;
  Rounded round_position(double p) const;
  Place place(double x, double y, double ux, double uy) const;

  std::size_t cells_, speeds_, num_moving_;
  double cell_size_, drag_, gusts_;
  ActionOrder order_;
  std::vector<Rounded> velocity_x_, velocity_y_;  // [velocity_index]
  std::vector<State> starts_;
};

// The two fidelities and the map between them.
Fidelities make_docking_pair(const DockingOptions& options, std::uint64_t seed,
                             const std::shared_ptr<const EpisodeSimulator>& high);
std::shared_ptr<const Simulator> make_docking(const DockingOptions& options, std::uint64_t seed);
DockingOptions low_fidelity_of(const DockingOptions& high);

}  // namespace hilo
