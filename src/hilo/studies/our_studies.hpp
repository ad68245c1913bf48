#pragma once

namespace hilo {

// Adds the experiments of the paper and our own contests to what is shipped (report/shipped.hpp),
// with the published values. A second call does nothing.
void add_our_studies();

}  // namespace hilo
