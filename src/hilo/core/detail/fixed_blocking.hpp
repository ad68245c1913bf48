#pragma once

namespace hilo {

// Eigen splits large matrix products by the sizes of the CPU's caches, and sums depend on the
// split. Sizes of our own make the bits the same on all machines. They are set before main, when
// there is one thread; a call makes sure that the file that does it is linked.
void fix_blocking();

}  // namespace hilo
