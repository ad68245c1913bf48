#include "hilo/core/text_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "hilo/core/error.hpp"

namespace hilo {

namespace fs = std::filesystem;

void require_readable(const fs::path& file) {
  const auto fail = [&](const std::string& why) {
    throw Error(Errc::io, fmt::format("{}: {}", file.string(), why));
  };
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (error == std::errc::too_many_symbolic_link_levels)
    fail("cannot be read: its links lead in a circle");
  if (status.type() == fs::file_type::not_found)
    fail(fs::is_symlink(file, error) ? "cannot be read: it is a link to a file that is not there"
                                     : "cannot be read: there is no such file");
  if (status.type() == fs::file_type::directory) fail("cannot be read: it is a folder");
  if (::access(file.c_str(), R_OK) != 0)
    fail(fmt::format("cannot be read: {}", std::generic_category().message(errno)));
}

std::string read_text_file(const fs::path& file, std::size_t most, Errc too_large) {
  require_readable(file);
  std::ifstream in(file, std::ios::binary);
  std::string text;
  char buffer[1 << 16];
  while (in && text.size() <= most) {
    in.read(buffer, sizeof buffer);
    text.append(buffer, static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad() || (!in.eof() && text.size() <= most))
    throw Error(Errc::io, fmt::format("{}: reading failed", file.string()));
  if (text.size() > most)
    throw Error(too_large, fmt::format("{}: has more than {} bytes", file.string(), most));
  return text;
}

}  // namespace hilo
