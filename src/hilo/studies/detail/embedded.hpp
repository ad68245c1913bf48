#pragma once

#include "hilo/report/shipped.hpp"

// The files of experiments/, built into the program so that it needs no data folder.
namespace hilo {

std::span<const ShippedSpec> embedded_specs();
std::string_view embedded_published();

}  // namespace hilo
