#include "hilo/experiment/vector_run.hpp"

#include <algorithm>
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

// Episodes that are asked for are no longer than the simulator makes them.
TrainingOptions options_of(const PlannedRun& run, const VectorSimulator& high) {
  TrainingOptions options = training_options(run);
  options.max_steps = std::min(options.max_steps, high.time_limit());
  if (options.lag > 1)
    throw Error(Errc::spec, "train.lag is for problems whose states and actions are numbered");
  if (options.pilot_episodes > 0)
    throw Error(Errc::spec,
                "train.pilot_episodes is for problems whose states and actions are numbered");
  return options;
}

}  // namespace

struct VectorRun::Impl {
  Impl(std::unique_ptr<const VectorProblem> its_own, const RunConfig& its_config,
       std::uint64_t seed, const VectorProblem& its_problem)
      : own(std::move(its_own)),
        config(its_config),
        run{&config, seed},
        problem(its_problem),
        agent(build_checked(*run.config->agent, problem.pair, run.config->agent_parameters,
                            agent_setting(run))),
        domain(*agent, problem.pair.high()),
        training(domain, options_of(run, problem.pair.high()), test_plan(*run.config)) {}

  std::unique_ptr<const VectorProblem> own;  // null: the problem belongs to the caller
  RunConfig config;
  PlannedRun run;
  const VectorProblem& problem;
  std::unique_ptr<VectorAgent> agent;
  VectorDomain domain;
  Training training;
  std::optional<EpisodeRequest> asked;
};

VectorRun::VectorRun(const Spec& spec, std::uint64_t seed) {
  const RunConfig& config = spec.configs.front();
  auto own = std::make_unique<const VectorProblem>(
      build_vector_problem(*config.problem_kind, config.problem, seed));
  const VectorProblem& there = *own;
  impl_ = std::make_unique<Impl>(std::move(own), config, seed, there);
}
VectorRun::VectorRun(const PlannedRun& run, const VectorProblem& problem)
    : impl_(std::make_unique<Impl>(nullptr, *run.config, run.seed, problem)) {}
VectorRun::~VectorRun() = default;

bool VectorRun::step() { return impl_->training.step(); }
bool VectorRun::is_done() const { return impl_->training.is_done(); }
double VectorRun::share() const { return impl_->training.share(); }

EpisodeRequest VectorRun::ask() {
  impl_->asked = impl_->training.ask();
  return *impl_->asked;
}

void VectorRun::tell(const VectorEpisode& episode) {
  if (!impl_->asked) throw Error(Errc::usage, "an episode was told that was not asked for");
  impl_->domain.take(*impl_->asked, episode);
  impl_->asked.reset();
  impl_->training.tell();
}

void VectorRun::skip() {
  if (!impl_->asked) throw Error(Errc::usage, "an episode was skipped that was not asked for");
  impl_->asked.reset();
  impl_->training.skip();
}

void VectorRun::stop() {
  impl_->asked.reset();
  impl_->training.stop();
}

const VectorAgent& VectorRun::agent() const { return *impl_->agent; }
const VectorSimulator& VectorRun::high() const { return impl_->problem.pair.high(); }
const VectorFidelities& VectorRun::pair() const { return impl_->problem.pair; }
std::uint64_t VectorRun::low_steps() const { return impl_->training.low_steps(); }

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
  impl_->asked.reset();
  impl_->training.load(in);
  in.finish();
}

}  // namespace hilo
