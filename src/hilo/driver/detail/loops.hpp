#pragma once

#include "hilo/driver/detail/learn_loop.hpp"

// For the sources of this folder only.
namespace hilo {

std::unique_ptr<LearnLoop> make_table_loop(const Spec& spec, std::uint64_t seed);
std::unique_ptr<LearnLoop> make_vector_loop(const Spec& spec, std::uint64_t seed);

}  // namespace hilo
