#pragma once

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "hilo/core/error.hpp"
#include "hilo/core/parameters.hpp"
#include "hilo/env/program/detail/program_files.hpp"
#include "hilo/env/program/program_source.hpp"

// For the sources of this folder only: what a spec says about one simulator of the problem. The
// parameters are those of [problem.high] and of each [[problem.low]]: "high.command",
// "low.command", "low.2.command", ...
namespace hilo {

inline constexpr std::array<const char*, 4> kLows = {"low", "low.2", "low.3", "low.4"};

[[noreturn]] inline void fail_spec(const std::string& message) { throw Error(Errc::spec, message); }

// The parameters of one side.
class Side {
 public:
  Side(const Parameters& p, std::string name) : p_(p), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  std::string key(const char* key) const { return fmt::format("{}.{}", name_, key); }
  const std::string& text(const char* k) const { return p_.text(key(k)); }
  double number(const char* k) const { return p_.number(key(k)); }
  std::uint64_t count(const char* k) const {
    return static_cast<std::uint64_t>(p_.integer(key(k)));
  }
  bool has(const char* k) const { return !text(k).empty(); }
  bool is_given() const { return has("command") || has("table") || has("builtin"); }

  std::vector<double> numbers(const char* k) const {
    std::vector<double> out;
    for (const std::string& word : split_list(text(k))) {
      double value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc() || end != word.data() + word.size())
        fail_spec(fmt::format("{} has '{}', but must be a list of numbers", key(k), word));
      out.push_back(value);
    }
    return out;
  }

  std::vector<std::uint64_t> counts(const char* k) const {
    std::vector<std::uint64_t> out;
    for (const double x : numbers(k)) {
      if (!(x >= 0 && x <= 1e9 && x == std::floor(x)))
        fail_spec(fmt::format("{} has {}, but must be a list of whole numbers from 0", key(k), x));
      out.push_back(static_cast<std::uint64_t>(x));
    }
    return out;
  }

  ProgramOptions options(std::uint32_t worker) const {
    return {.command = text("command"),
            .directory = text("directory"),
            .timeout_start = number("timeout_start"),
            .timeout_step = number("timeout_step"),
            .timeout_episode = number("timeout_episode"),
            .restart_every = count("restart_every"),
            .memory_mb = count("memory_mb"),
            .worker = worker};
  }

 private:
  const Parameters& p_;
  std::string name_;
};

inline std::vector<Side> lows_of(const Parameters& p) {
  std::vector<Side> lows;
  for (const char* name : kLows)
    if (Side side(p, name); side.is_given()) lows.push_back(side);
  return lows;
}

// All parameters of a side, and of all sides.
std::vector<ParameterInfo> parameters_of_side(const std::string& side, bool high);
std::vector<ParameterInfo> parameters_of_sides();

}  // namespace hilo
