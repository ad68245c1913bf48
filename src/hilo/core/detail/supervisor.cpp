#include "hilo/core/detail/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <initializer_list>

namespace hilo {
namespace {

constexpr int kGraceMs = 700;  // from SIGTERM to SIGKILL
constexpr int kPollMs = 20;    // while something is being ended

void ignore_signal(int /*signal*/) {}  // only interrupts a wait

void write_all(int file, const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t n = ::write(file, at, size);
    if (n <= 0) return;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
}

[[noreturn]] void run_program(const SupervisedProgram& program, int report) {
  EndReport failed;
  ::setsid();
  for (int signal = 1; signal < NSIG; ++signal) (void)::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(program.input, STDIN_FILENO);
  ::dup2(program.output, STDOUT_FILENO);
  ::dup2(program.errors, STDERR_FILENO);
  const bool in_place = program.directory == nullptr || ::chdir(program.directory) == 0;
  if (program.memory_bytes > 0) {
    const rlimit limit = {program.memory_bytes, program.memory_bytes};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  if (in_place) ::execvpe(program.file, program.arguments, program.environment);
  failed.exec_error = errno;
  write_all(report, &failed, sizeof failed);
  ::_exit(127);
}

// The number at `text`, or 0 if it is none.
pid_t number_of(const char* text) {
  pid_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) number = 10 * number + (*text - '0');
  return *text == '\0' ? number : 0;
}

// The parent of a process, from /proc/PID/stat: "PID (name) state parent ...".
pid_t parent_of(const char* pid) {
  char name[64] = "/proc/";
  std::strncat(name, pid, 20);
  std::strncat(name, "/stat", 6);
  const int file = ::open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[512];
  const ssize_t size = ::read(file, text, sizeof text - 1);
  ::close(file);
  if (size <= 0) return 0;
  text[size] = '\0';
  const char* after_name = std::strrchr(text, ')');
  if (after_name == nullptr || std::strlen(after_name) < 5) return 0;
  pid_t parent = 0;
  for (const char* c = after_name + 4; *c >= '0' && *c <= '9'; ++c)
    parent = 10 * parent + (*c - '0');
  return parent;
}

// Sends a signal to all children. Orphans of the program become children of the supervisor, so that
// those that left its process group are found, too. readdir may allocate, so the system is asked
// directly.
bool signal_children(int signal) {
  struct Entry {
    std::uint64_t inode;
    std::int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[1];
  };
  bool any = false;
  const pid_t self = ::getpid();
  const int folder = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  alignas(Entry) char buffer[8192];
  for (long size = 0; (size = ::syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0;)
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
      at += entry->length;
      const pid_t pid = number_of(entry->name);
      if (pid <= 0 || parent_of(entry->name) != self) continue;
      ::kill(pid, signal);
      any = true;
    }
  ::close(folder);
  return any;
}

// Whether the program itself has ended; all other children that have ended are forgotten.
bool reap(pid_t program, EndReport& out) {
  bool ended = false;
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
    if (pid == program) {
      out.wait_status = status;
      ended = true;
    }
  return ended;
}

void sleep_ms(int ms) {
  timespec time = {0, ms * 1'000'000L};
  ::nanosleep(&time, nullptr);
}

}  // namespace

void supervise(const SupervisedProgram& program) {
  for (const int other : program.others) ::close(other);
  ::setsid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  (void)::signal(SIGPIPE, SIG_IGN);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) (void)::signal(signal, SIG_IGN);
  (void)::signal(SIGCHLD, ignore_signal);
  const pid_t child = ::fork();
  EndReport report;
  if (child < 0) {
    report.exec_error = errno;
    write_all(program.report, &report, sizeof report);
    ::_exit(1);
  }
  if (child == 0) run_program(program, program.report);
  // Of everything that was open only these two stay, so that nothing is kept open for longer than
  // this process would have done.
  ::dup2(program.lifeline, 0);
  ::dup2(program.report, 1);
  constexpr int kMostFiles = 1024;  // where the system cannot close all at once
  if (::syscall(SYS_close_range, 2U, ~0U, 0U) != 0)
    for (int file = 2; file < kMostFiles; ++file) ::close(file);
  report.group = child;
  write_all(1, &report, sizeof report);

  bool ended = false;
  sigset_t blocked;
  sigset_t open;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
  ::sigemptyset(&open);
  while (!ended) {
    ended = reap(child, report);
    if (ended) break;
    pollfd lifeline = {0, 0, 0};  // only its end is of interest
    if (::ppoll(&lifeline, 1, nullptr, &open) > 0) break;
  }
  if (!ended) {
    ::kill(-child, SIGTERM);
    for (int waited = 0; !ended && waited < kGraceMs; waited += kPollMs) {
      sleep_ms(kPollMs);
      ended = reap(child, report);
    }
    ::kill(-child, SIGKILL);
    while (!ended) {
      sleep_ms(kPollMs);
      ended = reap(child, report);
    }
  }
  // What the program has left behind.
  ::kill(-child, SIGKILL);
  for (int rounds = 0; rounds < 100 && signal_children(SIGKILL); ++rounds) {
    sleep_ms(1);
    reap(child, report);
  }
  for (const char* fifo : {program.fifo_in, program.fifo_out}) ::unlink(fifo);
  ::rmdir(program.fifo_folder);
  write_all(1, &report, sizeof report);
  ::_exit(0);
}

}  // namespace hilo
