#pragma once

#include <string_view>

namespace hilo {

// Whether a text is valid UTF-8 without control characters: fit for labels, messages and files.
bool is_plain_text(std::string_view text);

}  // namespace hilo
