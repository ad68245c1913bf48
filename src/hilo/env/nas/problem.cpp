#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/core/moments.hpp"
#include "hilo/env/detail/kinds.hpp"
#include "hilo/env/nas/environment.hpp"
#include "hilo/env/nas/search.hpp"
#include "hilo/env/nas/stand_in.hpp"
#include "hilo/env/nas/table.hpp"
#include "hilo/env/one_path_simulator.hpp"

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

// Records what an architecture search costs and finds: the architectures trained in each fidelity,
// and the best of those trained in the high fidelity. Two searches without learning, which train as
// many architectures in the high fidelity, are recorded for comparison.
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

  // The two searches are not saved: they depend only on the seed and the budget, and are repeated.
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
            const auto mark = [trained, low](const Step& step) {
              (*trained)[low.architecture_of(step.next)] = 1;
            };
            Fidelities watched(high, make_watched_simulator(low, mark), map);
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

// Hashes only the values used: the order of the lines and other columns do not matter.
std::string hash_content(const Parameters& p, bool with_low) {
  if (p.text("table") == kStandIn) return std::string(kStandInName);
  std::vector<std::string> names = {p.text("high")};
  if (with_low) names.push_back(p.text("low"));
  std::string bytes;
  for (const Accuracies& column : columns_of(p, names))
    for (const double value : *column) bytes += fmt::format("{}\n", value);
  return hash_hex(bytes);
}

std::string lacks(std::string_view feature, const Parameters& /*p*/) {
  if (feature != kRollOutsByActionZero) return "";
  return "does not belong to nas-bench-201, where low_policy must be 'policy': the published "
         "synthetic runs took action 0 by accident, the published architecture searches followed "
         "the policy";
}

std::vector<ParameterInfo> parameters() {
  return {{.name = "table",
           .description = "CSV or CSV.gz of accuracies, or stand-in",
           .default_value = kStandIn},
          {.name = "high",
           .description = "the table's column for the high fidelity",
           .default_value = "in16_valid200_s888"},
          {.name = "low",
           .description = "the table's column for the low fidelity",
           .default_value = "in16_valid12",
           .low_fidelity_only = true},
          {.name = "case",
           .description = "i: the same space; ii: the first edge removed",
           .default_value = "i",
           .choices = {"i", "ii"},
           .low_fidelity_only = true},
          {.name = "scale",
           .description = "unit of the accuracies in the table",
           .default_value = "percent",
           .choices = {"percent", "fraction"}},
          {.name = "high_epochs",
           .description = "training epochs behind a high-fidelity accuracy",
           .default_value = std::int64_t{200},
           .low = 0,
           .high = 1e6},
          {.name = "low_epochs",
           .description = "training epochs behind a low-fidelity accuracy",
           .default_value = std::int64_t{12},
           .low = 0,
           .high = 1e6,
           .low_fidelity_only = true},
          {.name = "stand_in_correlation",
           .description = "correlation of the two fidelities of the stand-in",
           .default_value = 0.9,
           .low = 0,
           .high = 1,
           .low_fidelity_only = true}};
}

std::vector<FactInfo> observed() {
  using enum Better;
  using enum Measured;
  return {{"architectures_high", "distinct architectures trained in the high fidelity", "", lower,
           at_tests},
          {"architectures_low", "distinct architectures trained in the low fidelity", "", lower,
           at_tests},
          {"training_epochs", "epochs of all of them together", "", lower, at_tests},
          {"best_accuracy", "best accuracy of those trained in the high fidelity", "accuracy, %",
           higher, at_tests},
          {"random_search_best", "the same for random search that trains as many", "accuracy, %",
           higher, at_tests},
          {"evolution_best", "the same for regularised evolution", "accuracy, %", higher, at_tests},
          {"best_architecture", "number of the best architecture", "", neither, at_end},
          {"best_rank", "its rank among all, 1 for the best", "", lower, at_end}};
}

}  // namespace

ProblemKind nas_kind() {
  return {.name = "nas-bench-201",
          .description = "architecture search in NAS-Bench-201, accuracies from a table",
          .parameters = parameters(),
          .build_high = build_high,
          .build = build_pair,
          .content_hash = hash_content,
          .file_parameters = {"table", "scale"},
          .lacks = lacks,
          .judged_by_mean_reward = true,
          .observed = observed(),
          .same_for_all_seeds = true};
}

}  // namespace hilo
