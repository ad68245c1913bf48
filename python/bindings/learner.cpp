#include "hilo/driver/learner.hpp"

#include <atomic>
#include <mutex>

#include "bindings.hpp"
#include "hilo/agent/tabular_agent.hpp"
#include "hilo/core/output_file.hpp"
#include "hilo/driver/learn_json.hpp"
#include "hilo/experiment/train.hpp"
#include "hilo/report/learn_page.hpp"
#include "own_problem.hpp"
#include "polling.hpp"
#include "turn.hpp"

namespace hilo::python {
namespace {

struct BoundLearner {
  Learner learner;
  std::atomic<std::uint64_t> told = 0;  // number of changes, which make earlier requests invalid
  std::atomic<bool> busy = false;
};

// A request is invalid as soon as its learner has changed.
struct BoundRequest {
  std::shared_ptr<BoundLearner> of;
  std::uint64_t told;
  LearnRequest asked;

  const LearnRequest& get() const {
    if (of->told != told)
      throw Error(Errc::usage, "this request is no longer open: ask the learner for the next one");
    return asked;
  }
};

nb::dict describe(const Bill& bill) {
  nb::dict out;
  out["episodes"] = bill.episodes;
  out["training"] = bill.training;
  out["testing"] = bill.testing;
  out["pilot"] = bill.pilot;
  out["reused"] = bill.reused;
  out["attempts"] = bill.attempts;
  out["failed"] = bill.failed;
  out["skipped"] = bill.skipped;
  out["steps"] = bill.steps;
  out["low_steps"] = bill.low_steps;
  out["test_low_steps"] = bill.test_low_steps;
  out["cost"] = bill.cost();
  out["high_cost"] = bill.high_cost;
  out["low_cost"] = bill.low_cost;
  out["low_share"] = bill.low_share();
  out["cost_unit"] = bill.unit == CostUnit::declared   ? "declared"
                     : bill.unit == CostUnit::reported ? "reported"
                                                       : "seconds";
  out["attempt_seconds"] = bill.attempt_seconds;
  out["seconds"] = bill.clock;
  return out;
}

nb::dict describe(const LearnOutcome& outcome) {
  nb::dict out;
  out["returns"] = outcome.value.returns;
  out["skewness"] = outcome.value.skewness;
  out["caution"] = outcome.value.caution;
  out["stopped_by"] = outcome.stopped_by;
  if (const auto& helped = outcome.value.controlled)
    out["controlled"] =
        std::tuple(helped->value, helped->low, helped->high, helped->worth_episodes);
  else
    out["controlled"] = nb::none();
  if (outcome.believed)
    out["believed"] = std::pair(outcome.believed->value, outcome.believed->standard_error);
  else
    out["believed"] = nb::none();
  return out;
}

LearnSpec make(const std::string& name, std::uint64_t seed, const PythonTable& problem,
               const PythonTable& train, const std::vector<PythonTable>& agents,
               const NamedValues& budget, const NamedValues& cost, const NamedValues& failures,
               const NamedValues& pilot, bool low_is_slow, const std::string& where,
               const OwnProblem* own) {
  LearnData data{.spec = {.name = name,
                          .seeds = {seed, seed},
                          .problem = to_table(problem),
                          .train = to_table(train),
                          .test = {},
                          .agents = {}},
                 .budget = budget,
                 .cost = cost,
                 .failures = failures,
                 .pilot = pilot,
                 .low_is_slow = low_is_slow};
  for (const PythonTable& agent : agents) data.spec.agents.push_back(to_table(agent));
  return make_learn_spec(data, where, kind_of(own));
}

// Spends the budget. `on_episode` is told of every expensive episode soon after it.
void spend(BoundLearner& self, const nb::object& on_progress) {
  if (!on_progress.is_none() && PyCallable_Check(on_progress.ptr()) == 0)
    throw Error(Errc::usage, "on_progress must be a function, or None");
  const Turn turn(self.busy, "learner");
  ++self.told;
  std::mutex mutex;
  struct State {
    std::uint64_t episodes = 0, failed = 0;
    double cost = 0, share = 0;
    std::optional<double> last_return;
  };
  State now;
  std::uint64_t shown = 0;
  const auto show = [&] {
    State state;
    {
      const std::lock_guard lock(mutex);
      state = now;
    }
    if (on_progress.is_none() || state.episodes == shown) return;
    shown = state.episodes;
    on_progress(state.episodes, state.failed, state.share, state.cost, state.last_return);
  };
  bool done = false;
  run_polling(
      [&](const std::function<bool()>& keep_going) {
        try {
          done = self.learner.catch_up(keep_going);
          while (!done && keep_going()) {
            done = self.learner.step();
            const Bill bill = self.learner.bill();
            const std::lock_guard lock(mutex);
            now = {bill.episodes, bill.failed, bill.cost(), self.learner.share(),
                   self.learner.last_return()};
          }
        } catch (...) {
          self.learner.keep_checkpoint();
          throw;
        }
        if (!done) self.learner.keep_checkpoint();
      },
      show);
  show();
  if (!done) throw Interrupted();
}

}  // namespace

void bind_learner(nb::module_& m) {
  nb::class_<LearnSpec>(m, "LearnSpec", "A checked learn spec: one agent, one seed, one budget.")
      .def_prop_ro(
          "name", [](const LearnSpec& spec) { return spec.spec.name; }, "The name of the run.")
      .def_prop_ro(
          "agent", [](const LearnSpec& spec) { return spec.config().label; },
          "The label of its agent.")
      .def_ro("choice", &LearnSpec::choice,
              "Why this agent was chosen; empty if the spec names it.");

  m.def("make_learn_spec", &make, "name"_a, "seed"_a, "problem"_a, "train"_a, "agents"_a,
        "budget"_a, "cost"_a, "failures"_a, "pilot"_a, "low_is_slow"_a, "where"_a,
        "own"_a.none() = nb::none(), "A learn spec from tables. Use hilo.learn.");
  m.def(
      "load_learn_spec",
      [](const std::filesystem::path& file, const Overrides& overrides) {
        return load_learn_spec(file, overrides);
      },
      "file"_a, "overrides"_a = Overrides{}, "A learn spec from a file (docs/learn.md).");

  m.def(
      "write_learnt",
      [](const std::filesystem::path& file, const std::string& text, const std::string& mark,
         bool force) {
        AtomicFile out(file, {.mark = mark, .force = force});
        out.out() << text;
        out.commit();
      },
      "file"_a, "text"_a, "mark"_a, "force"_a,
      "Writes a policy or a page. Use Learnt.save and Learnt.report.");

  nb::class_<BoundRequest>(m, "LearnRequest",
                           "A request for an expensive episode, with the policy to follow.")
      .def_prop_ro(
          "episode", [](const BoundRequest& r) { return r.asked.at.episode; },
          "The number of the training episode, counted from 0.")
      .def_prop_ro(
          "test", [](const BoundRequest& r) { return r.asked.at.test; },
          "The number within the final test, or None in training.")
      .def_prop_ro(
          "attempt", [](const BoundRequest& r) { return r.asked.attempt; },
          "The number of attempts at this episode that failed before.")
      .def_prop_ro(
          "seed", [](const BoundRequest& r) { return r.asked.simulator_seed(); },
          "A seed for your own simulator: below 2^31, and a new one for every episode.")
      .def_prop_ro(
          "max_steps", [](const BoundRequest& r) { return r.asked.horizon.max_steps; },
          "The number of steps after which the episode is truncated.")
      .def(
          "action",
          [](const BoundRequest& r, std::uint32_t step, State state) {
            const Turn turn(r.of->busy, "learner");
            return r.get().action(step, state);
          },
          "step"_a, "state"_a, "The action in a state at a step, counted from 0.")
      .def(
          "json",
          [](const BoundRequest& r) {
            const Turn turn(r.of->busy, "learner");
            return request_json(r.get(), r.of->learner.spec());
          },
          "The request as a text for programs in any language (docs/learn.md).")
      .def("__repr__", [](const BoundRequest& r) {
        return "LearnRequest(episode=" + std::to_string(r.asked.at.episode) +
               (r.asked.at.test ? ", test=" + std::to_string(*r.asked.at.test) : "") + ")";
      });

  nb::class_<BoundLearner>(m, "Learner",
                           "One run that spends one budget, and loses nothing that was paid for. "
                           "Every expensive episode is in the journal before it is learnt from.")
      .def(
          "__init__",
          [](BoundLearner* self, const LearnSpec& spec, const std::filesystem::path& journal,
             bool sync, double checkpoint_every, std::vector<std::filesystem::path> reuse) {
            new (self) BoundLearner{.learner = Learner(spec, {.journal = journal,
                                                              .durable = sync,
                                                              .checkpoint_every = checkpoint_every,
                                                              .reuse = std::move(reuse)})};
          },
          "spec"_a, "journal"_a, "sync"_a = true, "checkpoint_every"_a = 5.0,
          "reuse"_a = std::vector<std::filesystem::path>{})
      .def_prop_ro(
          "done", [](const BoundLearner& self) { return self.learner.is_done(); },
          "Whether the budget is spent and the final test made.")
      .def("spend", &spend, "on_progress"_a.none() = nb::none(),
           nb::sig("def spend(self, on_progress: collections.abc.Callable[[int, int, float, float, "
                   "float | None], object] | None = None) -> None"),
           "Spends the budget on the simulator of the problem. ``on_progress`` is called with "
           "(episodes, failed attempts, share of the budget, cost, last return).")
      .def(
          "ask",
          [](const std::shared_ptr<BoundLearner>& self) -> std::optional<BoundRequest> {
            const Turn turn(self->busy, "learner");
            const auto request = self->learner.ask();
            if (!request) return std::nullopt;
            return BoundRequest{self, self->told, *request};
          },
          nb::call_guard<nb::gil_scoped_release>(),
          "The next expensive episode; None if the run is done. Asking again gives the same one.")
      .def(
          "tell",
          [](BoundLearner& self, const Episode& episode, std::optional<double> cost) {
            const Turn turn(self.busy, "learner");
            self.learner.tell(episode, cost);
            ++self.told;
          },
          "episode"_a, "cost"_a.none() = nb::none(), nb::call_guard<nb::gil_scoped_release>(),
          "The episode that was asked for: it is kept, and learnt from.")
      .def(
          "tell_failure",
          [](BoundLearner& self, const std::string& error, std::optional<double> cost) {
            const Turn turn(self.busy, "learner");
            ++self.told;
            self.learner.tell_failure(error, cost);
          },
          "error"_a, "cost"_a.none() = nb::none(), nb::call_guard<nb::gil_scoped_release>(),
          "The attempt failed: it is kept with its cost, and asked for again or skipped.")
      .def_prop_ro(
          "agent",
          [](BoundLearner& self) {
            const Turn turn(self.busy, "learner");
            return self.learner.agent_label();
          },
          "The label of the agent that learns now.")
      .def_prop_ro(
          "pilot",
          [](BoundLearner& self) -> std::optional<nb::dict> {
            const Turn turn(self.busy, "learner");
            const auto verdict = self.learner.pilot();
            if (!verdict) return std::nullopt;
            nb::dict out;
            out["advice"] = std::string(name_of(verdict->advice));
            out["reason"] = verdict->diagnosis.reason;
            out["episodes"] = verdict->diagnosis.episodes;
            out["change"] = verdict->diagnosis.change.value;
            out["goes_on_with"] = verdict->goes_on_with;
            return out;
          },
          nb::sig("def pilot(self) -> dict[str, typing.Any] | None"),
          "What the pilot said about the cheap simulator and what was done about it, or None.")
      .def_prop_ro(
          "bill",
          [](BoundLearner& self) {
            const Turn turn(self.busy, "learner");
            return describe(self.learner.bill());
          },
          nb::sig("def bill(self) -> dict[str, typing.Any]"), "What was spent so far.")
      .def_prop_ro(
          "outcome",
          [](BoundLearner& self) {
            const Turn turn(self.busy, "learner");
            return describe(self.learner.outcome());
          },
          nb::sig("def outcome(self) -> dict[str, typing.Any]"),
          "The result of the final test, when the run is done.")
      .def_prop_ro(
          "q",
          [](BoundLearner& self) {
            const Turn turn(self.busy, "learner");
            const TabularAgent* agent = self.learner.table_agent();
            if (agent == nullptr)
              throw Error(Errc::usage, "the policy is a network: it has no table of values");
            return QTable(agent->q());
          },
          "A copy of the agent's values as a QTable, which also gives greedy actions.")
      .def(
          "policy_json",
          [](BoundLearner& self) {
            const Turn turn(self.busy, "learner");
            return policy_json(self.learner);
          },
          "The policy as a text for programs in any language (docs/learn.md).")
      .def(
          "page",
          [](BoundLearner& self) {
            const Turn turn(self.busy, "learner");
            return make_learn_page(self.learner, "");
          },
          nb::call_guard<nb::gil_scoped_release>(), "The page of the run as HTML, when it is done.")
      .def_prop_ro(
          "notes",
          [](BoundLearner& self) {
            const Turn turn(self.busy, "learner");
            return self.learner.notes();
          },
          "Sentences about what is worth knowing.")
      .def_prop_ro(
          "replayed", [](const BoundLearner& self) { return self.learner.replayed(); },
          "Training episodes that were learnt again from the journal.")
      .def("__repr__", [](const BoundLearner& self) {
        return std::string("Learner(") + (self.learner.is_done() ? "done" : "under way") + ")";
      });
}

}  // namespace hilo::python
