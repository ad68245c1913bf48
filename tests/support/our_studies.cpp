#include "hilo/studies/our_studies.hpp"

// Tests of reports look at shipped experiments.
namespace {

[[maybe_unused]] const bool kAdded = [] {
  hilo::add_our_studies();
  return true;
}();

}  // namespace
