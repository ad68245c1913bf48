#pragma once

#include <span>
#include <string_view>

namespace hilo {

// The files of experiments/, built into the program so that it needs no data folder.
struct ShippedSpec {
  std::string_view name;
  std::string_view toml;
};

// Several specs that belong together.
struct ShippedStudy {
  std::string_view name, description;
  std::span<const std::string_view> specs;
};

// The first comment of a spec says what it is.
inline std::string_view description_of(const ShippedSpec& spec) {
  return spec.toml.substr(2, spec.toml.find('\n') - 2);
}

std::span<const ShippedSpec> shipped_specs();
std::span<const ShippedStudy> shipped_studies();
std::string_view shipped_published();

}  // namespace hilo
