#include "hilo/core/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

#include "hilo/core/detail/child_channels.hpp"
#include "hilo/core/detail/supervisor.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/stop_request.hpp"

namespace hilo {
namespace {

namespace fs = std::filesystem;

constexpr int kSliceMs = 100;        // how often a wait looks for a request to stop
constexpr std::size_t kTail = 4000;  // bytes of its last words that are kept
constexpr const char* kShellSigns = "|&;<>()$`\\\"'*?[]#~=%!{}\n";

std::vector<std::string> words_of(const std::string& command) {
  if (needs_shell(command)) return {"/bin/sh", "-c", command};
  std::istringstream in(command);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  const auto name_of = [](const std::string& entry) {
    return entry.substr(0, entry.find('=') + 1);
  };
  std::vector<std::string> all = more;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (std::ranges::none_of(more,
                             [&](const std::string& m) { return name_of(m) == name_of(text); }))
      all.push_back(text);
  }
  return all;
}

// A program that does not read any more must not end this process. The usual answer of the system
// is to do so, unless somebody has said otherwise before.
void ignore_broken_pipes() {
  static const bool kDone = [] {
    if (const auto before = std::signal(SIGPIPE, SIG_IGN); before != SIG_DFL)
      (void)std::signal(SIGPIPE, before);
    return true;
  }();
  (void)kDone;
}

}  // namespace

bool needs_shell(const std::string& command) {
  return command.find_first_of(kShellSigns) != std::string::npos;
}

struct ChildProcess::Impl {
  explicit Impl(ChildOptions its_options) : options(std::move(its_options)) {}

  void start() {
    std::vector<std::string> command = words_of(options.command);
    if (command.empty()) throw Error(Errc::spec, "the command of a simulator is empty");
    std::vector<std::string> more = options.environment;
    for (const std::string& entry : fifos->environment()) more.push_back(entry);
    std::vector<std::string> variables = environment_with(more);
    const std::vector<char*> arguments = pointers_to(command);
    const std::vector<char*> environment = pointers_to(variables);
    if (!options.directory.empty()) {
      std::error_code failed;
      fs::create_directories(options.directory, failed);
    }
    Pipe input;
    Pipe output;
    Pipe errors;
    Pipe lifeline;
    Pipe report;
    const std::vector<std::string> litter = {fifos->name("in"), fifos->name("out"),
                                             fifos->folder()};
    const SupervisedProgram program = {
        .file = arguments[0],
        .arguments = arguments.data(),
        .environment = environment.data(),
        .directory = options.directory.empty() ? nullptr : options.directory.c_str(),
        .memory_bytes = options.memory_bytes,
        .input = input.read.get(),
        .output = output.write.get(),
        .errors = errors.write.get(),
        .fifo_in = litter[0].c_str(),
        .fifo_out = litter[1].c_str(),
        .fifo_folder = litter[2].c_str(),
        .others = {input.write.get(), output.read.get(), errors.read.get(), lifeline.write.get(),
                   report.read.get()},
        .lifeline = lifeline.read.get(),
        .report = report.write.get()};
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    supervisor = ::fork();
    if (supervisor == 0) supervise(program);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (supervisor < 0) fail_io("a process for " + options.command);
    requests = std::move(input.write);
    answers = std::move(output.read);
    words_file = std::move(errors.read);
    life = std::move(lifeline.write);
    end_report = std::move(report.read);
    for (const File* file : {&requests, &answers, &words_file}) make_nonblocking(*file);
    report.write.close();
    EndReport first;
    if (!read_report(first)) fail_io("the supervisor of " + options.command);
    group = first.group;
    // exec either succeeds, and then nothing follows, or has failed at once.
    if (first.exec_error != 0) throw_not_started(first.exec_error);
  }

  [[noreturn]] void throw_not_started(int error) const {
    throw Error(Errc::simulator,
                fmt::format("the program '{}' cannot be started: {}{}", options.command,
                            std::strerror(error),
                            options.directory.empty()
                                ? ""
                                : fmt::format(" (in the folder {})", options.directory.string())));
  }

  bool read_report(EndReport& out) const {
    auto* at = reinterpret_cast<char*>(&out);
    std::size_t size = 0;
    while (size < sizeof out) {
      const ssize_t n = ::read(end_report.get(), at + size, sizeof out - size);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      size += static_cast<std::size_t>(n);
    }
    return true;
  }

  void keep_words(std::string_view text) {
    words.append(text);
    if (words.size() > 2 * kTail) words.erase(0, words.size() - kTail);
  }

  // Reads what is there, without waiting. False at the end of the file.
  template <class Take>
  bool drain(const File& file, Take&& take) {
    std::array<char, 65536> buffer;  // NOLINT: filled by read, and zeros would take as long
    const ssize_t n = ::read(file.get(), buffer.data(), buffer.size());
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) return false;
    take(std::string_view(buffer.data(), static_cast<std::size_t>(n)));
    return true;
  }

  void drain_words() {
    if (words_file.is_open() &&
        !drain(words_file, [&](std::string_view text) { keep_words(text); }))
      words_file.close();
  }

  // Waits until one of the files has something, and takes it. False at the deadline.
  bool wait(SteadyClock::time_point deadline, bool to_write) {
    std::array<pollfd, 6> files{};
    std::size_t count = 0;
    const auto add = [&](const File& file, short events) {
      if (file.is_open()) files[count++] = {file.get(), events, 0};
    };
    add(answers, POLLIN);
    add(words_file, POLLIN);
    if (fifos) add(fifos->answers, POLLIN);
    if (by_fifo != false && !ended) add(end_report, POLLIN);
    if (to_write) add(by_fifo == true ? fifos->requests : requests, POLLOUT);
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now());
    if (left.count() < 0) return false;
    throw_if_stopped();
    const int slice = static_cast<int>(std::min<long>(kSliceMs, left.count() + 1));
    if (::poll(files.data(), static_cast<nfds_t>(count), slice) <= 0) return true;
    for (std::size_t i = 0; i < count; ++i) {
      if (files[i].revents == 0) continue;
      if (files[i].fd == words_file.get()) drain_words();
      if (files[i].fd == end_report.get()) find_end();
      if (files[i].fd == answers.get() &&
          !drain(answers, [&](std::string_view text) { take_output(text); }))
        answers.close();
      if (fifos && files[i].fd == fifos->answers.get())
        drain(fifos->answers, [&](std::string_view text) { from_fifo.add(text); });
    }
    return true;
  }

  // The standard output of a program that answers through a FIFO is chatter.
  void take_output(std::string_view text) {
    if (by_fifo == true)
      keep_words(text);
    else
      from_output.add(text);
  }

  // The next line of the program that is not a comment.
  std::optional<std::string_view> next_line() {
    if (by_fifo != false)
      for (auto line = from_fifo.next(); line; line = from_fifo.next())
        if (!line->starts_with('#')) {
          last_from_fifo = true;
          return line;
        }
    if (by_fifo != true)
      for (auto line = from_output.next(); line; line = from_output.next())
        if (!line->starts_with('#')) {
          last_from_fifo = false;
          return line;
        }
    return std::nullopt;
  }

  // The next such line, which stays there.
  std::optional<std::string_view> peek_line() const {
    const LineBuffer& lines = by_fifo == true ? from_fifo : from_output;
    std::string_view rest = lines.rest();
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos;
         rest.remove_prefix(end + 1))
      if (!rest.starts_with('#') && end > 0) return rest.substr(0, end);
    return std::nullopt;
  }

  // The standard output ends with the program, unless the program has given it away.
  bool is_at_its_end() const {
    return !answers.is_open() && (by_fifo == false || ended.has_value());
  }

  bool write_all(const File& file, std::string_view text, SteadyClock::time_point deadline) {
    while (!text.empty()) {
      const ssize_t n = ::write(file.get(), text.data(), text.size());
      if (n > 0) {
        text.remove_prefix(static_cast<std::size_t>(n));
      } else if (errno == EAGAIN) {
        if (!wait(deadline, true) || is_at_its_end()) return false;
      } else if (errno != EINTR) {
        return false;
      }
    }
    return true;
  }

  void end() {
    requests.close();
    if (fifos) fifos->requests.close();
    if (supervisor <= 0) return;
    life.close();  // the supervisor ends everything
    find_end();
    int status = 0;
    while (::waitpid(supervisor, &status, 0) < 0 && errno == EINTR) {
    }
    supervisor = 0;
  }

  void find_end() {
    if (ended || !end_report.is_open()) return;
    EndReport last;
    if (read_report(last)) ended = last;
    end_report.close();
    drain_words();
  }

  ChildOptions options;
  std::unique_ptr<Fifos> fifos = std::make_unique<Fifos>();
  File requests, answers, words_file, life, end_report;
  pid_t supervisor = 0;
  pid_t group = 0;
  std::optional<bool> by_fifo;  // nothing: not known yet
  bool last_from_fifo = false;
  LineBuffer from_output, from_fifo;
  std::string words;
  std::optional<EndReport> ended;
  Failure failure = Failure::ended;
};

ChildProcess::ChildProcess(const ChildOptions& options) : impl_(std::make_unique<Impl>(options)) {
  ignore_broken_pipes();
  try {
    impl_->start();
  } catch (...) {
    impl_->end();
    throw;
  }
}

ChildProcess::~ChildProcess() { impl_->end(); }

bool ChildProcess::write_line(std::string_view line, SteadyClock::time_point deadline) {
  std::string text(line);
  text += '\n';
  bool written = true;
  if (impl_->by_fifo != true) written = impl_->write_all(impl_->requests, text, deadline);
  if (impl_->by_fifo != false)
    written = impl_->write_all(impl_->fifos->requests, text, deadline) && written;
  return written;
}

std::optional<std::string_view> ChildProcess::read_line(SteadyClock::time_point deadline) {
  Impl& i = *impl_;
  while (true) {
    if (const auto line = i.next_line()) {
      if (line->size() <= i.options.longest_line) return line;
      i.failure = Failure::line_too_long;
      return std::nullopt;
    }
    i.failure = Failure::line_too_long;
    if (std::max(i.from_output.pending(), i.from_fifo.pending()) > i.options.longest_line)
      return std::nullopt;
    i.failure = Failure::ended;
    if (i.is_at_its_end()) return std::nullopt;
    i.failure = Failure::late;
    if (!i.wait(deadline, false)) return std::nullopt;
  }
}

void ChildProcess::look() { impl_->wait(SteadyClock::now(), false); }

std::optional<std::string_view> ChildProcess::unread_line() { return impl_->peek_line(); }

void ChildProcess::begin_to_end() noexcept {
  impl_->requests.close();
  impl_->life.close();
}

ChildProcess::Failure ChildProcess::failure() const { return impl_->failure; }
bool ChildProcess::is_answer_from_fifo() const { return impl_->last_from_fifo; }

void ChildProcess::settle(bool fifo) {
  impl_->by_fifo = fifo;
  if (fifo)
    impl_->keep_words(impl_->from_output.rest());
  else
    impl_->fifos.reset();
}

void ChildProcess::wait_for_end(double seconds) {
  impl_->requests.close();
  if (impl_->fifos) impl_->fifos->requests.close();
  const SteadyClock::time_point start = SteadyClock::now();
  while (!impl_->is_at_its_end() && seconds_since(start) < seconds)
    impl_->wait(start + std::chrono::hours(1), false);
}

// At the end of its output a program is about to end; one that goes on without an output is ended.
std::string ChildProcess::how_it_ended() {
  if (!impl_->is_at_its_end() && !impl_->ended) return "";
  impl_->life.close();
  impl_->find_end();
  if (!impl_->ended) return "in an unknown way";
  const int status = impl_->ended->wait_status;
  if (impl_->ended->exec_error != 0) impl_->throw_not_started(impl_->ended->exec_error);
  if (WIFSIGNALED(status))
    return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

std::optional<int> ChildProcess::exit_code() {
  if (how_it_ended().empty() || !impl_->ended || !WIFEXITED(impl_->ended->wait_status))
    return std::nullopt;
  return WEXITSTATUS(impl_->ended->wait_status);
}

std::string ChildProcess::last_words() {
  impl_->drain_words();
  const std::string& words = impl_->words;
  return words.size() <= kTail ? words : words.substr(words.size() - kTail);
}

int ChildProcess::group() const { return impl_->group; }

}  // namespace hilo
