#pragma once

#include <string>
#include <string_view>

namespace hilo {

// Whether a text is valid UTF-8 without control characters, as labels, messages and files need.
bool is_plain_text(std::string_view text);

// The text with '?' in the place of every byte that is not part of valid UTF-8.
std::string valid_utf8(std::string_view text);

}  // namespace hilo
