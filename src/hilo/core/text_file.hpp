#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "hilo/core/error.hpp"

namespace hilo {

// Throws unless the file can be read, and says why in words of its own: it is missing, a folder, a
// link that leads nowhere or in a circle, or not allowed.
void require_readable(const std::filesystem::path& file);

// All of it. Throws `too_large` if it has more than `most` bytes, however many there are: a device
// may never end.
std::string read_text_file(const std::filesystem::path& file, std::size_t most, Errc too_large);

}  // namespace hilo
