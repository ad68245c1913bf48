#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/checks.hpp"
#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/report_text.hpp"
#include "hilo/core/error.hpp"
#include "hilo/estimator/bounds.hpp"
#include "hilo/estimator/costs.hpp"
#include "hilo/report/results.hpp"

namespace hilo::cli {
namespace {

struct Options {
  std::optional<double> sd, correlation, gamma, error;
  double confidence = 0.95;
  std::vector<double> rewards, low_rewards, gaps;
  double returns = 100;
  double cost_high = 0, cost_low = 0;
  std::string store, experiment, agent;
  std::optional<double> bias;  // exact, root mean square, from the store
  bool json = false;
};

// Takes values that no flag gives from the measurements in a store.
void read_store(Options& options) {
  if (options.store.empty()) return;
  const Store store = Store::open_to_read(options.store);
  const auto experiments = store.experiments();
  if (experiments.empty())
    throw Error(Errc::usage, fmt::format("{}: the store is empty", options.store));
  if (options.experiment.empty()) options.experiment = experiments[0];
  require_experiment(store, options.store, options.experiment);
  const Results results(store, options.experiment);
  if (const auto& agents = results.agents();
      !options.agent.empty() &&
      std::find(agents.begin(), agents.end(), options.agent) == agents.end())
    throw Error(Errc::usage, fmt::format("{}: there is no agent '{}'{}", options.store,
                                         options.agent, did_you_mean(options.agent, agents)));
  const auto pick = [&](const char* metric) -> std::optional<double> {
    for (const std::string& agent : results.agents()) {
      if (!options.agent.empty() && agent != options.agent) continue;
      const BySeed& seeds = results.final_of(agent, metric);
      if (!seeds.empty()) return summarise(values_of(seeds)).mean;
    }
    return std::nullopt;
  };
  if (!options.sd) options.sd = pick("return_sd");
  options.bias = pick("bias_rms");
  if (!options.correlation) options.correlation = pick("correlation");
  if (!options.gamma && !results.agents().empty())
    options.gamma = results.configuration_of(results.agents()[0]).number("train.gamma");
}

// Theorem 1. Without the range of the rewards: the counts of Lemma 1 and the largest b for which
// they hold.
nlohmann::json returns_needed(const Options& o) {
  const double delta = 1 - o.confidence;
  const double variance = *o.sd * *o.sd;
  const double rho = o.correlation.value_or(0);
  nlohmann::json out = {{"error", *o.error}, {"confidence", o.confidence}};
  if (o.rewards.empty()) {
    out["plain"] = samples_needed_within_lemma_1(variance, *o.error, delta);
    if (o.correlation)
      out["corrected"] = samples_needed_within_lemma_1((1 - rho * rho) * variance, *o.error, delta);
    // Lemma 1 needs xi <= sigma^2 / b, where sigma^2 and b are those of the terms that are
    // averaged.
    out["plain_holds_if_b_at_most"] = variance / *o.error;
    if (o.correlation) out["corrected_holds_if_b_at_most"] = (1 - rho * rho) * variance / *o.error;
    return out;
  }
  const double gamma = o.gamma.value_or(0.99);
  const double b = return_bound(o.rewards[0], o.rewards[1], gamma);
  const auto& low = o.low_rewards.empty() ? o.rewards : o.low_rewards;
  const double b_low = return_bound(low[0], low[1], gamma);
  if (*o.sd > b)
    throw Error(Errc::usage,
                fmt::format("--sd is {}, but returns of such --rewards are at most {:.4g} "
                            "from their mean",
                            *o.sd, b));
  const Bounded plain{variance, b};
  // alpha = rho sigma_hi / sigma_lo; sigma_lo is not known here and taken to equal sigma_hi.
  const Bounded corrected = control_variate_of(plain, rho, rho, b_low);
  out["b"] = b;
  out["plain"] = samples_needed(plain, *o.error, delta);
  out["plain_within_lemma_1"] = *o.error <= range_of_lemma_1(plain);
  if (o.correlation && corrected.variance > 0) {
    out["corrected"] = samples_needed(corrected, *o.error, delta);
    out["corrected_within_lemma_1"] = *o.error <= range_of_lemma_1(corrected);
  }
  return out;
}

nlohmann::json greedy_is_best(const Options& o) {
  const auto bound = [&](double factor) {
    const double variance = factor * *o.sd * *o.sd / o.returns;
    std::vector<Rival> rivals;
    for (const double gap : o.gaps) rivals.push_back({gap, variance});
    return greedy_is_best_bound(variance, rivals);
  };
  const double rho = o.correlation.value_or(0);
  return {{"returns", o.returns},
          {"gaps", o.gaps},
          {"plain", bound(1)},
          {"corrected", bound(1 - rho * rho)}};
}

nlohmann::json costs(const Options& o) {
  const double rho = *o.correlation;
  nlohmann::json out = {{"correlation", rho}};
  const double break_even = break_even_cost_ratio(rho);
  out["break_even_ratio"] = std::isfinite(break_even) ? nlohmann::json(break_even) : nullptr;
  if (o.cost_high > 0 && o.cost_low > 0) {
    const double w = o.cost_high / o.cost_low;
    out["ratio"] = w;
    const double best = best_ratio(rho, w);
    out["best_low_per_high"] = std::isfinite(best) ? nlohmann::json(best) : nullptr;
    out["error_at_equal_cost"] = error_at_equal_cost(rho, w);
    out["pays"] = error_at_equal_cost(rho, w) < 1;
  }
  return out;
}

void print_needed(const nlohmann::json& j) {
  const auto form = [&](const char* key) {
    if (!j.contains(key)) return "";
    return j[key].get<bool>() ? "" : " (beyond the range of Lemma 1, by its extension)";
  };
  fmt::print("Returns of a pair for an error of at most {} with probability {} (Theorem 1):\n",
             j["error"].get<double>(), j["confidence"].get<double>());
  fmt::print("  plain Monte Carlo       {:.0f}{}\n", j["plain"].get<double>(),
             form("plain_within_lemma_1"));
  if (j.contains("corrected"))
    fmt::print("  unbiased correction     {:.0f}{}\n", j["corrected"].get<double>(),
               form("corrected_within_lemma_1"));
  if (j.contains("plain_holds_if_b_at_most")) {
    fmt::print("  if no return is further than {:.4g} from its mean",
               j["plain_holds_if_b_at_most"].get<double>());
    if (j.contains("corrected_holds_if_b_at_most"))
      fmt::print(", and no corrected one further than {:.4g}",
                 j["corrected_holds_if_b_at_most"].get<double>());
    fmt::print("; --rewards MIN MAX checks that, and counts again where it does not hold\n");
  }
}

void print_costs(const nlohmann::json& j) {
  fmt::print("Costs at a correlation of {:.3f}, for a low fidelity without bias:\n",
             j["correlation"].get<double>());
  if (j["break_even_ratio"].is_null())
    fmt::print("  never pays\n");
  else
    fmt::print("  pays if a high-fidelity return costs more than {:.3g} low-fidelity ones\n",
               j["break_even_ratio"].get<double>());
  if (!j.contains("ratio")) return;
  fmt::print("  at {:.3g}: squared error {:.3f} times that of plain Monte Carlo for the same money",
             j["ratio"].get<double>(), j["error_at_equal_cost"].get<double>());
  if (!j["best_low_per_high"].is_null())
    fmt::print(", with {:.1f} low-fidelity returns for each high-fidelity one",
               j["best_low_per_high"].get<double>());
  fmt::print("; it {}\n", j["pays"].get<bool>() ? "pays" : "does not pay");
}

int run(Options options) {
  read_store(options);
  const auto need = [](bool ok, const char* flag) {
    if (!ok)
      throw Error(Errc::usage,
                  fmt::format("{} is needed, or a --store with its measurement", flag));
  };
  if ((options.cost_high > 0) != (options.cost_low > 0))
    throw Error(Errc::usage, "--cost-high and --cost-low belong together");
  if (options.store.empty() && !(options.experiment.empty() && options.agent.empty()))
    throw Error(Errc::usage, "--experiment and --agent need a --store, which is not given");
  const bool wants_costs = options.correlation.has_value();
  if (!options.error && options.gaps.empty() && !wants_costs)
    throw Error(Errc::usage,
                "nothing to plan: give --error for the returns needed, --gap for the chance that "
                "the greedy action is best, --correlation for costs, or a --store");
  nlohmann::json all;
  if (options.sd) all["sd"] = *options.sd;
  if (options.correlation) all["correlation"] = *options.correlation;
  if (options.error) {
    need(options.sd.has_value(), "--sd");
    all["returns_needed"] = returns_needed(options);
  }
  if (!options.gaps.empty()) {
    need(options.sd.has_value(), "--sd");
    all["greedy_is_best"] = greedy_is_best(options);
  }
  if (wants_costs) all["costs"] = costs(options);
  if (options.json) {
    fmt::print("{}\n", json_text(all));
    return 0;
  }
  if (!options.store.empty())
    fmt::print("from {}, experiment {}{}\n", options.store, options.experiment,
               options.agent.empty() ? "" : ", " + options.agent);
  if (options.bias)
    fmt::print(
        "The correction there is not unbiased: its exact bias is {:.3g}, which no number of "
        "returns takes away; hilo diagnose weighs it.\n",
        *options.bias);
  if (all.contains("sd")) fmt::print("standard deviation of a return: {:.4g}\n", *options.sd);
  if (all.contains("returns_needed")) print_needed(all["returns_needed"]);
  if (all.contains("greedy_is_best"))
    fmt::print(
        "Chance that the best action looks best after {:g} returns each, at least "
        "(Theorem 2, returns of different actions from different episodes):\n"
        "  plain Monte Carlo       {:.4f}\n  unbiased correction     {:.4f}\n",
        options.returns, all["greedy_is_best"]["plain"].get<double>(),
        all["greedy_is_best"]["corrected"].get<double>());
  if (all.contains("costs")) print_costs(all["costs"]);
  return 0;
}

}  // namespace

Handler add_plan(App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("--sd", options->sd, "standard deviation of a high-fidelity return")
      .check(positive_number());
  app.add_option("--correlation", options->correlation,
                 "correlation of high- and low-fidelity returns")
      .check(number_in({.low = -1, .high = 1}));
  Option error =
      app.add_option("--error", options->error, "largest acceptable error of an estimated value");
  error.check(positive_number());
  app.add_option("--confidence", options->confidence, "probability that the error is not larger")
      .capture_default_str()
      .check(number_in({.low = 0, .high = 1, .open_low = true, .open_high = true}))
      .needs(error);
  Option rewards =
      app.add_option("--rewards", options->rewards, "smallest and largest high-fidelity reward")
          .expected(2)
          .check(number_in({}))
          .needs(error);
  app.add_option("--low-rewards", options->low_rewards,
                 "smallest and largest low-fidelity reward; default: as --rewards")
      .expected(2)
      .check(number_in({}))
      .needs(rewards);
  app.add_option("--gamma", options->gamma, "discount; default 0.99, or the store's")
      .check(number_in({.low = 0, .high = 1, .open_high = true}))
      .needs(rewards);
  Option gap =
      app.add_option("--gap", options->gaps,
                     "how much worse another action is than the best; once for each such action");
  gap.check(positive_number());
  app.add_option("--returns", options->returns, "number of returns of every action, for --gap")
      .capture_default_str()
      .check(positive_number())
      .needs(gap);
  app.add_option("--cost-high", options->cost_high, "cost of a high-fidelity return, in any unit")
      .check(positive_number());
  app.add_option("--cost-low", options->cost_low, "cost of a low-fidelity return, in the same unit")
      .check(positive_number());
  app.add_option("--store", options->store, "store with results, for values that are not given");
  app.add_option("--experiment", options->experiment,
                 "experiment of the store; default: the first");
  app.add_option("--agent", options->agent,
                 "agent of the experiment; default: the first with the value");
  app.add_flag("--json", options->json, "print JSON");
  add_example(app,
              "hilo plan --sd 5.8 --correlation 0.97 --error 0.5 --cost-high 100 --cost-low 1");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
