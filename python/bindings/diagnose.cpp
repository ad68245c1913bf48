#include "hilo/diagnose/diagnosis.hpp"

#include "bindings.hpp"
#include "hilo/experiment/train.hpp"
#include "hilo/report/diagnosis_report.hpp"
#include "polling.hpp"

namespace hilo::python {
namespace {

std::string run_diagnosis(const Fidelities& pair, const QTable* policy, const PilotOptions& options,
                          const DiagnosisPlan& plan, const std::string& name,
                          const nb::object& progress) {
  if ((plan.cost_high > 0) != (plan.cost_low > 0))
    throw Error(Errc::usage, "cost_high and cost_low belong together");
  const QTable q =
      policy != nullptr ? *policy : QTable(pair.high().num_states(), pair.num_actions());
  if (q.num_states() != pair.high().num_states() || q.num_actions() != pair.num_actions())
    throw Error(Errc::usage,
                "the policy does not have the states and actions of the high fidelity");
  Diagnosis diagnosis;
  std::atomic<std::uint32_t> done = 0;
  run_polling(
      [&](const std::function<bool()>& keep_going) {
        const Pilot pilot = run_pilot(pair, q, options, [&] {
          ++done;
          return keep_going();
        });
        if (pilot.episodes > 0 && pilot.returns.empty())
          throw Error(Errc::simulator,
                      "all episodes of the pilot were cut (max_steps is " +
                          std::to_string(options.max_steps) +
                          ") and dropped, so that nothing can be said; does the environment ever "
                          "end? Raise max_steps, or set truncation = \"terminal\"");
        if (!keep_going()) throw Interrupted();
        diagnosis = diagnose(pair, pilot, plan);
      },
      [&] {
        if (!progress.is_none()) progress(done.load(), options.episodes);
      });
  return to_json_text(diagnosis, {.experiment = name,
                                  .problem = name,
                                  .seed = options.seed,
                                  .policy = policy != nullptr ? "given" : "uniform",
                                  .agent = "empirical-bayes"});
}

}  // namespace

void bind_diagnose(nb::module_& m) {
  m.def(
      "run_diagnosis",
      [](const Fidelities& pair, const QTable* policy, std::uint32_t episodes,
         std::uint32_t low_rollouts, double gamma, double epsilon, std::uint32_t max_steps,
         const std::string& truncation, std::uint64_t seed, std::uint64_t train_episodes,
         double returns, double cost_high, double cost_low, const std::string& name,
         const nb::object& progress) {
        return run_diagnosis(pair, policy,
                             {.episodes = episodes,
                              .low_rollouts = low_rollouts,
                              .gamma = gamma,
                              .epsilon = epsilon,
                              .max_steps = max_steps,
                              .truncation = truncation_from_name(truncation),
                              .seed = seed},
                             {.train_episodes = train_episodes,
                              .returns = returns,
                              .cost_high = cost_high,
                              .cost_low = cost_low},
                             name, progress);
      },
      "pair"_a, "policy"_a.none(), "episodes"_a, "low_rollouts"_a, "gamma"_a, "epsilon"_a,
      "max_steps"_a, "truncation"_a, "seed"_a, "train_episodes"_a, "returns"_a, "cost_high"_a,
      "cost_low"_a, "name"_a, "progress"_a.none(),
      "The pilot study and its verdict as JSON. Use hilo.diagnose.");
}

}  // namespace hilo::python
