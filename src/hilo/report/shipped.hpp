#pragma once

#include <span>
#include <string_view>

namespace hilo {

// The files of experiments/, built into the program so that it needs no data folder.
struct ShippedSpec {
  std::string_view name;
  std::string_view toml;
};

std::span<const ShippedSpec> shipped_specs();
std::string_view shipped_published();

}  // namespace hilo
