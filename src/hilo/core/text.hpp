#pragma once

#include <string_view>

namespace hilo {

// Whether a text is valid UTF-8 without control characters, as labels, messages and files need.
bool is_plain_text(std::string_view text);

}  // namespace hilo
