#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hilo {

// An experiment that ships with a program. The first comment of the TOML says what it is.
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

// Experiments that somebody ships, with what has been published of them: reports give them titles,
// say what is missing of a study, and compare. hilo's own are those of studies/.
struct Shipment {
  std::span<const ShippedSpec> specs;
  std::span<const ShippedStudy> studies;
  std::string_view published;  // CSV, as experiments/published.csv
};

// Before anything is reported. What it refers to must live as long as the program.
void add_shipment(const Shipment& shipment);

std::span<const ShippedSpec> shipped_specs();
std::span<const ShippedStudy> shipped_studies();
std::span<const std::string_view> shipped_published();

}  // namespace hilo
