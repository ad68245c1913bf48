#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

// Makes the standard streams usable, however the program was started.
namespace hilo::cli {

// If a standard stream is closed, the next file that is opened gets its descriptor, and messages
// would be written into that file. Closed streams are therefore opened on /dev/null: standard input
// is empty, writing to standard output is an error, and messages to standard error are dropped.
inline void open_standard_streams() {
  for (const int descriptor : {0, 1, 2})
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      (void)!::open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY);
}

// Writes to standard error. Failures are ignored: the exit code still says what happened.
inline void say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace hilo::cli
