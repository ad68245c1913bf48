#include "hilo/core/text.hpp"

#include <cstddef>
#include <cstdint>

namespace hilo {
namespace {

// Length of the character that starts with this byte; 0 if none does.
std::size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  if (first >= 0xf0 && first < 0xf5) return 4;
  return 0;
}

}  // namespace

bool is_plain_text(std::string_view text) {
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = length_of(first);
    if (length == 0 || i + length > text.size()) return false;
    if (length == 1 && (first < 0x20 || first == 0x7f)) return false;
    std::uint32_t code = length == 1 ? first : first & (0x7fU >> length);
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3fU);
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    const bool control = code >= 0x80 && code < 0xa0;
    if (code < kSmallest[length] || code > 0x10ffff || surrogate || control) return false;
    i += length;
  }
  return true;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = length_of(static_cast<unsigned char>(text[i]));
    const bool is_blank = text[i] == '\n' || text[i] == '\t';
    if (is_blank || (length > 0 && is_plain_text(text.substr(i, length)))) {
      out += text.substr(i, length);
      i += length;
    } else {
      out += '?';
      ++i;
    }
  }
  return out;
}

}  // namespace hilo
