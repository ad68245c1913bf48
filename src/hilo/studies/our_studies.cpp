#include "hilo/studies/our_studies.hpp"

#include <array>
#include <mutex>

#include "hilo/studies/detail/embedded.hpp"

namespace hilo {
namespace {

constexpr std::array<std::string_view, 6> kSynthetic = {"figure-2a", "figure-2b", "figure-2c",
                                                        "figure-4a", "figure-4b", "figure-4c"};

constexpr std::array<std::string_view, 3> kNas = {"figure-3", "figure-5a", "figure-5b"};

constexpr std::array<std::string_view, 3> kEstimators = {"estimators", "coupling", "docking"};

constexpr std::array<std::string_view, 3> kContest = {"contest-random", "contest-docking",
                                                      "contest-nas"};

constexpr std::array<std::string_view, 6> kControl = {
    "control-pendulum",      "control-cart-pole",      "control-acrobot",
    "control-pendulum-many", "control-cart-pole-many", "control-acrobot-many"};

constexpr std::array<ShippedStudy, 5> kStudies = {{
    {"synthetic", "Figures 2 and 4: all of the paper's random MDPs, both sizes", kSynthetic},
    {"nas", "Figures 3 and 5: architecture search on three data sets; --table FILE for real ones",
     kNas},
    {"estimators", "all estimators and couplings on random MDPs, and docking (docs/estimators.md)",
     kEstimators},
    {"contest",
     "all agents on random MDPs, docking and architecture search (docs/agents.md); --table FILE",
     kContest},
    {"control", "agents for vectors on three swing-ups with cheap simulators of three qualities",
     kControl},
}};

}  // namespace

void add_our_studies() {
  static std::once_flag once;
  std::call_once(once, [] {
    add_shipment(
        {.specs = embedded_specs(), .studies = kStudies, .published = embedded_published()});
  });
}

}  // namespace hilo
