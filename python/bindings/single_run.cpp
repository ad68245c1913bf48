#include "hilo/experiment/single_run.hpp"

#include <atomic>

#include "bindings.hpp"
#include "env_cast.hpp"
#include "hilo/env/streams.hpp"
#include "polling.hpp"
#include "turn.hpp"

namespace hilo::python {
namespace {

struct BoundRun {
  SingleRun run;
  std::atomic<std::uint64_t> told = 0;  // number of changes, which make earlier requests invalid
  std::atomic<bool> busy = false;
};

// A request is invalid as soon as its run has changed.
struct Request {
  std::shared_ptr<BoundRun> of;
  std::uint64_t told;
  TabularRequest asked;

  const TabularRequest& get() const {
    if (of->told != told)
      throw Error(Errc::usage, "this request is no longer open: ask the run for the next one");
    return asked;
  }
};

}  // namespace

void bind_single_run(nb::module_& m) {
  nb::class_<Request>(m, "EpisodeRequest",
                      "A request for an expensive episode, with the policy to follow.")
      .def_prop_ro(
          "number", [](const Request& r) { return r.asked.number; },
          "The number of the episode, counted from 0.")
      .def_prop_ro(
          "seed", [](const Request& r) { return r.asked.simulator_seed(); },
          "A seed for your own simulator: below 2^31, and a new one for every episode.")
      .def_prop_ro(
          "max_steps", [](const Request& r) { return r.asked.horizon.max_steps; },
          "The number of steps after which the episode is truncated.")
      .def(
          "action",
          [](const Request& r, std::uint32_t step, State state) {
            const Turn turn(r.of->busy, "run");
            return r.get().action(step, state);
          },
          "step"_a, "state"_a, "The action in a state at a step, counted from 0.")
      .def(
          "run_in",
          [](const Request& r, const EpisodeSimulator& simulator) {
            const Turn turn(r.of->busy, "run");
            Episode out;
            const TabularRequest& asked = r.get();
            simulator.run_episode(asked.policy, asked.streams, asked.horizon, out);
            return out;
          },
          "simulator"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Runs the episode in a simulator of the engine.")
      .def("__repr__", [](const Request& r) {
        return "EpisodeRequest(number=" + std::to_string(r.asked.number) + ")";
      });

  nb::class_<BoundRun>(
      m, "Run",
      "One run of a spec, one episode at a time, if you run the expensive episodes "
      "yourself. The results are the same bits as those of hilo.run.")
      .def(
          "__init__",
          [](BoundRun* self, const Spec& spec, const std::string& agent, std::uint64_t seed) {
            new (self) BoundRun{.run = SingleRun(spec, agent, seed)};
          },
          "spec"_a, "agent"_a = "", "seed"_a = 0)
      .def_prop_ro(
          "done", [](const BoundRun& self) { return self.run.is_done(); },
          "Whether the budget is spent.")
      .def_prop_ro(
          "high", [](const BoundRun& self) { return cast_high(self.run.shared_high()); },
          nb::sig("def high(self) -> EpisodeSimulator"), "The expensive simulator of the problem.")
      .def(
          "ask",
          [](const std::shared_ptr<BoundRun>& self) {
            const Turn turn(self->busy, "run");
            return Request{self, self->told, self->run.ask()};
          },
          nb::call_guard<nb::gil_scoped_release>(),
          "The next expensive episode, after all tests that are due before it.")
      .def(
          "tell",
          [](BoundRun& self, const Episode& episode) {
            const Turn turn(self.busy, "run");
            try {
              self.run.tell(episode);
            } catch (...) {
              if (!self.run.has_open_request()) ++self.told;
              throw;
            }
            ++self.told;
          },
          "episode"_a, nb::call_guard<nb::gil_scoped_release>(), "Learns from the episode.")
      .def(
          "finish",
          [](BoundRun& self) {
            const Turn turn(self.busy, "run");
            ++self.told;
            run_polling(
                [&](const std::function<bool()>& keep_going) {
                  while (!self.run.is_done() && keep_going()) self.run.step();
                },
                [] {});
          },
          "Completes the run, with episodes in the expensive simulator of the problem.")
      .def_prop_ro(
          "measurements",
          [](BoundRun& self) {
            const Turn turn(self.busy, "run");
            std::vector<std::tuple<std::uint64_t, std::string, double>> out;
            for (const Measurement& m : self.run.measurements())
              out.emplace_back(m.episode, m.metric, m.value);
            return out;
          },
          "(episode, metric, value) of all measurements so far.")
      .def(
          "save",
          [](BoundRun& self) {
            const Turn turn(self.busy, "run");
            return bytes_of(self.run.save());
          },
          "Its whole state, between any two episodes.")
      .def(
          "load",
          [](BoundRun& self, const nb::bytes& state) {
            const Turn turn(self.busy, "run");
            ++self.told;
            self.run.load({reinterpret_cast<const std::byte*>(state.c_str()), state.size()});
          },
          "state"_a, "Continues from the state of a run of the same spec, agent and seed.")
      .def("__repr__", [](const BoundRun& self) {
        return std::string("Run(") + (self.run.is_done() ? "done" : "under way") + ")";
      });
}

}  // namespace hilo::python
