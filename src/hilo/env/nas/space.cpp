#include "hilo/env/nas/space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "hilo/core/error.hpp"

namespace hilo {

NasSpace::NasSpace(std::uint32_t edges, std::uint32_t operations)
    : edges_(edges), operations_(operations) {
  require_within("edges", std::uint64_t{edges}, 2, 8);
  require_within("operations", std::uint64_t{operations}, 2, 8);
  for (std::uint32_t i = 0; i < edges; ++i) {
    place_[edges - 1 - i] = static_cast<std::uint32_t>(size_);
    size_ *= operations;
  }
}

namespace nasbench201 {
namespace {

const NasSpace& space() {
  static const NasSpace kSpace;
  return kSpace;
}

std::optional<std::uint32_t> edge_between(std::uint32_t from, std::uint32_t to) {
  for (std::uint32_t e = 0; e < 6; ++e)
    if (kEdges[e][0] == from && kEdges[e][1] == to) return e;
  return std::nullopt;
}

[[noreturn]] void fail(std::string_view text, const std::string& why) {
  throw Error(Errc::data,
              fmt::format("'{}' is no NAS-Bench-201 architecture: {}", text.substr(0, 120), why));
}

}  // namespace

std::string to_string(Architecture a) {
  std::string out;
  for (std::uint32_t to = 1; to <= 3; ++to) {
    out += to == 1 ? "|" : "+|";
    for (std::uint32_t from = 0; from < to; ++from)
      out +=
          fmt::format("{}~{}|", kOperations[space().operation(a, *edge_between(from, to))], from);
  }
  return out;
}

Architecture parse(std::string_view text) {
  const std::string_view whole = text;
  Architecture a = 0;
  for (std::uint32_t to = 1; to <= 3; ++to) {
    const std::string_view open = to == 1 ? "|" : "+|";
    if (!text.starts_with(open))
      fail(whole, fmt::format("'{}' is missing before node {}", open, to));
    text.remove_prefix(open.size());
    for (std::uint32_t from = 0; from < to; ++from) {
      const std::size_t end = text.find('|');
      const std::string_view entry = text.substr(0, end);
      const std::size_t tilde = entry.find('~');
      if (end == std::string_view::npos || tilde == std::string_view::npos ||
          entry.substr(tilde + 1) != fmt::format("{}", from))
        fail(whole, fmt::format("'OPERATION~{}|' is missing before node {}", from, to));
      const auto found = std::ranges::find(kOperations, entry.substr(0, tilde));
      if (found == std::end(kOperations))
        fail(whole,
             fmt::format("operation '{}' is none of {}", entry.substr(0, tilde).substr(0, 40),
                         fmt::join(kOperations, ", ")));
      a = space().with(a, *edge_between(from, to),
                       static_cast<std::uint32_t>(found - std::begin(kOperations)));
      text.remove_prefix(end + 1);
    }
  }
  if (!text.empty()) fail(whole, "something follows it");
  return a;
}

Architecture parse_digits(std::string_view digits, bool naslib) {
  if (digits.size() != 6 ||
      !std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '4'; }))
    fail(digits, "it must be six digits 0 to 4");
  // From the string's order of edges and its numbers of operations to those of NasSpace.
  constexpr std::uint32_t kEdgeOf[6] = {0, 1, 3, 2, 4, 5};  // 0->1, 0->2, 1->2, 0->3, 1->3, 2->3
  constexpr std::uint32_t kOperationOf[5] = {1, 0, 3, 2, 4};
  Architecture a = 0;
  for (std::uint32_t i = 0; i < 6; ++i) {
    const auto digit = static_cast<std::uint32_t>(digits[i] - '0');
    a = naslib ? space().with(a, i, digit) : space().with(a, kEdgeOf[i], kOperationOf[digit]);
  }
  return a;
}

}  // namespace nasbench201
}  // namespace hilo
