#include <fmt/format.h>
#include <hilo/experiment/single_run.hpp>

int main() {
  hilo::SingleRun run(hilo::load_spec("spec.toml"), "MCRL", /*seed=*/0);
  hilo::Episode episode;
  while (!run.is_done()) {
    const hilo::TabularRequest request = run.ask();
    // Any way to make an episode will do. Here it is the problem's own expensive simulator.
    run.high().run_episode(request.policy, request.streams, request.horizon, episode);
    run.tell(episode);
  }
  for (const hilo::Measurement& m : run.measurements())
    fmt::print("{},{},{}\n", m.episode, m.metric, m.value);
}
