#include <atomic>

#include "bindings.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/experiment/run.hpp"
#include "hilo/experiment/spec.hpp"
#include "hilo/experiment/train.hpp"
#include "hilo/store/store.hpp"
#include "polling.hpp"
#include "python_simulator.hpp"

namespace hilo::python {
namespace {

// A problem that exists in this process alone, with what it is known by in a store.
struct OwnProblem {
  std::shared_ptr<const ProblemKind> kind;
  bool has_low;
};

OwnProblem make_own_problem(const std::string& name, const std::shared_ptr<EpisodeSimulator>& high,
                            const std::optional<Fidelities>& pair, const std::string& high_text,
                            const std::string& low_text, bool in_state_order) {
  for (const ProblemKind& kind : problem_kinds())
    if (kind.name == name)
      throw Error(Errc::usage, "a problem of your own cannot be called '" + name +
                                   "', like one that hilo comes with");
  auto kind = std::make_shared<ProblemKind>();
  kind->name = name;
  kind->description = "made in Python";
  kind->parameters = {{.name = "high",
                       .description = "what the expensive simulator is known by",
                       .default_value = high_text,
                       .choices = {}},
                      {.name = "low",
                       .description = "what the cheap simulator is known by",
                       .default_value = low_text,
                       .choices = {},
                       .low_fidelity_only = true}};
  kind->same_for_all_seeds = true;
  if (!in_state_order)
    kind->check_agent = [](const Parameter& agent) {
      const auto coupling = agent.find("coupling");
      if (coupling != agent.end() && coupling->second == Value("common-random-numbers"))
        throw Error(Errc::spec,
                    "coupling is 'common-random-numbers', which needs two tables that are drawn "
                    "from by make_simulator(mdp, sampling=\"inverse-cdf\")");
    };
  const HighSimulator shared = pair ? pair->shared_high() : HighSimulator(high);
  const Fidelities whole = pair ? *pair : Fidelities(shared, std::vector<LowFidelity>());
  kind->build_high = [shared](const Parameters&, std::uint64_t) { return shared; };
  kind->build = [whole](const Parameters&, std::uint64_t, const HighSimulator&) {
    return Problem{.pair = whole, .facts = {}, .memory_bytes = 0};
  };
  return {std::move(kind), pair.has_value()};
}

Spec parse(const std::string& text, const std::string& where, const Overrides& overrides,
           const OwnProblem* own) {
  Spec spec = parse_spec(text, where, overrides, own != nullptr ? own->kind : nullptr);
  for (const RunConfig& config : spec.configs)
    if (own != nullptr && !own->has_low && config.problem_kind == own->kind &&
        config.agent->uses_low_fidelity)
      throw Error(Errc::spec,
                  "the agent " + config.agent->name + " needs a low fidelity, but none was given");
  return spec;
}

nb::dict run_specs(const std::vector<Spec>& specs, Store& store, unsigned threads,
                   const nb::object& on_progress) {
  nb::dict out;
  std::vector<std::string> notes;
  for (const Spec& spec : specs) notes.insert(notes.end(), spec.notes.begin(), spec.notes.end());
  out["notes"] = notes;
  out["runs"] = count_runs(plan(specs, {}));
  try {
    require_memory(plan(specs, store.finished()), threads);
  } catch (const Error&) {
    store.discard_if_new();
    throw;
  }
  std::vector<std::string> dropped;
  for (const Spec& spec : specs)
    for (std::string& agent : store.define_experiment(spec)) dropped.push_back(std::move(agent));
  out["dropped"] = dropped;
  const std::vector<RunGroup> groups = plan(specs, store.finished());
  Progress result;
  result.total = count_runs(groups);
  std::mutex mutex;
  Progress now = result;
  std::string first_error;
  std::exception_ptr first_cause;
  const Checkpoints checkpoints = Checkpoints::beside(store.file());
  const auto show = [&] {
    if (on_progress.is_none()) return;
    Progress shown;
    {
      const std::lock_guard lock(mutex);
      shown = now;
    }
    on_progress(shown.done, shown.failed, shown.total, shown.share);
  };
  if (!groups.empty())
    run_polling(
        [&](const std::function<bool()>& keep_going) {
          result = run_all(groups, threads,
                           {.on_record =
                                [&](const RunRecord& record) {
                                  store.append(record);
                                  if (!record.failed || first_cause) return;
                                  first_error = record.error;
                                  first_cause = record.cause;
                                },
                            .on_progress =
                                [&](const Progress& progress) {
                                  const std::lock_guard lock(mutex);
                                  now = progress;
                                },
                            .keep_going = keep_going,
                            .checkpoints = &checkpoints});
        },
        show);
  show();
  if (result.done < result.total) throw Interrupted();
  out["done"] = result.done;
  out["failed"] = result.failed;
  out["error"] = first_error;
  out["raised"] = nb::none();
  out["code"] = Errc::simulator;
  try {
    if (first_cause) std::rethrow_exception(first_cause);
  } catch (const RaisedByUser& raised) {
    out["raised"] = raised.exception();
  } catch (const Error& e) {
    out["code"] = e.code();
  } catch (const std::exception&) {
    // Its text says it all.
  }
  return out;
}

}  // namespace

void bind_experiment(nb::module_& m) {
  nb::class_<OwnProblem>(m, "OwnProblem",
                         "Simulators that exist in this process alone, as a problem of a spec.")
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
            for (const RunConfig& config : spec.configs) out[config.label] = config.canonical;
            return out;
          },
          "By label, everything that decides a run but its seed.")
      .def_ro("notes", &Spec::notes, "What is not done as it was written, and why, in sentences.")
      .def_ro("text", &Spec::text, "The TOML it was read from.")
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
  m.def(
      "run_specs", &run_specs, "specs"_a, "store"_a, "threads"_a, "on_progress"_a.none(),
      nb::sig(
          "def run_specs(specs: collections.abc.Sequence[Spec], store: StoreHandle, threads: int, "
          "on_progress: collections.abc.Callable[[int, int, int, float], object] | None) -> "
          "dict[str, typing.Any]"),
      "Runs what the store does not have yet; hilo.run is the front door.");
  m.def("hash_hex", &hash_hex, "text"_a, "The hash that identifies configurations.");
}

}  // namespace hilo::python
