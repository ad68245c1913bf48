#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hilo {

// An architecture as a number with the operations e_0 e_1 ... as digits, most significant first.
using Architecture = std::uint32_t;

// All cells with a given number of edges. Each edge has one of `operations` operations. The
// defaults are those of NAS-Bench-201: 4 nodes, 6 edges, 5 operations, 15,625 architectures.
class NasSpace {
 public:
  explicit NasSpace(std::uint32_t edges = 6, std::uint32_t operations = 5);

  std::uint32_t edges() const { return edges_; }
  std::uint32_t operations() const { return operations_; }
  std::size_t size() const { return size_; }

  std::uint32_t operation(Architecture a, std::uint32_t edge) const {
    return a / place_[edge] % operations_;
  }
  Architecture with(Architecture a, std::uint32_t edge, std::uint32_t operation) const {
    return a + (operation - a / place_[edge] % operations_) * place_[edge];
  }
  // The place value of an edge's digit.
  std::uint32_t place(std::uint32_t edge) const { return place_[edge]; }

 private:
  std::uint32_t edges_, operations_;
  std::size_t size_ = 1;
  std::uint32_t place_[8] = {};
};

// The names of NAS-Bench-201. Edges are in the order 0->1, 0->2, 0->3, 1->2, 1->3, 2->3 and
// operations in the order below, as in the published runs.
namespace nasbench201 {

inline constexpr std::string_view kOperations[] = {"skip_connect", "none", "nor_conv_3x3",
                                                   "nor_conv_1x1", "avg_pool_3x3"};
inline constexpr std::uint32_t kNone = 1;
inline constexpr std::uint32_t kEdges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
inline constexpr Architecture kStart = 2 * 3125 + 4 * 625 + 2 * 125 + 4 * 25 + 2 * 5 + 4;  // 242424

// "|nor_conv_3x3~0|+|avg_pool_3x3~0|avg_pool_3x3~1|+|...|": edges by the node they lead to.
std::string to_string(Architecture a);

// Reads such a string. Throws Errc::data if it is malformed.
Architecture parse(std::string_view text);

// Reads six digits, one operation for each edge. With `naslib`, edges and operations are in the
// order above. Otherwise edges are in the order of the string, and the operations are
// 0 none, 1 skip_connect, 2 nor_conv_1x1, 3 nor_conv_3x3, 4 avg_pool_3x3.
Architecture parse_digits(std::string_view digits, bool naslib);

}  // namespace nasbench201
}  // namespace hilo
