#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hilo {

// An experiment that ships with a program. The first line of its TOML is a comment: a description.
struct ShippedSpec {
  std::string_view name;
  std::string_view toml;
};

// Several specs that belong together.
struct ShippedStudy {
  std::string_view name, description;
  std::span<const std::string_view> specs;
};

inline std::string_view description_of(const ShippedSpec& spec) {
  return spec.toml.substr(2, spec.toml.find('\n') - 2);
}

// Experiments that ship with a program, and their published values. Reports use them for titles, to
// name the missing parts of a study, and to compare results with published values. hilo's own
// shipment is in studies/.
struct Shipment {
  std::span<const ShippedSpec> specs;
  std::span<const ShippedStudy> studies;
  std::string_view published;  // CSV in the format of experiments/published.csv
};

// Must be called before any report is made. The texts and spans must live as long as the program.
void add_shipment(const Shipment& shipment);

std::span<const ShippedSpec> shipped_specs();
std::span<const ShippedStudy> shipped_studies();
std::span<const std::string_view> shipped_published();

}  // namespace hilo
