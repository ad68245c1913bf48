// Saves and loads the model of the Bayes agent.
#include "hilo/core/error.hpp"
#include "hilo/model/bayes_model.hpp"

namespace hilo {

void BayesModel::save(ArchiveWriter& out) const {
  out.value(low_samples_);
  out.value(low_chance_of_any_end_);
  out.value(low_mean_go_pays_);
  low_counts_.save(out);
  low_end_counts_.save(out);
  out.array<std::uint8_t>(no_end_);
  out.array<std::uint32_t>(low_ends_);
  out.array<double>(low_reward_go_);
  out.array<double>(low_reward_end_);
  counts_.save(out);
  out.array<std::uint32_t>(ends_);
  out.array<double>(low_reward_seen_end_);
  out.array<RewardMeans>(rewards_);
  out.array<double>(arrivals_);
  out.array<std::uint8_t>(departed_);
  out.array<std::uint8_t>(ended_there_);
  out.value(num_arrivals_);
  out.value(num_ends_);
  out.value(num_departed_);
  out.value(seen_end_rewards_);
  out.value(end_rewards_);
  out.array<std::uint32_t>(slot_);
  out.array<std::uint8_t>(says_end_);
  out.array<RowPrior::Evidence>(end_evidence_);
  out.array<RowPrior::Evidence>(successor_evidence_);
  for (const RowPrior& prior : end_priors_) prior.save(out);
  successor_prior_.save(out);
  end_alone_.save(out);
  successor_alone_.save(out);
  regression_.save(out);
  out.value(reward_fit_);
  out.value(reward_alone_);
  out.value(patience_is_over_);
  out.value(base_end_);
}

void BayesModel::load(ArchiveReader& in) {
  low_samples_ = in.value<std::uint32_t>();
  low_chance_of_any_end_ = in.value<double>();
  low_mean_go_pays_ = in.value<double>();
  low_counts_.load(in, use_low_ ? pair_.low().num_states() : 0);
  low_end_counts_.load(in, use_low_ ? pair_.low().num_states() : 0);
  in.array<std::uint8_t>("number of low-fidelity states", no_end_);
  in.array<std::uint32_t>("number of low-fidelity pairs", low_ends_);
  in.array<double>("number of low-fidelity pairs", low_reward_go_);
  in.array<double>("number of low-fidelity pairs", low_reward_end_);
  counts_.load(in, pair_.high().num_states());
  in.array<std::uint32_t>("number of pairs", ends_);
  in.array<double>("number of pairs", low_reward_seen_end_);
  in.array<RewardMeans>("number of pairs", rewards_);
  in.array<double>("number of states", arrivals_);
  in.array<std::uint8_t>("number of states", departed_);
  in.array<std::uint8_t>("number of states", ended_there_);
  num_arrivals_ = in.value<double>();
  num_ends_ = in.value<double>();
  num_departed_ = in.value<double>();
  seen_end_rewards_ = in.value<Moments>();
  end_rewards_ = in.value<Moments>();
  in.array<std::uint32_t>("number of pairs", slot_);
  says_end_ = in.list<std::uint8_t>("number of pairs seen", slot_.size());
  end_evidence_ = in.list<RowPrior::Evidence>("number of pairs seen", slot_.size());
  successor_evidence_ = in.list<RowPrior::Evidence>("number of pairs seen", slot_.size());
  if (successor_evidence_.size() != end_evidence_.size() ||
      says_end_.size() != end_evidence_.size())
    in.mismatch("number of pairs seen");
  for (const std::uint32_t slot : slot_)
    require_within("saved slot", std::uint64_t{slot}, 0, end_evidence_.size(), Errc::data);
  for (RowPrior& prior : end_priors_) prior.load(in);
  successor_prior_.load(in);
  end_alone_.load(in);
  successor_alone_.load(in);
  regression_.load(in);
  reward_fit_ = in.value<RewardFit>();
  reward_alone_ = in.value<RewardFit>();
  patience_is_over_ = in.flag("patience");
  base_end_ = in.value<double>();
}

}  // namespace hilo
