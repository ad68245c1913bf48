#include "hilo/env/nas_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/core/moments.hpp"
#include "hilo/env/bulk.hpp"
#include "hilo/env/nas.hpp"
#include "hilo/env/nas_search.hpp"
#include "hilo/env/nas_stand_in.hpp"
#include "hilo/env/nas_table.hpp"

namespace hilo {
namespace {

constexpr const char* kStandIn = "stand-in";

bool is_reduced(const Parameters& p) { return p.text("case") == "ii"; }

std::vector<Accuracies> columns_of(const Parameters& p, const std::vector<std::string>& names) {
  if (p.text("table") != kStandIn)
    return load_accuracies(p.text("table"), names, accuracy_scale_from_name(p.text("scale")));
  std::vector<Accuracies> out;
  for (const std::string& name : names)
    out.push_back(stand_in_accuracies(name, p.number("stand_in_correlation")));
  return out;
}

HighSimulator build_high(const Parameters& p, std::uint64_t /*seed*/) {
  return make_simulator(
      NasEnvironment(NasSpace(), columns_of(p, {p.text("high")})[0], nasbench201::kStart));
}

// What an architecture search costs and finds: architectures trained in either fidelity, and the
// best of those trained in the high one, beside two searches without learning that train as many.
class NasObserver final : public RunObserver {
 public:
  NasObserver(Fidelities pair, std::shared_ptr<std::vector<std::uint8_t>> low_trained,
              Accuracies high, double high_epochs, double low_epochs, std::uint64_t seed)
      : pair_(std::move(pair)),
        low_trained_(std::move(low_trained)),
        accuracies_(high),
        high_trained_(high),
        high_epochs_(high_epochs),
        low_epochs_(low_epochs),
        random_(high, seed),
        evolution_(NasSpace(), high, seed) {}

  const Fidelities& pair() const override { return pair_; }

  void see(const Episode& episode) override {
    const std::uint32_t num_nodes = NasSpace().edges() + 1;
    for (std::size_t t = 1; t <= episode.length(); ++t)
      high_trained_.train(episode.states[t] / num_nodes);
  }

  std::vector<Fact> at_test() override {
    const auto high = static_cast<double>(high_trained_.count());
    const auto low = static_cast<double>(std::ranges::count(*low_trained_, 1));
    if (high_trained_.count() == 0) return {};
    return {{"architectures_high", high},
            {"architectures_low", low},
            {"training_epochs", high * high_epochs_ + low * low_epochs_},
            {"best_accuracy", high_trained_.best_accuracy()},
            {"random_search_best", random_.run_to(high_trained_.count())},
            {"evolution_best", evolution_.run_to(high_trained_.count())}};
  }

  std::vector<Fact> at_end() override {
    const double best = high_trained_.best_accuracy();
    const auto better =
        std::ranges::count_if(*accuracies_, [&](double accuracy) { return accuracy > best; });
    return {{"best_architecture", static_cast<double>(high_trained_.best())},
            {"best_rank", static_cast<double>(better + 1)}};
  }

  // The two searches are functions of the seed and of how far they went: they go there again.
  void save(ArchiveWriter& out) const override {
    out.array<std::uint8_t>(*low_trained_);
    high_trained_.save(out);
  }
  void load(ArchiveReader& in) override {
    in.array<std::uint8_t>("number of architectures", *low_trained_);
    high_trained_.load(in);
  }

 private:
  Fidelities pair_;
  std::shared_ptr<std::vector<std::uint8_t>> low_trained_;  // marked by the low fidelity
  Accuracies accuracies_;
  TrainedArchitectures high_trained_;
  double high_epochs_, low_epochs_;
  RandomSearch random_;
  RegularisedEvolution evolution_;
};

// Pearson's correlation of two columns over all architectures.
double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  CoMoments moments;
  for (std::size_t i = 0; i < x.size(); ++i) moments.add(x[i], y[i]);
  return moments.covariance() / std::sqrt(moments.variance_x() * moments.variance_y());
}

template <class Environment>
Problem make_problem(const Parameters& p, const HighSimulator& high, const Accuracies& high_column,
                     const Accuracies& low_column, const Environment& low, const StateMap& map) {
  const double high_epochs = static_cast<double>(p.integer("high_epochs"));
  const double low_epochs = static_cast<double>(p.integer("low_epochs"));
  return {.pair = Fidelities(high, make_simulator(low), map),
          .facts = {{"accuracy_correlation", correlation(*high_column, *low_column)},
                    {"best_accuracy_of_all", *std::ranges::max_element(*high_column)},
                    {"stand_in", p.text("table") == kStandIn ? 1.0 : 0.0}},
          .memory_bytes =
              2 * high_column->size() * sizeof(double) + map.num_high_states() * 3 * sizeof(State),
          .watch = [=](std::uint64_t seed) -> std::unique_ptr<RunObserver> {
            auto trained = std::make_shared<std::vector<std::uint8_t>>(high_column->size(), 0);
            Fidelities watched(high, make_simulator(low.watched(trained->data())), map);
            return std::make_unique<NasObserver>(std::move(watched), trained, high_column,
                                                 high_epochs, low_epochs, seed);
          }};
}

Problem build_pair(const Parameters& p, std::uint64_t /*seed*/, const HighSimulator& high) {
  const NasSpace space;
  const auto columns = columns_of(p, {p.text("high"), p.text("low")});
  if (is_reduced(p))
    return make_problem(
        p, high, columns[0], columns[1],
        ReducedNasEnvironment(space, columns[1], nasbench201::kStart, nasbench201::kNone),
        ReducedNasEnvironment::map(space));
  return make_problem(p, high, columns[0], columns[1],
                      NasEnvironment(space, columns[1], nasbench201::kStart),
                      StateMap::identity(high->num_states()));
}

// The values count, not the order of the lines or what else is in the file.
std::string hash_content(const Parameters& p, bool with_low) {
  if (p.text("table") == kStandIn) return std::string(kStandInName);
  std::vector<std::string> names = {p.text("high")};
  if (with_low) names.push_back(p.text("low"));
  std::string bytes;
  for (const Accuracies& column : columns_of(p, names))
    for (const double value : *column) bytes += fmt::format("{}\n", value);
  return hash_hex(bytes);
}

void check_agent(const std::map<std::string, Value>& agent) {
  const auto low_policy = agent.find("low_policy");
  if (low_policy != agent.end() && low_policy->second == Value(std::string("action-0")))
    throw Error(Errc::spec,
                "low_policy is 'action-0', but on nas-bench-201 it must be 'policy': the published "
                "synthetic runs took action 0 by accident, the published architecture searches "
                "followed the policy (for their pool set pool = \"first-visits\")");
}

}  // namespace

ProblemKind nas_problem_kind() {
  return {.name = "nas-bench-201",
          .description = "architecture search in NAS-Bench-201, accuracies from a table",
          .parameters =
              {
                  {"table", "CSV or CSV.gz of accuracies, or stand-in", "stand-in", 0, 0, {}},
                  {"high", "its column for the high fidelity", "in16_valid200_s888", 0, 0, {}},
                  {"low", "its column for the low fidelity", "in16_valid12", 0, 0, {}, true},
                  {"case",
                   "i: the same space; ii: the first edge removed",
                   "i",
                   0,
                   0,
                   {"i", "ii"},
                   true},
                  {"scale",
                   "in what the table has accuracies",
                   "percent",
                   0,
                   0,
                   {"percent", "fraction"}},
                  {"high_epochs",
                   "training epochs behind a high-fidelity accuracy",
                   std::int64_t{200},
                   0,
                   1e6,
                   {}},
                  {"low_epochs",
                   "training epochs behind a low-fidelity one",
                   std::int64_t{12},
                   0,
                   1e6,
                   {},
                   true},
                  {"stand_in_correlation",
                   "of the two fidelities of the stand-in",
                   0.9,
                   0,
                   1,
                   {},
                   true},
              },
          .build_high = build_high,
          .build = build_pair,
          .content_hash = hash_content,
          .file_parameters = {"table", "scale"},
          .check_agent = check_agent,
          .same_for_all_seeds = true};
}

}  // namespace hilo
