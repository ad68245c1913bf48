#pragma once

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "hilo/core/error.hpp"

// For the library's own sources only.
namespace hilo {

// A new folder for files that nobody else needs. It is removed with everything in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code failed;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(failed);
    if (failed)
      throw Error(Errc::io, "there is no folder for temporary files (TMPDIR): " + failed.message());
    std::string name = (parent / "hilo-XXXXXX").string();  // mkdtemp replaces the X
    if (::mkdtemp(name.data()) == nullptr)
      throw Error(Errc::io, name + ": cannot be made: " + std::strerror(errno));
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace hilo
