#include "bindings.hpp"
#include "hilo/core/stop_request.hpp"
#include "hilo/env/program/conformance.hpp"
#include "hilo/env/program/program_simulators.hpp"
#include "hilo/env/source_simulator.hpp"
#include "polling.hpp"
#include "python_simulator.hpp"

namespace hilo::python {
namespace {

nb::list describe(const SimulatorCheck& result) {
  nb::list findings;
  for (const Finding& finding : result.findings) {
    nb::dict out;
    out["check"] = finding.check;
    out["verdict"] = finding.verdict == Verdict::good  ? "good"
                     : finding.verdict == Verdict::bad ? "bad"
                                                       : "skipped";
    out["found"] = finding.found;
    out["means"] = finding.means;
    out["mend"] = finding.mend;
    findings.append(out);
  }
  return findings;
}

}  // namespace

void bind_programs(nb::module_& m) {
  m.def(
      "make_program_high",
      [](const NamedValues& options) -> std::shared_ptr<const EpisodeSimulator> {
        std::shared_ptr<const EpisodeSimulator> out;
        run_polling([&](const auto&) { out = make_program_high(options); }, [] {});
        return out;
      },
      "options"_a, "A program as the expensive simulator. Use hilo.program.");
  m.def(
      "make_program_low",
      [](const NamedValues& options) -> std::shared_ptr<const Simulator> {
        std::shared_ptr<const Simulator> out;
        run_polling([&](const auto&) { out = make_program_low(options); }, [] {});
        return out;
      },
      "options"_a, "A program as the cheap simulator. Use hilo.program.");
  m.def("program_identity", &program_identity, "options"_a,
        "A text that stands for a program. Use hilo.program.");
  m.def(
      "check_program",
      [](const NamedValues& options, std::uint32_t episodes, std::uint32_t max_steps,
         std::uint32_t seed) {
        SimulatorCheck result;
        run_polling(
            [&](const auto&) {
              result = check_program(program_options(options),
                                     {.max_steps = max_steps, .episodes = episodes, .seed = seed});
            },
            [] {});
        return describe(result);
      },
      "options"_a, "episodes"_a, "max_steps"_a, "seed"_a,
      nb::sig("def check_program(options: collections.abc.Mapping[str, bool | int | float | str], "
              "episodes: int, max_steps: int, seed: int) -> "
              "list[dict[str, str]]"),
      "The findings about a program. Use hilo.check_simulator.");
  m.def(
      "check_source",
      [](const nb::callable& make, std::size_t num_states, std::size_t num_actions,
         bool starts_anywhere, bool deterministic, std::uint32_t episodes, std::uint32_t max_steps,
         std::uint32_t seed) {
        SimulatorCheck result;
        const CheckedSimulator checked = {
            .start =
                [&] {
                  const nb::gil_scoped_acquire gil;
                  return std::static_pointer_cast<StepSource>(
                      std::make_shared<PythonSource>(make(), num_states, num_actions, "simulator"));
                },
            .facts = {.name = "",
                      .version = "",
                      .observations = Space::discrete(num_states),
                      .actions = Space::discrete(num_actions),
                      .starts_anywhere = starts_anywhere,
                      .deterministic = deterministic}};
        run_polling(
            [&](const auto&) {
              result = check_simulator(
                  checked, {.max_steps = max_steps, .episodes = episodes, .seed = seed});
            },
            [] {});
        return describe(result);
      },
      "make"_a, "num_states"_a, "num_actions"_a, "starts_anywhere"_a, "deterministic"_a,
      "episodes"_a, "max_steps"_a, "seed"_a,
      nb::sig("def check_source(make: collections.abc.Callable[[], object], num_states: int, "
              "num_actions: int, starts_anywhere: bool, deterministic: bool, episodes: int, "
              "max_steps: int, seed: int) -> list[dict[str, str]]"),
      "The findings about a simulator in Python. Use hilo.check_simulator.");
}

}  // namespace hilo::python
