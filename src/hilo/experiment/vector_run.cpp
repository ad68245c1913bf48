#include "hilo/experiment/vector_run.hpp"

#include <cmath>

#include "hilo/core/archive.hpp"
#include "hilo/core/error.hpp"
#include "hilo/experiment/detail/run_group.hpp"
#include "hilo/experiment/metrics.hpp"
#include "hilo/experiment/training.hpp"
#include "hilo/experiment/vector_domain.hpp"

namespace hilo {
namespace {

constexpr const char* kTag = "vector run";
constexpr std::uint32_t kArchiveVersion = 1;

TrainingOptions options_of(const PlannedRun& run) {
  const TrainingOptions options = training_options(run);
  if (options.lag > 1)
    throw Error(Errc::spec, "train.lag is for problems whose states and actions are numbered");
  if (options.pilot_episodes > 0)
    throw Error(Errc::spec,
                "train.pilot_episodes is for problems whose states and actions are numbered");
  return options;
}

}  // namespace

struct VectorRun::Impl {
  Impl(const PlannedRun& its_run, const VectorProblem& its_problem)
      : run(its_run),
        problem(its_problem),
        agent(build_checked(*run.config->agent, problem.pair, run.config->agent_parameters,
                            agent_setting(run))),
        domain(*agent, problem.pair.high()),
        training(domain, options_of(run), test_plan(*run.config)) {}

  PlannedRun run;
  const VectorProblem& problem;
  std::unique_ptr<VectorAgent> agent;
  VectorDomain domain;
  Training training;
};

VectorRun::VectorRun(const PlannedRun& run, const VectorProblem& problem)
    : impl_(std::make_unique<Impl>(run, problem)) {}
VectorRun::~VectorRun() = default;

bool VectorRun::step() { return impl_->training.step(); }
bool VectorRun::is_done() const { return impl_->training.is_done(); }
double VectorRun::share() const { return impl_->training.share(); }

RunRecord VectorRun::record() const {
  if (!is_done()) throw Error(Errc::usage, "a run that is not done has no record");
  RunRecord record = start_record(impl_->run);
  record.measurements = impl_->training.measurements();
  if (impl_->run.config->agent->uses_low_fidelity())
    for (const Fact& fact : impl_->problem.facts)
      if (std::isfinite(fact.value))
        record.measurements.push_back(
            {impl_->agent->episodes(), kOfProblem + fact.name, fact.value});
  record.policy = impl_->agent->artifact();
  return record;
}

bool VectorRun::can_be_saved() const {
  return impl_->training.is_whole() && impl_->agent->can_be_saved();
}

std::vector<std::byte> VectorRun::save() const {
  ArchiveWriter out(kTag, kArchiveVersion);
  save_identity(impl_->run, out);
  impl_->training.save(out);
  return out.finish();
}

void VectorRun::load(std::span<const std::byte> bytes) {
  ArchiveReader in(bytes, kTag, kArchiveVersion);
  check_identity(impl_->run, in);
  impl_->training.load(in);
  in.finish();
}

}  // namespace hilo
