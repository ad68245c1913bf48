#include "hilo/env/tabular_mdp.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "hilo/core/error.hpp"
#include "hilo/env/detail/tabular_simulator.hpp"
#include "hilo/env/inverse_cdf.hpp"
#include "hilo/env/one_path_simulator.hpp"

namespace hilo {
namespace {

constexpr std::size_t kNarrowStates = 1U << 16;
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

void require_sum_of_one(const std::string& what, double sum) {
  if (!(std::abs(sum - 1) <= kSumTolerance))
    throw Error(Errc::data,
                fmt::format("{}: probabilities sum to {}, but must sum to 1 (within {})", what, sum,
                            kSumTolerance));
}

}  // namespace

void TabularMdp::outcomes(State s, Action a, std::vector<Outcome>& out) const {
  const Row& r = row(s, a);
  out.resize(r.size);
  for (std::size_t i = 0; i < r.size; ++i)
    out[i] = {.next = successor(r.offset + i),
              .probability = probabilities_[r.offset + i],
              .reward = rewards_depend_on_next() ? transition_rewards_[r.offset + i] : r.reward};
}

std::size_t TabularMdp::find(const Row& r, State next) const {
  std::size_t first = r.offset;
  std::size_t last = first + r.size;
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    if (successor(middle) < next)
      first = middle + 1;
    else
      last = middle;
  }
  return first < r.offset + r.size && successor(first) == next ? first : kNowhere;
}

// A path of another fidelity may take a step that is impossible here: then the expected reward of
// (s, a) is used.
double TabularMdp::reward(State s, Action a, State next) const {
  const Row& r = row(s, a);
  if (!rewards_depend_on_next()) return r.reward;
  const std::size_t i = find(r, next);
  return i == kNowhere ? r.reward : transition_rewards_[i];
}

std::size_t TabularMdp::memory_bytes() const {
  const auto bytes = [](const auto& v) { return v.size() * sizeof(v[0]); };
  return bytes(rows_) + bytes(narrow_) + bytes(wide_) + bytes(probabilities_) +
         bytes(transition_rewards_) + bytes(terminal_) + bytes(goes_on_) + bytes(start_) +
         bytes(start_alias_);
}

template <class Index>
TabularSampler<Index>::TabularSampler(std::shared_ptr<const TabularMdp> mdp)
    : mdp_(std::move(mdp)),
      rows_(mdp_->rows_.data()),
      terminal_(mdp_->terminal_.data()),
      num_actions_(mdp_->num_actions_),
      by_next_(mdp_->rewards_depend_on_next()) {
  if constexpr (sizeof(Index) == 2)
    alias_ = mdp_->narrow_.data();
  else
    alias_ = mdp_->wide_.data();
}

Sampling sampling_from_name(std::string_view name) {
  if (name == "alias") return Sampling::alias;
  if (name == "inverse-cdf") return Sampling::inverse_cdf;
  throw Error(Errc::spec, fmt::format("sampling is '{}', but must be alias or inverse-cdf", name));
}

std::shared_ptr<const Simulator> make_simulator(std::shared_ptr<const TabularMdp> mdp,
                                                Sampling sampling) {
  if (sampling == Sampling::inverse_cdf) return make_simulator(InverseCdfSampler(std::move(mdp)));
  if (mdp->num_states() <= kNarrowStates)
    return mdp->rewards_depend_on_next()
               ? make_simulator(TabularSampler<std::uint16_t>(std::move(mdp)))
               : std::make_shared<const TabularSimulator>(std::move(mdp));
  return make_simulator(TabularSampler<std::uint32_t>(std::move(mdp)));
}

TabularBuilder::TabularBuilder(std::size_t num_states, std::size_t num_actions,
                               std::span<const State> terminal)
    : mdp_(new TabularMdp) {
  require_within("number of states", num_states, 2, kMaxTableSize, Errc::data);
  require_within("number of actions", num_actions, 1, kMaxTableSize / num_states, Errc::data);
  mdp_->num_actions_ = num_actions;
  mdp_->rows_.reserve(num_states * num_actions);
  mdp_->terminal_.assign(num_states, 0);
  mdp_->goes_on_.assign(num_states, 1);
  for (const State s : terminal) {
    require_within("terminal state", std::uint64_t{s}, 0, num_states - 1, Errc::data);
    mdp_->terminal_[s] = 1;
    mdp_->goes_on_[s] = 0;
  }
}

void TabularBuilder::reserve(std::size_t num_nonzeros) {
  mdp_->probabilities_.reserve(num_nonzeros);
  if (mdp_->num_states() <= kNarrowStates)
    mdp_->narrow_.reserve(num_nonzeros);
  else
    mdp_->wide_.reserve(num_nonzeros);
}

void TabularBuilder::require_not_built() const {
  if (!mdp_) throw Error(Errc::usage, "this builder has built its MDP already");
}

State TabularBuilder::current_state() const {
  require_not_built();
  return static_cast<State>(mdp_->rows_.size() / mdp_->num_actions_);
}

void TabularBuilder::check_row(std::span<const State> next, std::span<const double> probability,
                               double reward) const {
  const State s = current_state();
  const std::string where =
      fmt::format("state {}, action {}", s, mdp_->rows_.size() % mdp_->num_actions_);
  if (s >= mdp_->num_states()) throw Error(Errc::data, "more rows than states times actions");
  if (next.empty() || next.size() != probability.size())
    throw Error(Errc::data, fmt::format("{}: a row needs at least one successor and one "
                                        "probability for each",
                                        where));
  if (!std::isfinite(reward))
    throw Error(Errc::data, fmt::format("{}: reward is {}, but must be finite", where, reward));

  double sum = 0;
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (next[i] >= mdp_->num_states())
      throw Error(Errc::data, fmt::format("{}: successor is {}, but must be in [0, {}]", where,
                                          next[i], mdp_->num_states() - 1));
    if (i > 0 && next[i] <= next[i - 1])
      throw Error(Errc::data, fmt::format("{}: successor {} comes after {}, but successors must "
                                          "rise",
                                          where, next[i], next[i - 1]));
    if (!(probability[i] > 0 && probability[i] <= 1 + kSumTolerance))
      throw Error(Errc::data, fmt::format("{}: probability of successor {} is {}, but must be in "
                                          "(0, 1]",
                                          where, next[i], probability[i]));
    sum += probability[i];
  }
  require_sum_of_one(where, sum);
  if (mdp_->is_terminal(s) && (next.size() != 1 || next[0] != s))
    throw Error(Errc::data,
                fmt::format("{}: the state is terminal, but has a transition to state {}", where,
                            next[0] == s ? next.back() : next[0]));
  if (mdp_->is_terminal(s) && reward != 0)
    throw Error(Errc::data, fmt::format("{}: the state is terminal, but its reward is {} and not 0",
                                        where, reward));
}

void TabularBuilder::add_row(std::span<const State> next, std::span<const double> probability,
                             double reward) {
  check_row(next, probability, reward);
  TabularMdp& m = *mdp_;
  const std::size_t offset = m.probabilities_.size();
  if (offset + next.size() > std::numeric_limits<std::uint32_t>::max())
    throw Error(Errc::data, "more than 2^32 - 1 non-zero transition probabilities");

  const std::size_t size = next.size();
  m.probabilities_.insert(m.probabilities_.end(), probability.begin(), probability.end());
  if (m.num_states() <= kNarrowStates) {
    narrow_next_.resize(size);
    std::ranges::transform(next, narrow_next_.begin(),
                           [](State s) { return static_cast<std::uint16_t>(s); });
    m.narrow_.resize(offset + size);
    alias_.build<std::uint16_t>(probability, narrow_next_, std::span(m.narrow_).subspan(offset));
  } else {
    m.wide_.resize(offset + size);
    alias_.build<std::uint32_t>(probability, next, std::span(m.wide_).subspan(offset));
  }
  if (m.rewards_depend_on_next()) m.transition_rewards_.resize(offset + size, reward);
  m.rows_.push_back({.offset = static_cast<std::uint32_t>(offset),
                     .size = static_cast<std::uint32_t>(size),
                     .reward = reward});
}

void TabularBuilder::add_row(std::span<const Outcome> outcomes) {
  next_.clear();
  probability_.clear();
  double expected = 0;
  bool equal = true;
  for (const Outcome& o : outcomes) {
    next_.push_back(o.next);
    probability_.push_back(o.probability);
    expected += o.probability * o.reward;
    equal = equal && o.reward == outcomes[0].reward;
  }
  if (equal && !outcomes.empty()) {
    add_row(next_, probability_, outcomes[0].reward);
    return;
  }
  const std::size_t offset = mdp_->probabilities_.size();
  add_row(next_, probability_, expected);

  // At the first row whose rewards differ, the rewards of all rows before it are written out as
  // well.
  TabularMdp& m = *mdp_;
  if (!m.rewards_depend_on_next())
    for (const TabularMdp::Row& row : m.rows_)
      m.transition_rewards_.insert(m.transition_rewards_.end(), row.size, row.reward);
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    m.transition_rewards_[offset + i] = outcomes[i].reward;
}

void TabularBuilder::add_absorbing_row() {
  const State s = current_state();
  const double one = 1;
  add_row({&s, 1}, {&one, 1}, 0);
}

std::shared_ptr<const TabularMdp> TabularBuilder::build(std::span<const StartProbability> start) {
  require_not_built();
  TabularMdp& m = *mdp_;
  if (m.rows_.size() != m.num_states() * m.num_actions_)
    throw Error(Errc::data, fmt::format("{} rows were given, but {} states and {} actions need {}",
                                        m.rows_.size(), m.num_states(), m.num_actions_,
                                        m.num_states() * m.num_actions_));
  check_terminal_is_reachable();

  next_.clear();
  probability_.clear();
  double sum = 0;
  for (const auto& [state, probability] : start) {
    require_within("start state", std::uint64_t{state}, 0, m.num_states() - 1, Errc::data);
    if (m.is_terminal(state))
      throw Error(Errc::data, fmt::format("start state {} is terminal", state));
    if (!next_.empty() && state <= next_.back())
      throw Error(Errc::data,
                  fmt::format("start state {} comes after {}, but start states must rise", state,
                              next_.back()));
    if (!(probability > 0 && probability <= 1 + kSumTolerance))
      throw Error(Errc::data,
                  fmt::format("start state {}: probability is {}, but must be in (0, 1]", state,
                              probability));
    next_.push_back(state);
    probability_.push_back(probability);
    sum += probability;
  }
  require_sum_of_one("start distribution", sum);
  m.start_.assign(start.begin(), start.end());
  m.start_alias_.resize(start.size());
  alias_.build<std::uint32_t>(probability_, next_, m.start_alias_);
  return std::move(mdp_);
}

void TabularBuilder::check_terminal_is_reachable() const {
  const TabularMdp& m = *mdp_;
  if (std::ranges::find(m.terminal_, 1) == m.terminal_.end())
    throw Error(Errc::data, "there is no terminal state, so no episode can end");

  // One sweep is enough for dense problems. The states that it leaves open are searched backwards
  // from the states that reach a terminal one, along the transitions of the open states alone.
  std::vector<std::uint8_t> reaches = m.terminal_;
  std::vector<std::pair<State, State>> open_edges;  // (next, s)
  std::vector<State> found;
  for (State s = 0; s < m.num_states(); ++s) {
    if (reaches[s]) {
      found.push_back(s);
      continue;
    }
    const TabularMdp::Row& last_row = m.row(s, static_cast<Action>(m.num_actions_ - 1));
    const std::size_t first = m.row(s, 0).offset;
    const std::size_t last = last_row.offset + last_row.size;
    std::size_t i = first;
    while (i < last && !reaches[m.successor(i)]) ++i;
    if (i < last) {
      reaches[s] = 1;
      found.push_back(s);
    } else {
      for (i = first; i < last; ++i) open_edges.emplace_back(m.successor(i), s);
    }
  }
  std::ranges::sort(open_edges);
  while (!found.empty()) {
    const State next = found.back();
    found.pop_back();
    for (auto edge = std::ranges::lower_bound(open_edges, std::pair(next, State{0}));
         edge != open_edges.end() && edge->first == next; ++edge)
      if (!reaches[edge->second]) {
        reaches[edge->second] = 1;
        found.push_back(edge->second);
      }
  }
  const auto lost = std::ranges::find(reaches, 0);
  if (lost != reaches.end())
    throw Error(Errc::data, fmt::format("from state {} no terminal state can be reached, so its "
                                        "episodes would never end",
                                        lost - reaches.begin()));
}

template class TabularSampler<std::uint16_t>;
template class TabularSampler<std::uint32_t>;

}  // namespace hilo
