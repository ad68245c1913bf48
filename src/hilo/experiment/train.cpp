#include "hilo/experiment/train.hpp"

#include "hilo/experiment/tabular_domain.hpp"

namespace hilo {

std::vector<Measurement> train(TabularAgent& agent, const EpisodeSimulator& high,
                               const TrainingOptions& options, const TestPlan& test,
                               const std::function<bool()>& keep_going, Truncation truncation) {
  TabularDomain domain(agent, high,
                       {.truncation = truncation, .has_pilot = options.pilot_episodes > 0});
  Training training(domain, options, test);
  do {
    if (!keep_going()) throw Interrupted();
  } while (!training.step());
  return training.measurements();
}

}  // namespace hilo
