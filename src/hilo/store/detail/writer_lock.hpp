#pragma once

#include <filesystem>
#include <string>
#include <string_view>

// For the sources of this folder only: the lock that allows one writer at a time.
namespace hilo {

// A lock on a file beside the store. The operating system releases it when the process ends, even
// if it crashes.
class WriterLock {
 public:
  // Throws Errc::io if another process holds it.
  explicit WriterLock(const std::filesystem::path& store, std::string_view what = "store");
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;
  ~WriterLock();

 private:
  bool is_current() const;

  std::string file_;
  int descriptor_ = -1;
};

}  // namespace hilo
