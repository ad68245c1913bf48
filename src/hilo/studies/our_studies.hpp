#pragma once

namespace hilo {

// Registers the experiments of the paper with their published values, and hilo's own studies, as
// shipped experiments (report/shipped.hpp). A second call does nothing.
void add_our_studies();

}  // namespace hilo
