// A stranger's hilo: a problem, an agent, an estimator and a metric of their own, in one file and
// with one call for each, known to specs, stores, reports and `hilo list`.
#include <hilo/agent/catalogue.hpp>
#include <hilo/env/catalogue.hpp>
#include <hilo/env/one_path_simulator.hpp>
#include <hilo/estimator/estimator.hpp>
#include <hilo/experiment/metrics.hpp>
#include <hilo/program.hpp>

#include <algorithm>
#include <limits>

namespace {

// A walk on a line from the middle to one of its ends; the right one pays.
struct Walk {
  std::uint32_t length;
  double pay;

  std::size_t num_states() const { return length; }
  std::size_t num_actions() const { return 2; }
  bool is_terminal(hilo::State s) const { return s == 0 || s + 1 == length; }
  hilo::State reset(hilo::Rng&) const { return length / 2; }
  double reward(hilo::State, hilo::Action, hilo::State next) const {
    return next + 1 == length ? pay : 0;
  }
  hilo::Step step(hilo::State s, hilo::Action a, hilo::Rng& rng) const {
    const bool slips = rng.uniform() < 0.2;
    const hilo::State next = (a == 1) != slips ? s + 1 : s - 1;
    return {.next = next, .reward = reward(s, a, next), .done = is_terminal(next)};
  }
};

std::uint32_t length_of(const hilo::Parameters& p) {
  return static_cast<std::uint32_t>(p.integer("length"));
}

hilo::ProblemKind walk_kind() {
  return {.name = "walk",
          .description = "a walk on a line whose cheap copy pays too much",
          .parameters = {{.name = "length",
                          .description = "number of states",
                          .default_value = std::int64_t{7},
                          .low = 3,
                          .high = 1000},
                         {.name = "surplus",
                          .description = "what the cheap copy pays too much",
                          .default_value = 0.1,
                          .low = 0,
                          .high = 1,
                          .low_fidelity_only = true}},
          .build_high = [](const hilo::Parameters& p, std::uint64_t) -> hilo::HighSimulator {
            return hilo::make_simulator(Walk{length_of(p), 1});
          },
          .build = [](const hilo::Parameters& p, std::uint64_t,
                      const hilo::HighSimulator& high) -> hilo::Problem {
            const Walk cheap{length_of(p), 1 + p.number("surplus")};
            return {.pair = hilo::Fidelities(high, hilo::make_simulator(cheap)), .facts = {}};
          }};
}

// Remembers the last return of every pair, and nothing else.
class LastReturn final : public hilo::TabularAgent {
 public:
  LastReturn(const hilo::Fidelities& fidelities, double trust, const hilo::AgentSetting& setting)
      : q_(fidelities.high().num_states(), fidelities.num_actions()),
        trust_(trust),
        gamma_(setting.gamma),
        epsilon_(setting.epsilon) {}

  hilo::Behaviour behaviour() const override { return q_.behaviour(epsilon_); }
  hilo::LearnReport learn(const hilo::Episode& episode) override {
    double g = 0;
    for (std::size_t t = episode.length(); t-- > 0;) {
      g = gamma_ * g + episode.rewards[t];
      const hilo::State s = episode.states[t];
      const hilo::Action a = episode.actions[t];
      q_.set(s, a, (1 - trust_) * q_(s, a) + trust_ * g);
    }
    ++episodes_;
    return {};
  }
  const hilo::QTable& q() const override { return q_; }
  double standard_error(hilo::State, hilo::Action) const override {
    return std::numeric_limits<double>::infinity();
  }
  std::uint64_t episodes() const override { return episodes_; }
  std::vector<std::byte> save() const override {
    hilo::ArchiveWriter out("last-return", 1);
    out.value(episodes_);
    out.array<double>(q_.values());
    return out.finish();
  }
  void load(std::span<const std::byte> bytes) override {
    hilo::ArchiveReader in(bytes, "last-return", 1);
    const auto episodes = in.value<std::uint64_t>();
    std::vector<double> q(q_.values().size());
    in.array<double>("number of values", q);
    in.finish();
    q_.assign(q);
    episodes_ = episodes;
  }

 private:
  hilo::QTable q_;
  double trust_, gamma_, epsilon_;
  std::uint64_t episodes_ = 0;
};

hilo::AgentKind last_return_kind() {
  return {.name = "last-return",
          .display = "last return",
          .description = "values are the last returns, more or less",
          .parameters = {{.name = "trust",
                          .description = "in the last return",
                          .default_value = 0.5,
                          .low = 0,
                          .high = 1,
                          .in_label = "trust={}"}},
          .build = [](const hilo::Fidelities& fidelities, const hilo::Parameters& p,
                      const hilo::AgentSetting& setting) -> std::unique_ptr<hilo::TabularAgent> {
            return std::make_unique<LastReturn>(fidelities, p.number("trust"), setting);
          }};
}

// The mean of the high-fidelity returns and of what the low fidelity says.
class HalfWay final : public hilo::Estimator {
 public:
  hilo::CorrectedEstimate estimate(const hilo::Evidence& evidence) const override {
    return {.value = (evidence.paired.mean_x() + evidence.free.mean()) / 2, .corrected = true};
  }
  std::unique_ptr<hilo::Estimator> clone() const override {
    return std::make_unique<HalfWay>(*this);
  }
};

hilo::EstimatorKind half_way_kind() {
  return {
      .name = "half-way",
      .description = "half high, half low fidelity",
      .build = [](const hilo::EstimatorOptions&, std::size_t) -> std::unique_ptr<hilo::Estimator> {
        return std::make_unique<HalfWay>();
      }};
}

hilo::MetricKind best_value_kind() {
  hilo::MetricKind kind;
  kind.name = "best_value";
  kind.description = "the largest value of any pair";
  kind.better = hilo::Better::higher;
  kind.measure = [](const hilo::MetricView& view) -> std::optional<double> {
    double best = -std::numeric_limits<double>::infinity();
    for (const double q : view.agent.q().values()) best = std::max(best, q);
    return best;
  };
  return kind;
}

}  // namespace

int main(int argc, char** argv) {
  return hilo::run_program(argc, argv, [] {
    hilo::add_problem_kind(walk_kind());
    hilo::add_agent_kind(last_return_kind());
    hilo::add_estimator_kind(half_way_kind());
    hilo::add_metric_kind(best_value_kind());
  });
}
