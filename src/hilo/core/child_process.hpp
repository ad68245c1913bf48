#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hilo/core/stopwatch.hpp"

namespace hilo {

struct ChildOptions {
  // Split at blanks. A command with quotes or other signs that a shell knows is given to one.
  std::string command;
  std::filesystem::path directory = {};       // made if it is not there; empty: the current one
  std::vector<std::string> environment = {};  // "NAME=value", in addition to that of this process
  std::uint64_t memory_bytes = 0;             // limit of its address space; 0: none
  std::size_t longest_line = std::size_t{1} << 20;
};

// Whether a command has signs that only a shell understands.
bool needs_shell(const std::string& command);

// Another program that answers lines by lines. It reads requests from its standard input and writes
// answers to its standard output, or, if its standard output is not its own, through the two FIFOs
// named in HILO_IN and HILO_OUT. Lines that start with '#' are not answers. What it writes to
// standard error is read all the time, so that it never has to wait, and the end of it is kept.
//
// It runs in a session of its own under a supervisor, a small process that ends it with everything
// that it has started, however it was started, when this object or this process ends.
class ChildProcess {
 public:
  enum class Failure : std::uint8_t { ended, late, line_too_long };

  // Throws Errc::io if the system refuses a process, and Errc::simulator if the program cannot be
  // started.
  explicit ChildProcess(const ChildOptions& options);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  // Ends the program: it sees the end of its input, then SIGTERM, then SIGKILL.
  ~ChildProcess();

  // Both throw Interrupted if the thread is asked to stop (core/stop_request.hpp).
  //
  // False if the program does not read any more, or not until the deadline.
  bool write_line(std::string_view line, SteadyClock::time_point deadline);
  // The next line without its end, valid until the next call; nothing if there is none before the
  // deadline, and then failure() says why.
  std::optional<std::string_view> read_line(SteadyClock::time_point deadline);
  Failure failure() const;

  // A line that has arrived and was not read yet, if there is one; look() takes in what has
  // arrived.
  std::optional<std::string_view> unread_line();
  void look();

  // The first answer decides whether the program speaks through its standard streams or through
  // FIFOs: until then requests go to both, and lines come from either.
  bool is_answer_from_fifo() const;
  void settle(bool fifo);

  // Lets the supervisor begin to end it, without waiting for that.
  void begin_to_end() noexcept;
  // Closes its input and waits for it to end by itself.
  void wait_for_end(double seconds);

  // How it ended: "exit code 3", "signal 11 (Segmentation fault)"; empty if it still runs.
  std::string how_it_ended();
  std::optional<int> exit_code();  // nothing if it still runs or was ended by a signal
  std::string last_words();        // the end of what it wrote to standard error
  int group() const;               // its process group

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hilo
