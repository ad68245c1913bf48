#include "hilo/policy/program_policy.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "hilo/core/child_process.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/text.hpp"
#include "hilo/env/program/protocol.hpp"

namespace hilo {
namespace {

class ProgramPolicy final : public Policy {
 public:
  ProgramPolicy(ProgramPolicyOptions options, const Space& observations, const Space& actions)
      : Policy(observations, actions), options_(std::move(options)) {}

  bool is_memoryless() const override { return false; }
  void begin_path(std::uint32_t seed) const override {
    try {
      ask(fmt::format("begin {}", seed));
    } catch (...) {
      end_path();
      throw;
    }
  }

  // The process is free for the next path, of any thread.
  void end_path() const noexcept override {
    const std::scoped_lock lock(mutex_);
    const auto found = lent_.find(thread());
    if (found == lent_.end()) return;
    free_.push_back(std::move(found->second));
    lent_.erase(found);
  }

  void act(const Points& observations, std::span<const ActionWords> /*words*/,
           Points& actions) const override {
    actions.clear();
    for (std::size_t i = 0; i < observations.size(); ++i) {
      std::string line = "act";
      append_point(line, observations[i]);
      take(line, ask(line), actions);
    }
  }

 private:
  struct Slot {
    std::unique_ptr<ChildProcess> process;
    bool settled = false;
  };

  // Where one caller comes on different threads, as from Python, it has one process.
  std::thread::id thread() const {
    return options_.one_process ? std::thread::id() : std::this_thread::get_id();
  }

  Slot& slot() const {
    const std::scoped_lock lock(mutex_);
    std::unique_ptr<Slot>& at = lent_[thread()];
    if (!at && !free_.empty()) {
      at = std::move(free_.back());
      free_.pop_back();
    }
    if (!at) at = std::make_unique<Slot>();
    return *at;
  }

  [[noreturn]] void give_up(Slot& at, const std::string& line, const std::string& what) const {
    std::string words = valid_utf8(at.process ? at.process->last_words() : "");
    while (words.ends_with('\n')) words.pop_back();
    at.process.reset();
    throw Error(Errc::simulator,
                fmt::format("the policy '{}' was asked '{}' and {}{}", options_.command, line, what,
                            words.empty() ? "" : "; its last words: " + words));
  }

  // What follows the word `ok`.
  std::string ask(const std::string& line) const {
    Slot& at = slot();
    if (!at.process) {
      at.process = std::make_unique<ChildProcess>(ChildOptions{.command = options_.command});
      at.settled = false;
    }
    const double patience = options_.timeout > 0 ? options_.timeout : 1e9;
    const auto deadline = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                                   std::chrono::duration<double>(patience));
    const bool written = at.process->write_line(line, deadline);
    const auto answer = written ? at.process->read_line(deadline) : std::nullopt;
    if (!answer)
      give_up(at, line,
              at.process->failure() == ChildProcess::Failure::late
                  ? fmt::format("did not answer within {:.3g} s (it must flush after every line)",
                                patience)
              : at.process->failure() == ChildProcess::Failure::line_too_long
                  ? std::string("wrote a line of more than 1 MB")
                  : fmt::format("ended by {}", at.process->how_it_ended()));
    if (!at.settled) {
      at.process->settle(at.process->is_answer_from_fifo());
      at.settled = true;
    }
    if (*answer != "ok" && !answer->starts_with("ok "))
      give_up(at, line,
              fmt::format("answered '{}', but must answer 'ok'",
                          valid_utf8(std::string(answer->substr(0, 200)))));
    return std::string(answer->size() > 3 ? answer->substr(3) : "");
  }

  void take(const std::string& line, const std::string& answer, Points& actions) const {
    std::vector<double> numbers;
    const char* at = answer.data();
    const char* const end = at + answer.size();
    while (true) {
      while (at != end && (*at == ' ' || *at == '\t' || *at == '\r')) ++at;
      if (at == end) break;
      double value = 0;
      if (*at == '+') ++at;
      const auto [next, error] = std::from_chars(at, end, value);
      if (error != std::errc() || !std::isfinite(value))
        give_up(slot(), line, fmt::format("answered 'ok {}', which are not numbers", answer));
      numbers.push_back(value);
      at = next;
    }
    const std::size_t wanted = action_space().is_discrete() ? 1 : action_space().dimension();
    if (numbers.size() != wanted)
      give_up(slot(), line,
              fmt::format("answered {} numbers, but an action has {}", numbers.size(), wanted));
    if (!action_space().is_discrete()) {
      actions.push_back(std::span<const double>(numbers));
      return;
    }
    if (numbers[0] < 0 || numbers[0] != std::floor(numbers[0]) ||
        numbers[0] >= static_cast<double>(action_space().size()))
      give_up(slot(), line,
              fmt::format("answered the action {}, but an action is {}", numbers[0],
                          action_space().describe()));
    actions.push_back(static_cast<std::uint64_t>(numbers[0]));
  }

  ProgramPolicyOptions options_;
  mutable std::mutex mutex_;
  mutable std::map<std::thread::id, std::unique_ptr<Slot>> lent_;
  mutable std::vector<std::unique_ptr<Slot>> free_;
};

}  // namespace

std::shared_ptr<const Policy> program_policy(const ProgramPolicyOptions& options,
                                             const Space& observations, const Space& actions) {
  return std::make_shared<const ProgramPolicy>(options, observations, actions);
}

}  // namespace hilo
