#include <atomic>

#include "bindings.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/driver/run_specs.hpp"
#include "hilo/experiment/metrics.hpp"
#include "hilo/experiment/train.hpp"
#include "own_problem.hpp"
#include "polling.hpp"
#include "python_simulator.hpp"

namespace hilo::python {
namespace {

OwnProblem make_own_problem(const std::string& name, const std::shared_ptr<EpisodeSimulator>& high,
                            const std::optional<Fidelities>& pair, const std::string& high_text,
                            const std::string& low_text, bool in_state_order) {
  if (is_problem_kind(name))
    throw Error(Errc::usage, "a problem of your own cannot be called '" + name +
                                 "', which is the name of a problem of hilo");
  auto kind = std::make_shared<ProblemKind>();
  kind->name = name;
  kind->description = "made in Python";
  kind->parameters = {{.name = "high",
                       .description = "identifies the expensive simulator",
                       .default_value = high_text,
                       .choices = {}},
                      {.name = "low",
                       .description = "identifies the cheap simulator",
                       .default_value = low_text,
                       .choices = {},
                       .low_fidelity_only = true}};
  kind->same_for_all_seeds = true;
  kind->low_fidelities = pair ? pair->lows().size() : 0;
  if (!in_state_order)
    kind->lacks = [](std::string_view feature, const Parameters&) -> std::string {
      if (feature != kCommonRandomNumbers) return "";
      return "needs two tables that are sampled by make_simulator(mdp, "
             "sampling=\"inverse-cdf\")";
    };
  const HighSimulator shared = pair ? pair->shared_high() : HighSimulator(high);
  const Fidelities whole = pair ? *pair : Fidelities(shared, std::vector<LowFidelity>());
  kind->build_high = [shared](const Parameters&, std::uint64_t) { return shared; };
  kind->build = [whole](const Parameters&, std::uint64_t, const HighSimulator&) {
    return Problem{.pair = whole, .facts = {}, .memory_bytes = 0};
  };
  return {std::move(kind)};
}

Spec parse(const std::string& text, const std::string& where, const Overrides& overrides,
           const OwnProblem* own) {
  return parse_spec(text, where, overrides, kind_of(own));
}

Spec make(const std::string& name, std::pair<std::uint64_t, std::uint64_t> seeds,
          const PythonTable& problem, const PythonTable& train, const PythonTable& test,
          const std::vector<PythonTable>& agents, const std::string& where, const OwnProblem* own) {
  SpecData data{.name = name,
                .seeds = {seeds.first, seeds.second},
                .problem = to_table(problem),
                .train = to_table(train),
                .test = to_table(test),
                .agents = {}};
  for (const PythonTable& agent : agents) data.agents.push_back(to_table(agent));
  return make_spec(data, where, kind_of(own));
}

// What the first failed run threw: the exception of the user's code, or the code of hilo's error.
void describe_cause(const std::exception_ptr& cause, nb::dict& out) {
  out["raised"] = nb::none();
  out["code"] = Errc::simulator;
  try {
    if (cause) std::rethrow_exception(cause);
  } catch (const RaisedByUser& raised) {
    out["raised"] = raised.exception();
  } catch (const Error& e) {
    out["code"] = e.code();
  } catch (const std::exception&) {
    // The text of the error is enough.
  }
}

nb::dict run_into_store(const std::vector<Spec>& specs, const std::filesystem::path& file,
                        unsigned threads, const nb::object& on_progress) {
  RunOutcome outcome;
  std::mutex mutex;
  std::optional<Progress> now;
  const auto show = [&] {
    std::optional<Progress> shown;
    {
      const std::lock_guard lock(mutex);
      shown = now;
    }
    if (shown && !on_progress.is_none())
      on_progress(shown->done, shown->failed, shown->total, shown->share);
  };
  run_polling(
      [&](const std::function<bool()>& keep_going) {
        ThreadExecutor executor(threads);
        outcome = run_specs(specs, {.store = file, .threads = threads}, executor,
                            {.on_start =
                                 [&] {
                                   const std::lock_guard lock(mutex);
                                   now = Progress{.total = count_runs(plan(specs, {}))};
                                 },
                             .on_progress =
                                 [&](const Progress& progress) {
                                   const std::lock_guard lock(mutex);
                                   now = progress;
                                 },
                             .keep_going = keep_going});
      },
      show);
  if (!now) now = Progress{};  // there was nothing to do
  show();
  if (outcome.interrupted) throw Interrupted();
  nb::dict out;
  out["notes"] = outcome.notes;
  out["dropped"] = outcome.dropped;
  out["runs"] = outcome.total;
  out["done"] = outcome.done;
  out["failed"] = outcome.failed;
  out["error"] = outcome.first_error;
  describe_cause(outcome.first_cause, out);
  return out;
}

}  // namespace

void bind_experiment(nb::module_& m) {
  nb::class_<OwnProblem>(m, "OwnProblem",
                         "Simulators that exist only in this process, as a problem of a spec.")
      .def(
          "__init__",
          [](OwnProblem* self, const std::string& name,
             const std::shared_ptr<EpisodeSimulator>& high, const std::optional<Fidelities>& pair,
             const std::string& high_text, const std::string& low_text, bool in_state_order) {
            new (self)
                OwnProblem(make_own_problem(name, high, pair, high_text, low_text, in_state_order));
          },
          "name"_a, "high"_a.none(), "pair"_a.none(), "high_text"_a, "low_text"_a,
          "in_state_order"_a)
      .def_prop_ro(
          "name", [](const OwnProblem& own) { return own.kind->name; }, "Its kind in a spec.");

  nb::class_<Spec>(m, "Spec", "A checked experiment: sweeps are expanded, labels are unique.")
      .def_ro("name", &Spec::name, "The experiment's name.")
      .def_prop_ro(
          "seeds", [](const Spec& spec) { return std::pair(spec.seeds.first, spec.seeds.last); },
          "First and last seed.")
      .def_prop_ro(
          "agents",
          [](const Spec& spec) {
            std::vector<std::string> out;
            for (const RunConfig& config : spec.configs) out.push_back(config.label);
            return out;
          },
          "Labels of its agents.")
      .def_prop_ro(
          "canonical",
          [](const Spec& spec) {
            std::map<std::string, std::string> out;
            for (const RunConfig& config : spec.configs)
              out[config.label] = config.configuration.text();
            return out;
          },
          "By label, everything that determines a run except its seed.")
      .def_ro("notes", &Spec::notes,
              "Sentences that say what will be done differently from the spec, and why.")
      .def_ro("text", &Spec::text, "The TOML from which it was read.")
      .def("__repr__", [](const Spec& spec) {
        return "Spec('" + spec.name + "', agents=" + std::to_string(spec.configs.size()) +
               ", seeds=" + std::to_string(spec.seeds.count()) + ")";
      });

  m.def("parse_spec", &parse, "text"_a, "where"_a = "spec", "overrides"_a = Overrides{},
        "own"_a.none() = nb::none(),
        "A spec from TOML (docs/spec.md); `where` names it in messages.");
  m.def(
      "load_spec",
      [](const std::filesystem::path& file, const Overrides& overrides) {
        return load_spec(file, overrides);
      },
      "file"_a, "overrides"_a = Overrides{}, "A spec from a file.");
  m.def("make_spec", &make, "name"_a, "seeds"_a, "problem"_a, "train"_a, "test"_a, "agents"_a,
        "where"_a, "own"_a.none() = nb::none(),
        "A spec from tables, each a pair of its values and the lists of its sweep.");
  m.def(
      "parse_seeds",
      [](const std::string& text) {
        const SeedRange seeds = parse_seeds(text);
        return std::pair(seeds.first, seeds.last);
      },
      "text"_a, "First and last seed of \"36\" or \"3..9\".");
  m.def("run_specs", &run_into_store, "specs"_a, "file"_a, "threads"_a, "on_progress"_a.none(),
        nb::sig("def run_specs(specs: collections.abc.Sequence[Spec], file: pathlib.Path, threads: "
                "int, on_progress: collections.abc.Callable[[int, int, int, float], object] | "
                "None) -> dict[str, typing.Any]"),
        "Executes the runs that the store does not have yet. Use hilo.run.");
  m.def(
      "metric_kinds",
      [] {
        nb::dict out;
        for (const MetricKind& kind : metric_kinds()) {
          nb::dict entry;
          entry["description"] = kind.description;
          entry["axis"] = kind.axis.empty() ? kind.name : kind.axis;
          entry["better"] = kind.better == Better::higher  ? "higher"
                            : kind.better == Better::lower ? "lower"
                                                           : "neither";
          entry["measured"] = kind.measured == Measured::at_tests         ? "at every test"
                              : kind.measured == Measured::at_exact_tests ? "at exact tests"
                                                                          : "at the end";
          entry["optimum"] = kind.optimum;
          out[kind.name.c_str()] = entry;
        }
        return out;
      },
      nb::sig("def metric_kinds() -> dict[str, dict[str, str]]"),
      "The metrics that runs record, by name: description, axis, better, measured, optimum.");
  m.def("hash_hex", &hash_hex, "text"_a, "The hash that identifies configurations.");
}

}  // namespace hilo::python
