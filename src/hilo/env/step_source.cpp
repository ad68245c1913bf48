#include "hilo/env/step_source.hpp"

#include "hilo/core/error.hpp"

namespace hilo {

bool StepSource::put(const Point& /*observation*/, std::uint32_t /*seed*/) {
  throw Error(Errc::usage, "this simulator cannot be started anywhere");
}

double StepSource::reward(const Point& /*observation*/, const Point& /*action*/,
                          const Point& /*next*/) {
  throw Error(Errc::usage, "this simulator does not tell rewards of steps taken elsewhere");
}

void StepSource::tune(std::span<const std::string> names, std::span<const double> /*values*/) {
  if (!names.empty()) throw Error(Errc::usage, "this simulator has no numbers that can be tuned");
}

SourceEntry::SourceEntry(StepSource& source) : source_(source) {
  if (source.owner_ == std::this_thread::get_id())
    throw Error(Errc::usage, "a simulator was asked for an episode from within its own");
  lock_ = std::unique_lock(source.mutex_);
  source.enter();
  source.owner_ = std::this_thread::get_id();
}

SourceEntry::~SourceEntry() {
  source_.leave();
  source_.owner_ = std::thread::id();
}

}  // namespace hilo
