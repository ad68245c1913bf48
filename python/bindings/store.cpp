#include "hilo/store/store.hpp"

#include <algorithm>

#include "bindings.hpp"
#include "hilo/core/parameters.hpp"

namespace hilo::python {
namespace {

// A store that can be closed, so that others can write to it before the garbage collector runs.
class OpenStore {
 public:
  OpenStore(std::filesystem::path file, bool writable)
      : file_(std::move(file)),
        writable_(writable),
        store_(
            std::make_shared<Store>(writable ? Store::open(file_) : Store::open_to_read(file_))) {}

  Store& get() const { return *shared(); }
  // A caller that holds it can continue to use it after it was closed.
  const std::shared_ptr<Store>& shared() const {
    if (!store_) throw Error(Errc::usage, file_.string() + ": the store is closed");
    return store_;
  }
  // The last user closes the store, which throws if its file was removed or replaced.
  void close() {
    const std::shared_ptr<Store> last = std::move(store_);
    if (last && writable_ && last.use_count() == 1) last->close();
  }
  const std::filesystem::path& file() const { return file_; }
  bool writable() const { return writable_; }

 private:
  std::filesystem::path file_;
  bool writable_;
  std::shared_ptr<Store> store_;
};

}  // namespace

const std::string& known_experiment(const Store& store, const std::string& name) {
  const std::vector<std::string> known = store.experiments();
  if (std::find(known.begin(), known.end(), name) != known.end()) return name;
  std::string all;
  for (const std::string& other : known) all += (all.empty() ? "" : ", ") + other;
  throw Error(Errc::usage, "the store has no experiment '" + name + "'" +
                               did_you_mean(name, known) +
                               " (there are: " + (all.empty() ? "none" : all) + ")");
}

void bind_store(nb::module_& m) {
  nb::class_<Store>(m, "StoreHandle", "An open store, for functions of the engine.");

  nb::class_<StoredPolicy>(m, "StoredPolicy", "The policy that a run has learnt.")
      .def_ro("experiment", &StoredPolicy::experiment, "Name of the experiment.")
      .def_ro("agent", &StoredPolicy::agent, "Label of the agent.")
      .def_ro("seed", &StoredPolicy::seed, "Seed of the run.")
      .def_prop_ro(
          "kind", [](const StoredPolicy& policy) { return policy.artifact.kind; },
          "What the policy is: table or network.")
      .def_prop_ro(
          "text",
          [](const StoredPolicy& policy) {
            return std::string(reinterpret_cast<const char*>(policy.artifact.bytes.data()),
                               policy.artifact.bytes.size());
          },
          "The JSON text of a network.")
      .def_prop_ro(
          "q",
          [](nb::handle self) {
            const auto& policy = nb::cast<const StoredPolicy&>(self);
            return view<double>(policy.q, policy.num_states, self);
          },
          "Values, of shape (num_states, num_actions).", nb::rv_policy::reference)
      .def_prop_ro(
          "standard_errors",
          [](nb::handle self) {
            const auto& policy = nb::cast<const StoredPolicy&>(self);
            return view<double>(policy.standard_errors,
                                policy.standard_errors.empty() ? 0 : policy.num_states, self);
          },
          "Standard errors of the values, as the agent estimated them; infinite where unknown.",
          nb::rv_policy::reference)
      .def("__repr__", [](const StoredPolicy& policy) {
        return "StoredPolicy('" + policy.experiment + "', '" + policy.agent +
               "', seed=" + std::to_string(policy.seed) + ")";
      });

  nb::class_<OpenStore>(m, "StoreFile", "A result store. Use hilo.Store.")
      .def(nb::init<std::filesystem::path, bool>(), "file"_a, "writable"_a)
      .def_prop_ro("file", &OpenStore::file, "The path of the store.")
      .def_prop_ro("writable", &OpenStore::writable, "Whether it was opened for writing.")
      .def(
          "get", [](const OpenStore& s) { return s.shared(); }, "The store itself, for the engine.")
      .def("close", &OpenStore::close, "Closes the store, so that others can write to it.")
      .def(
          "experiments", [](const OpenStore& s) { return s.get().experiments(); },
          "Names of all experiments.")
      .def(
          "agents",
          [](const OpenStore& s, const std::string& experiment) {
            return s.get().agents(known_experiment(s.get(), experiment));
          },
          "experiment"_a, "Labels of the agents of an experiment.")
      .def(
          "status",
          [](const OpenStore& s, const std::string& experiment) {
            std::vector<std::tuple<std::string, std::uint64_t, std::uint64_t, std::uint64_t>> out;
            for (const AgentStatus& status :
                 s.get().agent_status(known_experiment(s.get(), experiment)))
              out.emplace_back(status.agent, status.planned, status.finished, status.failed);
            return out;
          },
          "experiment"_a,
          "For each agent, the numbers of its runs: (agent, planned, finished, failed).")
      .def(
          "columns",
          [](const OpenStore& s, const std::string& experiment) {
            if (!experiment.empty()) known_experiment(s.get(), experiment);
            std::vector<std::string> experiments, agents, metrics;
            std::vector<std::int64_t> seeds, episodes;
            std::vector<double> values;
            s.get().for_each_result(experiment, [&](const ResultRow& row) {
              experiments.push_back(row.experiment);
              agents.push_back(row.agent);
              seeds.push_back(static_cast<std::int64_t>(row.seed));
              episodes.push_back(static_cast<std::int64_t>(row.episode));
              metrics.push_back(row.metric);
              values.push_back(row.value);
            });
            nb::dict out;
            out["experiment"] = experiments;
            out["agent"] = agents;
            out["seed"] = own(std::move(seeds));
            out["episode"] = own(std::move(episodes));
            out["metric"] = metrics;
            out["value"] = own(std::move(values));
            return out;
          },
          "experiment"_a, nb::sig("def columns(self, experiment: str) -> dict[str, typing.Any]"),
          "All finished results in long format, column by column; \"\" for all experiments.")
      .def(
          "failed_runs",
          [](const OpenStore& s, const std::string& experiment) {
            std::vector<std::tuple<std::string, std::uint64_t, std::string>> out;
            for (const FailedRun& run : s.get().failed_runs(known_experiment(s.get(), experiment)))
              out.emplace_back(run.agent, run.seed, run.error);
            return out;
          },
          "experiment"_a, "(agent, seed, error) of the runs that failed.")
      .def(
          "policy",
          [](const OpenStore& s, const std::string& experiment, const std::string& agent,
             std::uint64_t seed) {
            return s.get().policy(known_experiment(s.get(), experiment), agent, seed);
          },
          "experiment"_a, "agent"_a, "seed"_a, "The policy that a run has learnt.")
      .def(
          "spec",
          [](const OpenStore& s, const std::string& experiment) {
            return s.get().provenance(known_experiment(s.get(), experiment)).spec;
          },
          "experiment"_a, "The TOML of an experiment, as it was last run.")
      .def(
          "keep_diagnosis",
          [](const OpenStore& s, const std::string& experiment, const std::string& json) {
            s.get().keep_diagnosis(experiment, json);
          },
          "experiment"_a, "json"_a, "Keeps the result of a pilot study.")
      .def(
          "diagnosis",
          [](const OpenStore& s, const std::string& experiment) {
            const std::vector<std::string> diagnosed = s.get().diagnosed();
            if (std::find(diagnosed.begin(), diagnosed.end(), experiment) == diagnosed.end())
              known_experiment(s.get(), experiment);
            return s.get().diagnosis(experiment);
          },
          "experiment"_a, "The result of the last pilot study as JSON, or \"\".")
      .def(
          "merge",
          [](const OpenStore& s, const std::vector<std::filesystem::path>& files) {
            const std::shared_ptr<Store> store = s.shared();  // another thread may close it
            const nb::gil_scoped_release release;
            std::vector<Store> others;
            for (const auto& file : files) {
              std::error_code ignored;
              if (std::filesystem::equivalent(file, s.file(), ignored))
                throw Error(Errc::usage, file.string() + " is to be merged into itself");
              others.push_back(Store::open_to_read(file));
            }
            store->merge(others);
          },
          "files"_a, "Adds all runs and experiments of other stores.");
}

}  // namespace hilo::python
