#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

// What must hold of the standard streams whoever started the program.
namespace hilo::cli {

// A stream that was closed would be the next file that is opened, and messages would be written
// into that. Nothing can be read from one of ours, nothing written to standard output: that is an
// error when it is used; messages are dropped.
inline void open_standard_streams() {
  for (const int descriptor : {0, 1, 2})
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      (void)!::open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY);
}

// To standard error. If nobody can read it, the exit code still says what happened.
inline void say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace hilo::cli
