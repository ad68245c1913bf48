#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// For the sources of this folder only: the limits of a spec. The parser and the functions that walk
// its tables recurse once per level, and the stack is small.
namespace hilo {

inline constexpr std::int64_t kSpecVersion = 1;
inline constexpr std::size_t kMaxSpecBytes = 1 << 20;
inline constexpr std::size_t kMaxKeyParts = 16;     // a.b.c has three
inline constexpr std::size_t kMaxConfigs = 10'000;  // all combinations of all sweeps

// Throws, with the line, if a key has too many parts or the text is too long.
void require_sane_text(std::string_view text, const std::string& where);

// Throws if a label is blank, or too long to be shown anywhere.
inline constexpr std::size_t kMaxLabelBytes = 200;
void require_sane_label(const std::string& label, const std::string& where);

}  // namespace hilo
