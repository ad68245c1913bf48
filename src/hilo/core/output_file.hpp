#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace hilo {

// Which existing files an output may overwrite: never a store, never an input of the same command,
// and a file that hilo did not write only by force.
struct Overwrite {
  std::string mark;  // a text in the first kilobyte of every file of this kind that hilo writes
  std::vector<std::filesystem::path> inputs = {};  // files and folders that are read
  bool force = false;
};

// Throws unless `file` may be written. Symbolic links are followed.
void require_writable(const std::filesystem::path& file, const Overwrite& overwrite);
// Throws Errc::io unless its folder is there and can be written to, for commands that would find
// out only after long work.
void require_folder(const std::filesystem::path& file);

// The same for a picture. A picture cannot hold a mark, so that any existing file of this name may
// be overwritten, except stores and inputs. If the name is a symbolic link, the link is removed, so
// that the file that it leads to is kept.
void require_writable_picture(const std::filesystem::path& file,
                              const std::vector<std::filesystem::path>& inputs = {});

// Writes a file as a whole or not at all: first into a temporary file in the same folder, which
// commit() then renames.
class AtomicFile {
 public:
  AtomicFile(const std::filesystem::path& file, const Overwrite& overwrite);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  std::ofstream& out() { return out_; }
  void commit();

 private:
  std::filesystem::path file_, part_;
  bool in_place_ = false;
  std::ofstream out_;
};

}  // namespace hilo
