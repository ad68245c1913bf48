#include "hilo/report/shipped.hpp"

namespace hilo {
namespace {

struct All {
  std::vector<ShippedSpec> specs;
  std::vector<ShippedStudy> studies;
  std::vector<std::string_view> published;
};

All& all() {
  static All the;
  return the;
}

}  // namespace

void add_shipment(const Shipment& shipment) {
  all().specs.insert(all().specs.end(), shipment.specs.begin(), shipment.specs.end());
  all().studies.insert(all().studies.end(), shipment.studies.begin(), shipment.studies.end());
  all().published.push_back(shipment.published);
}

std::span<const ShippedSpec> shipped_specs() { return all().specs; }
std::span<const ShippedStudy> shipped_studies() { return all().studies; }
std::span<const std::string_view> shipped_published() { return all().published; }

}  // namespace hilo
