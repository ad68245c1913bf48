#include "hilo/evaluate/quantity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "hilo/core/error.hpp"
#include "hilo/core/parameters.hpp"

namespace hilo {
namespace {

constexpr std::array<const char*, 4> kNames = {"return", "total-reward", "length", "success"};

}  // namespace

std::vector<std::string> quantity_names() { return {kNames.begin(), kNames.end()}; }

QuantityKind quantity_kind(const std::string& name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end())
    throw Error(Errc::spec,
                fmt::format("quantity is '{}', but must be one of {}{}", name,
                            fmt::join(kNames, ", "), did_you_mean(name, quantity_names())));
  return static_cast<QuantityKind>(found - kNames.begin());
}

std::string describe(const Quantity& quantity) {
  switch (quantity.kind) {
    case QuantityKind::discounted_return:
      return "mean return";
    case QuantityKind::total_reward:
      return "mean total reward";
    case QuantityKind::length:
      return "mean length of an episode";
    case QuantityKind::success:
      break;
  }
  return "probability of success";
}

}  // namespace hilo
