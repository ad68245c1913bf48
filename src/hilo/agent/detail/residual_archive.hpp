#pragma once

#include "hilo/core/archive.hpp"
#include "hilo/model/residual_model.hpp"

// For the sources of this folder only: a model is not saved but made again from its steps and
// scales. What is read is checked; it throws if it does not fit.
namespace hilo {

void save_data(ArchiveWriter& out, const ResidualData& data);
ResidualData load_data(ArchiveReader& in, const ResidualData& like);
void save_scales(ArchiveWriter& out, const ProcessScales& scales);
ProcessScales load_scales(ArchiveReader& in);

}  // namespace hilo
