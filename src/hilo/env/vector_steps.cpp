#include "hilo/env/vector_steps.hpp"

#include "hilo/core/error.hpp"

namespace hilo {

std::shared_ptr<const VectorSteps> VectorSteps::tuned(std::span<const std::string> /*names*/,
                                                      std::span<const double> /*values*/) const {
  throw Error(Errc::spec, "the cheap simulator has no numbers that can be tuned");
}

}  // namespace hilo
