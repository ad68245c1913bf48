#pragma once

#include <filesystem>
#include <string>

// For the sources of this folder only.
namespace hilo {

// Held by the one writer: a lock on a file beside the store, which the system lets go of when the
// process ends, however it ends.
class WriterLock {
 public:
  // Throws Errc::io if another process holds it.
  explicit WriterLock(const std::filesystem::path& store);
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;
  ~WriterLock();

 private:
  bool is_current() const;

  std::string file_;
  int descriptor_ = -1;
};

}  // namespace hilo
