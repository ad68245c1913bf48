#include "bindings.hpp"
#include "hilo/driver/evaluation_outcome.hpp"
#include "hilo/env/program/program_simulators.hpp"
#include "hilo/env/program/program_source.hpp"
#include "hilo/estimator/mfmc.hpp"
#include "hilo/estimator/mlblue.hpp"
#include "hilo/policy/policy_file.hpp"
#include "hilo/policy/program_policy.hpp"
#include "hilo/report/evaluation_report.hpp"
#include "polling.hpp"

namespace hilo::python {
namespace {

// Numbers of a point; those of a discrete space are one number.
std::vector<double> numbers_of(const Point& point, const Space& space) {
  if (space.is_discrete()) return {static_cast<double>(point.index())};
  return {point.coordinates().begin(), point.coordinates().end()};
}

void push(Points& points, const std::vector<double>& numbers, const Space& space) {
  if (!space.is_discrete())
    points.push_back(std::span<const double>(numbers));
  else if (numbers.size() == 1 && numbers[0] >= 0)
    points.push_back(static_cast<std::uint64_t>(numbers[0]));
  else
    throw Error(Errc::usage, "a number from 0 is needed for a space of numbered elements");
}

nb::object describe(const Space& space) {
  if (space.is_discrete()) return nb::int_(space.size());
  nb::list bounds;
  for (std::size_t i = 0; i < space.dimension(); ++i)
    bounds.append(nb::make_tuple(space.low()[i], space.high()[i]));
  return bounds;
}

// A program, one step at a time.
class ProgramSteps {
 public:
  explicit ProgramSteps(const NamedValues& options) {
    run_polling([&](const auto&) { source_ = ProgramSource::start(program_options(options)); },
                [] {});
  }

  std::vector<double> reset(std::uint32_t seed) {
    Points seen(source_->observation_space());
    run_polling(
        [&](const auto&) {
          const SourceEntry entry(*source_);
          source_->reset(seed, seen);
        },
        [] {});
    return first(seen);
  }

  bool put(const std::vector<double>& observation, std::uint32_t seed) {
    Points at(source_->observation_space());
    push(at, observation, source_->observation_space());
    bool ended = false;
    run_polling(
        [&](const auto&) {
          const SourceEntry entry(*source_);
          ended = source_->put(at[0], seed);
        },
        [] {});
    return ended;
  }

  nb::tuple step(const std::vector<double>& action) {
    Points chosen(source_->action_space()), seen(source_->observation_space());
    push(chosen, action, source_->action_space());
    SourceStep out;
    run_polling(
        [&](const auto&) {
          const SourceEntry entry(*source_);
          out = source_->step(chosen[0], seen);
        },
        [] {});
    return nb::make_tuple(first(seen), out.reward, out.ended, out.cut, out.cost);
  }

  const ProgramFacts& facts() const { return source_->facts(); }

 private:
  std::vector<double> first(const Points& seen) const {
    if (seen.size() != 1) throw Error(Errc::simulator, "a program must give one observation");
    require_in_space(source_->observation_space(), seen[0], "the observation");
    return numbers_of(seen[0], source_->observation_space());
  }

  std::shared_ptr<ProgramSource> source_;
};

Space space_from(const nb::handle& given) {
  std::uint64_t size = 0;
  if (nb::try_cast(given, size)) return Space::discrete(size);
  std::vector<double> low, high;
  for (const auto& [from, to] : nb::cast<std::vector<std::pair<double, double>>>(given)) {
    low.push_back(from);
    high.push_back(to);
  }
  return Space::box(low, high);
}

// A policy of hilo's own, one observation at a time.
class PolicySteps {
 public:
  explicit PolicySteps(std::shared_ptr<const Policy> policy) : policy_(std::move(policy)) {}

  void begin(std::uint32_t seed) {
    seed_ = seed;
    step_ = 0;
    run_polling([&](const auto&) { policy_->begin_path(seed); }, [] {});
  }

  std::vector<double> act(const std::vector<double>& observation) {
    Points seen(policy_->observation_space()), chosen(policy_->action_space());
    push(seen, observation, policy_->observation_space());
    Rng rng = Rng::of_step(Stream(seed_, Purpose::evaluation), ++step_);
    const ActionWords words = draw_action_words(rng);
    run_polling([&](const auto&) { policy_->act(seen, {&words, 1}, chosen); }, [] {});
    return numbers_of(chosen[0], policy_->action_space());
  }

 private:
  std::shared_ptr<const Policy> policy_;
  std::uint32_t seed_ = 0, step_ = 0;
};

VectorPath path_from(const InMatrix<double>& observations, const InMatrix<double>& actions,
                     const InVector<double>& rewards, bool truncated) {
  const std::size_t steps = rewards.size();
  if (observations.shape(0) != steps + 1 || actions.shape(0) != steps)
    throw Error(Errc::usage,
                "an episode needs one observation more than rewards, and as many actions");
  VectorPath out;
  out.observation_size = observations.shape(1);
  out.action_size = actions.shape(1);
  out.observations.assign(observations.data(), observations.data() + observations.size());
  out.actions.assign(actions.data(), actions.data() + actions.size());
  out.rewards.assign(rewards.data(), rewards.data() + rewards.size());
  out.truncated = truncated;
  return out;
}

Covariances covariances_from(const InMatrix<double>& matrix) {
  if (matrix.shape(0) != matrix.shape(1) || matrix.shape(0) < 1 ||
      matrix.shape(0) > Covariances::kMost)
    throw Error(Errc::usage, "covariances must be a square matrix of 1 to 5 simulators");
  Covariances c(matrix.shape(0));
  for (std::size_t i = 0; i < c.size(); ++i)
    for (std::size_t k = i; k < c.size(); ++k) c.set(i, k, matrix.data()[i * c.size() + k]);
  return c;
}

Evaluator make_evaluator(
    const std::string& name, const std::string& quantity_name, std::uint64_t seed,
    const std::vector<std::string>& policies, const std::vector<std::string>& policy_identities,
    const std::vector<std::string>& simulators, const std::vector<std::string>& identities,
    const std::string& high, std::uint64_t max_steps,
    const std::vector<std::pair<std::optional<double>, std::optional<double>>>& costs,
    double episodes, double cost, double until, std::uint64_t retries, bool stop,
    const nb::callable& quantity, const std::optional<std::filesystem::path>& journal, bool sync) {
  EvaluationSubject subject{.name = name,
                            .quantity = quantity_name,
                            .seed = seed,
                            .rules = {.num_cheap = simulators.size() - 1,
                                      .num_policies = policies.size(),
                                      .episodes = episodes,
                                      .cost = cost,
                                      .until = until},
                            .policies = policies,
                            .policy_identities = policy_identities,
                            .simulators = simulators,
                            .simulator_identities = identities,
                            .high = {},
                            .costs = {},
                            .failures = {.retries = retries, .stop = stop}};
  for (const auto& [episode, step] : costs) subject.costs.push_back({episode, step});
  if (std::ranges::all_of(subject.costs,
                          [](const EpisodeCosts& c) { return c.episode && !c.step; }))
    for (const EpisodeCosts& c : subject.costs) subject.rules.known_costs.push_back(*c.episode);
  subject.rules.charges_means =
      std::ranges::none_of(subject.costs, [](const EpisodeCosts& c) { return c.any(); });
  subject.high.add("simulator", high);
  subject.high.add("max_steps", std::to_string(max_steps));
  const auto value_of = [quantity](const VectorPath& path) {
    return nb::cast<double>(quantity(own(path.observations, path.length() + 1),
                                     own(path.actions, path.length()), own(path.rewards),
                                     path.truncated));
  };
  return Evaluator(std::move(subject), value_of, {.journal = journal, .durable = sync});
}

}  // namespace

void bind_evaluate(nb::module_& m) {
  nb::class_<ProgramSteps>(m, "ProgramSteps",
                           "A program as a simulator, one step at a time. Use hilo.evaluate.")
      .def(nb::init<const NamedValues&>(), "options"_a)
      .def("reset", &ProgramSteps::reset, "seed"_a, "Begins an episode; returns the observation.")
      .def("put", &ProgramSteps::put, "observation"_a, "seed"_a,
           "Begins in a state; returns whether it is terminal.")
      .def("step", &ProgramSteps::step, "action"_a,
           nb::sig("def step(self, action: collections.abc.Sequence[float]) -> "
                   "tuple[list[float], float, bool, bool, float | None]"),
           "The observation, the reward, whether the episode ended, whether it was cut, the cost.")
      .def_prop_ro("starts_anywhere",
                   [](const ProgramSteps& p) { return p.facts().starts_anywhere; })
      .def_prop_ro(
          "observations", [](const ProgramSteps& p) { return describe(p.facts().observations); },
          nb::sig("def observations(self) -> int | list[tuple[float, float]]"))
      .def_prop_ro(
          "actions", [](const ProgramSteps& p) { return describe(p.facts().actions); },
          nb::sig("def actions(self) -> int | list[tuple[float, float]]"));

  nb::class_<PolicySteps>(m, "PolicySteps",
                          "A policy file or program, one observation at a time. Use hilo.evaluate.")
      .def("begin", &PolicySteps::begin, "seed"_a)
      .def("act", &PolicySteps::act, "observation"_a);
  m.def(
      "policy_program",
      [](const std::string& command, const nb::object& observations, const nb::object& actions) {
        return PolicySteps(program_policy({.command = command, .one_process = true},
                                          space_from(observations), space_from(actions)));
      },
      "command"_a, "observations"_a, "actions"_a,
      nb::sig("def policy_program(command: str, observations: int | "
              "collections.abc.Sequence[tuple[float, float]], actions: int | "
              "collections.abc.Sequence[tuple[float, float]]) -> PolicySteps"),
      "A program as a policy. Use hilo.evaluate.");
  m.def(
      "policy_file",
      [](const std::filesystem::path& file, const nb::object& observations,
         const nb::object& actions) {
        const SavedPolicy saved = load_policy(file);
        return std::pair(PolicySteps(saved.on(space_from(observations), space_from(actions))),
                         saved.hash);
      },
      "file"_a, "observations"_a, "actions"_a,
      nb::sig("def policy_file(file: str | os.PathLike, observations: int | "
              "collections.abc.Sequence[tuple[float, float]], actions: int | "
              "collections.abc.Sequence[tuple[float, float]]) -> tuple[PolicySteps, str]"),
      "A policy that hilo learn has written. Use hilo.evaluate.");

  nb::class_<EvaluationRequest>(m, "EvaluationRequest",
                                "An episode that an evaluation needs. Made by Evaluator.ask.")
      .def_prop_ro(
          "simulator", [](const EvaluationRequest& r) { return r.round.simulator; },
          "0 is the expensive one.")
      .def_prop_ro(
          "free", [](const EvaluationRequest& r) { return r.round.free; },
          "Whether it is a cheap episode without an expensive partner.")
      .def_prop_ro("index", [](const EvaluationRequest& r) { return r.round.index; })
      .def_ro("policy", &EvaluationRequest::policy, "The number of the policy.")
      .def_ro("attempt", &EvaluationRequest::attempt, "Counted from 0.")
      .def_prop_ro("seed", &EvaluationRequest::simulator_seed,
                   "The seed, which paired episodes of all simulators share.")
      .def_prop_ro(
          "own_seed",
          [](const EvaluationRequest& r) {
            EvaluationRequest other = r;
            other.streams.first_pair = static_cast<std::uint32_t>(r.round.simulator);
            return other.simulator_seed();
          },
          "A seed of its own for every simulator.");

  nb::class_<Evaluator>(m, "Evaluator",
                        "Decides which episodes an evaluation runs. Use hilo.evaluate.")
      .def("ask", &Evaluator::ask, "Episodes that are needed now; empty if it is done.")
      .def(
          "tell",
          [](Evaluator& self, const EvaluationRequest& request,
             const InMatrix<double>& observations, const InMatrix<double>& actions,
             const InVector<double>& rewards, bool truncated, double seconds,
             std::optional<double> cost) {
            self.tell(request, path_from(observations, actions, rewards, truncated), seconds, cost);
          },
          "request"_a, "observations"_a, "actions"_a, "rewards"_a, "truncated"_a, "seconds"_a,
          "cost"_a = nb::none(), "An expensive episode.")
      .def("tell_cheap", &Evaluator::tell_cheap, "request"_a, "value"_a, "steps"_a, "seconds"_a,
           "cost"_a = nb::none(), "A cheap episode.")
      .def(
          "tell_failure",
          [](Evaluator& self, const EvaluationRequest& request, const std::string& error,
             double seconds) { return self.tell_failure(request, error, seconds); },
          "request"_a, "error"_a, "seconds"_a,
          "An expensive attempt failed. Returns the next attempt, or None.")
      .def("close", &Evaluator::close, "Ends all work with the journal.")
      .def(
          "is_skipped",
          [](const Evaluator& self, std::uint64_t index) {
            return self.evaluation().is_skipped(index);
          },
          "index"_a, "Whether an expensive episode is left out.")
      .def("drop", &Evaluator::drop, "simulator"_a, "error"_a, "A cheap simulator failed for good.")
      .def(
          "start_of",
          [](const Evaluator& self, std::uint64_t index) -> std::optional<std::vector<double>> {
            const std::vector<double>* start = self.start_of(index);
            return start == nullptr ? std::nullopt : std::optional(*start);
          },
          "index"_a, "The first observation of an expensive episode.")
      .def_prop_ro("share", &Evaluator::share, "Of the budget that is spent.")
      .def_prop_ro(
          "pairs", [](const Evaluator& e) { return e.evaluation().num_pairs(); },
          "Expensive episodes of each policy so far.")
      .def(
          "outcome",
          [](const Evaluator& self, const std::string& coupling,
             const std::vector<std::string>& notes, const std::string& command) {
            const EvaluationOutcome outcome = outcome_of(self, coupling, notes);
            return std::tuple(evaluation_json(outcome), evaluation_text(outcome),
                              make_evaluation_page(outcome, command));
          },
          "coupling"_a, "notes"_a, "command"_a, "The result as JSON, as text and as a page.");
  m.def(
      "make_evaluator", &make_evaluator, "name"_a, "quantity_name"_a, "seed"_a, "policies"_a,
      "policy_identities"_a, "simulators"_a, "identities"_a, "high"_a, "max_steps"_a, "costs"_a,
      "episodes"_a, "cost"_a, "until"_a, "retries"_a, "stop"_a, "quantity"_a, "journal"_a.none(),
      "sync"_a,
      nb::sig("def make_evaluator(name: str, quantity_name: str, seed: int, policies: "
              "collections.abc.Sequence[str], policy_identities: collections.abc.Sequence[str], "
              "simulators: collections.abc.Sequence[str], identities: "
              "collections.abc.Sequence[str], high: str, max_steps: int, costs: "
              "collections.abc.Sequence[tuple[float | None, float | None]], episodes: float, cost: "
              "float, until: float, retries: int, stop: bool, quantity: "
              "collections.abc.Callable[[numpy.typing.NDArray[numpy.float64], "
              "numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], bool], "
              "float], journal: str | os.PathLike | None, sync: bool) -> Evaluator"),
      "Begins an evaluation. Use hilo.evaluate.");

  m.def(
      "mlblue_allocation",
      [](const InMatrix<double>& covariances, const std::vector<double>& costs, double budget,
         bool rounded) {
        const Allocation found =
            mlblue_allocation(covariances_from(covariances), costs, budget, rounded);
        nb::list groups;
        for (const SampleGroup& group : found.groups) {
          nb::list members;
          for (std::size_t i = 0; i < costs.size(); ++i)
            if (group.has(i)) members.append(i);
          groups.append(nb::make_tuple(members, group.count));
        }
        return nb::make_tuple(groups, found.variance, found.cost);
      },
      "covariances"_a, "costs"_a, "budget"_a, "rounded"_a = true,
      nb::sig("def mlblue_allocation(covariances: numpy.typing.NDArray[numpy.float64], costs: "
              "collections.abc.Sequence[float], budget: float, rounded: bool = True) -> "
              "tuple[list[tuple[list[int], float]], float, float]"),
      "How often each group of simulators is best run together for a budget, the variance of the "
      "mean of simulator 0 that results, and what it costs (multilevel best linear unbiased "
      "estimator).");
  m.def(
      "mfmc_plan",
      [](const InMatrix<double>& covariances, const std::vector<double>& costs, double budget,
         bool rounded) {
        const MfmcPlan plan = mfmc_plan(covariances_from(covariances), costs, budget, rounded);
        return nb::make_tuple(plan.simulators, plan.counts, plan.coefficients, plan.variance,
                              plan.cost);
      },
      "covariances"_a, "costs"_a, "budget"_a, "rounded"_a = true,
      nb::sig("def mfmc_plan(covariances: numpy.typing.NDArray[numpy.float64], costs: "
              "collections.abc.Sequence[float], budget: float, rounded: bool = True) -> "
              "tuple[list[int], list[float], list[float], float, float]"),
      "Multifidelity Monte Carlo: the simulators in their order, how often each is run, the "
      "coefficients of the cheap ones, the variance and the cost.");
}

}  // namespace hilo::python
