#include "hilo/store/detail/writer_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "hilo/core/error.hpp"

namespace hilo {

WriterLock::WriterLock(const std::filesystem::path& store, std::string_view what)
    : file_(store.string() + ".lock") {
  // The previous writer removes the file while it holds the lock. A lock on a file that has since
  // been removed protects nothing, so try again.
  do {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ < 0)
      throw Error(Errc::io, fmt::format("{}: the {} cannot be written: {}", store.string(), what,
                                        std::generic_category().message(errno)));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      ::close(descriptor_);
      throw Error(Errc::io,
                  fmt::format("{}: the {} is in use by another process", store.string(), what));
    }
  } while (!is_current());
}

WriterLock::~WriterLock() {
  if (is_current()) ::unlink(file_.c_str());  // otherwise it belongs to another writer
  ::close(descriptor_);
}

bool WriterLock::is_current() const {
  struct stat ours {};
  struct stat there {};
  return ::fstat(descriptor_, &ours) == 0 && ::stat(file_.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

}  // namespace hilo
