#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hilo/store/journal.hpp"

// For the sources of this folder only: runs as rows of a journal.
namespace hilo {

// Four lines for each simulator: role, name, version, identity. simulators_of reads them.
std::string lines_of(const std::vector<SimulatorIdentity>& simulators);
std::vector<SimulatorIdentity> simulators_of(const std::string& lines);

std::int64_t checksum_of(const JournalledRun& run);

// "train.gamma was 0.99 and is 0.9, agent.kind was ..."
std::string differences(const Configuration& before, const Configuration& now);

}  // namespace hilo
