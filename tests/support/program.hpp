#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace hilo::testing {

struct Finished {
  int code = -1;  // exit code, or 128 + signal
  std::string out, err;
};

struct ProgramOptions {
  std::filesystem::path folder = ".";  // to run in
  rlim_t max_file_size = RLIM_INFINITY;
  unsigned user = 0;  // other than 0: to run as, where we are root
};

// Starts a program with its output going to files in the folder; the process id.
inline pid_t start_program(const std::string& program, const std::vector<std::string>& arguments,
                           const ProgramOptions& options, const std::filesystem::path& out,
                           const std::filesystem::path& err) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  const auto redirect = [](const std::filesystem::path& file, int descriptor) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || ::dup2(fd, descriptor) < 0) ::_exit(126);
  };
  redirect(out, STDOUT_FILENO);
  redirect(err, STDERR_FILENO);
  if (::chdir(options.folder.c_str()) != 0) ::_exit(126);
  if (options.max_file_size != RLIM_INFINITY) {
    const rlimit limit = {options.max_file_size, options.max_file_size};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(126);
  }
  if (options.user != 0 && ::getuid() == 0 && ::setuid(options.user) != 0) ::_exit(126);
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  ::_exit(127);
}

inline int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

inline std::string slurp(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

inline Finished run_program(const std::string& program, const std::vector<std::string>& arguments,
                            const std::filesystem::path& scratch, ProgramOptions options = {}) {
  if (options.folder == ".") options.folder = scratch;
  const auto out = scratch / "stdout.txt";
  const auto err = scratch / "stderr.txt";
  Finished finished;
  finished.code = wait_for(start_program(program, arguments, options, out, err));
  finished.out = slurp(out);
  finished.err = slurp(err);
  return finished;
}

}  // namespace hilo::testing
