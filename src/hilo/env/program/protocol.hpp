#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hilo/env/space.hpp"

namespace hilo {

// Protocol 1 between hilo and a program that is a simulator (docs/programs.md): requests are lines
// of words, and so are answers, except for that to `hello`, which is a line of JSON.
//
//   hello 1             {"hilo": 1, "actions": 3, "observation": {"states": 10}, ...}
//   reset SEED          ok END OBS..
//   start SEED OBS..    ok END OBS..
//   step A..            ok REWARD END OBS.. [cost=X]
//   reward OBS.. A.. OBS2..    ok R
//   quit
inline constexpr int kProtocolVersion = 1;
inline constexpr std::uint32_t kSeedEnd = 1U << 31;  // seeds are below it

// What a program says about itself.
struct ProgramFacts {
  std::string name, version;
  Space observations = Space::discrete(1);
  Space actions = Space::discrete(1);
  bool starts_anywhere = false;  // it knows the request `start`
  bool seedable = true;          // the same seed and actions give the same episode
  bool deterministic = false;    // what happens does not depend on the seed, except at a reset

  friend bool operator==(const ProgramFacts&, const ProgramFacts&) = default;
};

// Throws Errc::simulator with what is wrong, as the end of a sentence that begins with the program.
ProgramFacts parse_hello(std::string_view answer);

enum class EndMark : std::uint8_t { goes_on = 0, terminal = 1, cut = 2 };

struct ProgramAnswer {
  EndMark end = EndMark::goes_on;
  double reward = 0;
  std::optional<double> cost = {};
};

// An answer that is not `ok`, with the program's own words.
struct ProgramRefusal {
  bool fatal = false;
  std::string text;
};

// The refusal in an answer that starts with `error` or `fatal`; nothing if it starts with `ok`.
// Throws Errc::simulator if it does neither.
std::optional<ProgramRefusal> refusal_in(std::string_view answer);

// The parts of an `ok` answer. The observation is appended to `out`. These throw Errc::simulator
// with what is wrong.
ProgramAnswer parse_begun(std::string_view answer, const Space& observations, Points& out);
ProgramAnswer parse_step(std::string_view answer, const Space& observations, Points& out);
double parse_reward(std::string_view answer);

// Appends a blank and the numbers of the point, with 17 digits.
void append_point(std::string& line, const Point& point);

}  // namespace hilo
