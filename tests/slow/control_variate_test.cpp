// The paper's estimator on its own problem against exact truth: fixed policy, epsilon-greedy on the
// optimal Q, n = 50 paired returns, 50,000 replicates.
#include "hilo/estimator/control_variate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "hilo/core/parallel.hpp"
#include "hilo/exact/estimator_bias.hpp"
#include "hilo/rollout/returns.hpp"
#include "hilo/rollout/shadow.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

constexpr double kGamma = 0.99;
constexpr std::uint32_t kPairs = 50;
constexpr std::size_t kReplicates = 50'000;
constexpr std::size_t kBatches = 100;

struct Setting {
  Fidelities pair;
  std::shared_ptr<const Simulator> high;
  QTable q;
  EstimatorBias exact;
};

Setting make_setting(const std::shared_ptr<const TabularMdp>& high,
                     const std::shared_ptr<const TabularMdp>& low) {
  const auto simulator = make_simulator(high);
  Fidelities pair(simulator, make_simulator(low));
  QTable q = testing::optimal_q(*high, kGamma);
  const PolicyMatrix policy = policy_matrix(q.behaviour(0.1));
  EstimatorBias exact = exact_bias(pair, policy, policy, kGamma);
  return {std::move(pair), simulator, std::move(q), std::move(exact)};
}

// The estimates of one batch of replicates.
struct BatchMoments {
  Moments plain, true_alpha, plug_in, free_mean;
};

struct Replicates {
  Moments plain, true_alpha, plug_in;
  // var(estimate) / (sigma^2 / n) per batch: its mean and, from the spread, its standard error.
  Moments true_alpha_ratio, plug_in_ratio;
};

// `num_free` > 0: the population mean is estimated by that many free low-fidelity returns per
// replicate; otherwise it is exact.
Replicates replicate(const Setting& setting, StateAction start, std::uint32_t num_free) {
  const std::size_t i = start.state * setting.pair.num_actions() + start.action;
  const EstimatorBias& exact = setting.exact;
  const Behaviour behaviour = setting.q.behaviour(0.1);
  std::vector<BatchMoments> batches(kBatches);
  parallel_for(kBatches, 0, [&](std::size_t b) {
    Episode path, image;
    std::vector<double> g;
    std::vector<RolloutSummary> free(num_free);
    for (std::size_t r = 0; r < kReplicates / kBatches; ++r) {
      const auto replicate = static_cast<std::uint32_t>(b * kReplicates / kBatches + r);
      CoMoments returns;
      for (std::uint32_t k = 0; k < kPairs; ++k) {
        setting.high->record(behaviour, {.seed = 1, .episode = replicate, .first_rollout = k}, {},
                             start, path);
        shadow(setting.pair, path, image);
        discounted_returns(path.rewards, kGamma, g);
        const double g_hi = g[0];
        discounted_returns(image.rewards, kGamma, g);
        returns.add(g_hi, g[0]);
      }
      double mu_lo = exact.q_low[i];
      if (num_free > 0) {
        setting.pair.low().roll_out(
            behaviour, {.seed = 2, .purpose = Purpose::low_rollout, .episode = replicate},
            {.gamma = kGamma}, {&start, 1}, num_free, free);
        mu_lo = 0;
        for (const RolloutSummary& s : free) mu_lo += s.discounted_return / num_free;
      }
      batches[b].plain.add(returns.mean_x());
      batches[b].true_alpha.add(corrected_mean(returns, mu_lo, exact.alpha[i]));
      batches[b].plug_in.add(control_variate(returns, mu_lo).value);
    }
  });
  Replicates all;
  const double plain_variance = exact.sd_high[i] * exact.sd_high[i] / kPairs;
  for (const BatchMoments& b : batches) {
    all.plain.merge(b.plain);
    all.true_alpha.merge(b.true_alpha);
    all.plug_in.merge(b.plug_in);
    all.true_alpha_ratio.add(b.true_alpha.variance() / plain_variance);
    all.plug_in_ratio.add(b.plug_in.variance() / plain_variance);
  }
  return all;
}

double standard_error(const Moments& m) {
  return std::sqrt(m.variance() / static_cast<double>(m.count()));
}

constexpr StateAction kStarts[] = {{0, 0}, {7, 3}, {100, 5}};

TEST(ControlVariateSlow, EqualDynamicsAreUnbiasedAndReduceTheVarianceAsStated) {
  for (const double snr_db : {-10.0, 3.0}) {
    const auto high = make_random_mdp({}, 1);
    const auto noisy = degrade(*high, {.snr_db = snr_db}, 1).mdp;
    const Setting setting = make_setting(high, testing::with_rewards_of(*high, *noisy));
    for (const StateAction start : kStarts) {
      const std::size_t i = start.state * 8 + start.action;
      const double truth = setting.exact.q_high[i];
      const double sd = setting.exact.sd_high[i];
      const double ratio = 1 - setting.exact.rho[i] * setting.exact.rho[i];
      ASSERT_NEAR(setting.exact.bias[i], 0, 1e-11);
      const Replicates r = replicate(setting, start, 0);
      std::printf(
          "%+3.0f dB (%3u,%u)  1 - rho^2 %.4f  true alpha: bias %+.5f ± %.5f, ratio %.4f ± %.4f   "
          "plug-in: bias %+.5f sd, ratio %.4f\n",
          snr_db, start.state, start.action, ratio, r.true_alpha.mean() - truth,
          standard_error(r.true_alpha), r.true_alpha_ratio.mean(),
          standard_error(r.true_alpha_ratio), (r.plug_in.mean() - truth) / sd,
          r.plug_in_ratio.mean());
      // Four standard errors each: false alarm 6e-5 per check, and the seed is fixed.
      EXPECT_NEAR(r.plain.mean(), truth, 4 * standard_error(r.plain));
      EXPECT_NEAR(r.true_alpha.mean(), truth, 4 * standard_error(r.true_alpha));
      EXPECT_NEAR(r.true_alpha_ratio.mean(), ratio, 4 * standard_error(r.true_alpha_ratio));
      EXPECT_LT(std::abs(r.plug_in.mean() - truth), 0.002 * sd);
      EXPECT_NEAR(r.plug_in_ratio.mean(), ratio, 0.08 * ratio);
    }
  }
}

TEST(ControlVariateSlow, UnequalDynamicsHaveTheExactBias) {
  for (const Projection projection : {Projection::simplex, Projection::bisection}) {
    const auto high = make_random_mdp({}, 1);
    const auto low = degrade(*high, {.snr_db = -3, .projection = projection}, 1).mdp;
    const Setting setting = make_setting(high, low);
    for (const StateAction start : kStarts) {
      const std::size_t i = start.state * 8 + start.action;
      const Replicates r = replicate(setting, start, 50);
      const double measured = r.true_alpha.mean() - setting.exact.q_high[i];
      std::printf("%-9s (%3u,%u)  exact bias %+.5f  measured %+.5f ± %.5f\n",
                  std::string(name_of(projection)).c_str(), start.state, start.action,
                  setting.exact.bias[i], measured, standard_error(r.true_alpha));
      EXPECT_GT(std::abs(setting.exact.bias[i]), 20 * standard_error(r.true_alpha));
      EXPECT_NEAR(measured, setting.exact.bias[i], 4 * standard_error(r.true_alpha));
    }
  }
}

}  // namespace
}  // namespace hilo
