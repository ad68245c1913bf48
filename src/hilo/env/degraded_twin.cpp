#include "hilo/env/degraded_twin.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "hilo/core/bulk_random.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/portable_math.hpp"

namespace hilo {
namespace {

struct MeanSquares {
  double transition = 0, reward = 0;
};

MeanSquares mean_squares(const TabularMdp& mdp) {
  MeanSquares sum;
  std::vector<Outcome> outcomes;
  for (State s = 0; s < mdp.num_states(); ++s)
    for (Action a = 0; a < mdp.num_actions(); ++a) {
      mdp.outcomes(s, a, outcomes);
      for (const Outcome& o : outcomes) sum.transition += o.probability * o.probability;
      sum.reward += mdp.expected_reward(s, a) * mdp.expected_reward(s, a);
    }
  const auto num_rows = static_cast<double>(mdp.num_states() * mdp.num_actions());
  return {sum.transition / num_rows / static_cast<double>(mdp.num_states()), sum.reward / num_rows};
}

constexpr double kLog10 = 2.302585092994045684017991;

// Signal-to-noise ratio in dB. It is infinite without noise, for example if all rewards are zero.
double decibel(double signal, double noise) {
  if (!(noise > 0)) return std::numeric_limits<double>::infinity();
  return 10 / kLog10 * portable_log(signal / noise);
}
double from_decibel(double db) { return portable_exp(db / 10 * kLog10); }

// Degrades one row after the other and keeps the sums for the report.
class RowDegrader {
 public:
  RowDegrader(const TabularMdp& high, const DegradeOptions& options, std::uint64_t seed)
      : high_(high),
        projection_(options.projection),
        seed_(seed),
        mean_squares_(mean_squares(high)),
        clean_(high.num_states()),
        row_(high.num_states()) {
    const double snr = from_decibel(options.snr_db);
    report_.transition_sigma = std::sqrt(mean_squares_.transition / snr);
    report_.reward_sigma = std::sqrt(mean_squares_.reward / snr);
  }

  void degrade(State s, Action a, TabularBuilder& builder) {
    const auto row = static_cast<std::uint32_t>(s * high_.num_actions() + a);
    load(s, a);
    add_noise(row);
    divide_by_sum(s, a);
    report_.mean_abs_transition_difference_signed += distance_to_clean();
    report_.negative_share += static_cast<double>(count_negative());
    project(projection_, row_);
    report_.mean_abs_transition_difference += distance_to_clean();

    const double z = Rng(Stream(seed_, Purpose::problem_reward_noise, row)).normal();
    const double noise = report_.reward_sigma * z;
    reward_noise_sum_ += noise * noise;
    report_.mean_abs_reward_difference += std::abs(noise);
    ++num_rows_;
    store(high_.expected_reward(s, a) + noise, builder);
  }

  DegradationReport report() const {
    const auto all_rows = static_cast<double>(high_.num_states() * high_.num_actions());
    const auto noisy_rows = static_cast<double>(num_rows_);
    const auto columns = static_cast<double>(high_.num_states());
    DegradationReport r = report_;
    r.mean_abs_transition_difference_signed /= all_rows * columns;
    r.mean_abs_transition_difference /= all_rows * columns;
    r.mean_abs_reward_difference /= all_rows;
    r.negative_share /= noisy_rows * columns;
    r.transition_snr_db =
        decibel(mean_squares_.transition, transition_noise_sum_ / (noisy_rows * columns));
    r.reward_snr_db = decibel(mean_squares_.reward, reward_noise_sum_ / noisy_rows);
    return r;
  }

 private:
  void load(State s, Action a) {
    high_.outcomes(s, a, outcomes_);
    std::ranges::fill(clean_, 0.0);
    for (const Outcome& o : outcomes_) clean_[o.next] = o.probability;
  }

  void add_noise(std::uint32_t row) {
    fill_normal(Stream(seed_, Purpose::problem_transition_noise, row), row_);
    // The sums are kept in registers: a sum in memory would wait for its own store at every step.
    const double sigma = report_.transition_sigma;
    double squares = transition_noise_sum_;
    double sum = 0;
    for (std::size_t i = 0; i < row_.size(); ++i) {
      const double noise = sigma * row_[i];
      squares += noise * noise;
      row_[i] = clean_[i] + noise;
      sum += row_[i];
    }
    transition_noise_sum_ = squares;
    row_sum_ = sum;
  }

  void divide_by_sum(State s, Action a) {
    const double sum = row_sum_;
    for (double& p : row_) p /= sum;
    if (!std::isfinite(row_[0]))
      throw Error(Errc::data, fmt::format("state {}, action {}: the noisy row sums to {} and "
                                          "cannot be normalised; take another seed",
                                          s, a, sum));
  }

  std::size_t count_negative() const {
    std::size_t count = 0;
    for (const double p : row_) count += p < 0 ? 1 : 0;
    return count;
  }

  double distance_to_clean() const {
    double sum = 0;
    for (std::size_t i = 0; i < row_.size(); ++i) sum += std::abs(row_[i] - clean_[i]);
    return sum;
  }

  void store(double reward, TabularBuilder& builder) {
    // Without a branch, which would often be mispredicted.
    next_.resize(row_.size());
    probability_.resize(row_.size());
    std::size_t size = 0;
    for (State i = 0; i < row_.size(); ++i) {
      next_[size] = i;
      probability_[size] = row_[i];
      size += row_[i] > 0 ? 1 : 0;
    }
    builder.add_row(std::span(next_).first(size), std::span(probability_).first(size), reward);
  }

  const TabularMdp& high_;
  Projection projection_;
  std::uint64_t seed_;
  MeanSquares mean_squares_;
  DegradationReport report_;
  double transition_noise_sum_ = 0, reward_noise_sum_ = 0;
  std::size_t num_rows_ = 0;
  std::vector<Outcome> outcomes_;
  std::vector<double> clean_, row_;
  double row_sum_ = 0;
  std::vector<State> next_;
  std::vector<double> probability_;
};

}  // namespace

DegradedTwin degrade(const TabularMdp& high, const DegradeOptions& options, std::uint64_t seed) {
  require_within("snr_db", options.snr_db, -100, 100);
  if (high.rewards_depend_on_next())
    throw Error(Errc::data, "degrading needs rewards that do not depend on the successor");

  const std::size_t num_entries = high.num_states() * high.num_actions() * high.num_states();
  require_within("states * actions * states", num_entries, 1, 0xffffffffU, Errc::data);

  std::vector<State> terminal;
  for (State s = 0; s < high.num_states(); ++s)
    if (high.is_terminal(s)) terminal.push_back(s);

  TabularBuilder builder(high.num_states(), high.num_actions(), terminal);
  // Reserved memory that is never touched costs nothing, so the maximum is reserved.
  builder.reserve(num_entries);
  RowDegrader rows(high, options, seed);
  for (State s = 0; s < high.num_states(); ++s)
    for (Action a = 0; a < high.num_actions(); ++a)
      if (high.is_terminal(s))
        builder.add_absorbing_row();
      else
        rows.degrade(s, a, builder);
  try {
    return {builder.build(high.start_distribution()), rows.report()};
  } catch (const Error& e) {
    // Strong noise on few states can make the terminal states unreachable.
    throw Error(e.code(), fmt::format("low fidelity ({} dB, {}, seed {}): {}; take another seed or "
                                      "projection",
                                      options.snr_db, name_of(options.projection), seed, e.what()));
  }
}

}  // namespace hilo
