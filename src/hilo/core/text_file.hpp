#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "hilo/core/error.hpp"

namespace hilo {

// Throws unless the file can be read. The message gives the reason: the file is missing, is a
// folder, is a link that leads nowhere or in a circle, or access is denied.
void require_readable(const std::filesystem::path& file);

// The whole file. Throws `too_large` once more than `most` bytes are read, as a device may never
// end.
std::string read_text_file(const std::filesystem::path& file, std::size_t most, Errc too_large);

}  // namespace hilo
