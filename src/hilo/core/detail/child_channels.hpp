#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hilo/core/detail/scratch_folder.hpp"
#include "hilo/core/error.hpp"

// For child_process.cpp only: the pipes and FIFOs to another program, and lines out of bytes.
namespace hilo {

[[noreturn]] inline void fail_io(const std::string& what) {
  throw Error(Errc::io, fmt::format("{}: {}", what, std::strerror(errno)));
}

// A file descriptor that is closed with its owner.
class File {
 public:
  explicit File(int number = -1) : number_(number) {}
  File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  File& operator=(File&& other) noexcept {
    close();
    number_ = std::exchange(other.number_, -1);
    return *this;
  }
  ~File() { close(); }
  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

// Where this process was started without standard streams, their numbers are free. The program gets
// its own there.
inline File above_standard_streams(File file) {
  if (file.get() > STDERR_FILENO) return file;
  return File(::fcntl(file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail_io("a pipe to a program");
    read = above_standard_streams(File(ends[0]));
    write = above_standard_streams(File(ends[1]));
  }
  File read, write;
};

inline void make_nonblocking(const File& file) {
  ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) | O_NONBLOCK);
}

// Two FIFOs in a folder of their own, which is removed with them.
class Fifos {
 public:
  Fifos() {
    for (const char* end : {"in", "out"})
      if (::mkfifo(name(end).c_str(), 0600) != 0) fail_io(name(end));
    // Opened for both directions, so that neither end waits for the other, and the program may open
    // and close them for every line.
    requests = open("in");
    answers = open("out");
  }
  std::string name(const char* end) const { return (folder_.path() / end).string(); }
  std::string folder() const { return folder_.path().string(); }
  std::vector<std::string> environment() const {
    return {"HILO_IN=" + name("in"), "HILO_OUT=" + name("out")};
  }

  File requests, answers;

 private:
  File open(const char* end) const {
    File file =
        above_standard_streams(File(::open(name(end).c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)));
    if (!file.is_open()) fail_io(name(end));
    return file;
  }

  ScratchFolder folder_;
};

// Lines out of pieces of bytes.
class LineBuffer {
 public:
  void add(std::string_view bytes) {
    if (begin_ > 0) {
      bytes_.erase(0, begin_);
      begin_ = 0;
    }
    bytes_ += bytes;
  }
  // Valid until the next add.
  std::optional<std::string_view> next() {
    const std::size_t end = bytes_.find('\n', begin_);
    if (end == std::string::npos) return std::nullopt;
    std::string_view line = std::string_view(bytes_).substr(begin_, end - begin_);
    begin_ = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }
  std::size_t pending() const { return bytes_.size() - begin_; }
  std::string_view rest() const { return std::string_view(bytes_).substr(begin_); }

 private:
  std::string bytes_;
  std::size_t begin_ = 0;
};

}  // namespace hilo
