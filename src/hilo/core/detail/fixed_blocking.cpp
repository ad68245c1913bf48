#include "hilo/core/detail/fixed_blocking.hpp"

#include <Eigen/Core>

namespace hilo {
namespace {

const bool is_fixed = [] {
  Eigen::setCpuCacheSizes(32 * 1024, 512 * 1024, 4 * 1024 * 1024);
  return true;
}();

}  // namespace

void fix_blocking() { (void)is_fixed; }

}  // namespace hilo
