#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace hilo {

// What an output may take the place of. A store never, what the same command reads never, and a
// file that hilo did not write only by force.
struct Overwrite {
  std::string mark;  // stands in the first kilobyte of every file of this kind that hilo writes
  std::vector<std::filesystem::path> inputs = {};  // files and folders that are read
  bool force = false;
};

// Throws unless `file` may be written. Names are followed to the files behind them.
void require_writable(const std::filesystem::path& file, const Overwrite& overwrite);

// The same for a picture. No mark can be put into one: what has its name is taken for hilo's, but
// for stores and inputs. A link of that name is removed: what it leads to has another one.
void require_writable_picture(const std::filesystem::path& file,
                              const std::vector<std::filesystem::path>& inputs = {});

// Writes a file as a whole or not at all: into a neighbour first, which is then renamed.
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
