#include "hilo/experiment/detail/spec_limits.hpp"

#include <fmt/format.h>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

// The end of the string that begins at `i`, or the end of its line: strings of a spec span one
// line.
std::size_t end_of_string(std::string_view text, std::size_t i) {
  const char quote = text[i];
  for (++i; i < text.size() && text[i] != quote && text[i] != '\n'; ++i)
    if (text[i] == '\\' && quote == '"') ++i;
  return i;
}

}  // namespace

void require_sane_label(const std::string& label, const std::string& where) {
  if (label.empty()) return;  // assign_labels makes one
  if (label.size() > kMaxLabelBytes)
    throw Error(Errc::spec, fmt::format("{}: label has {} bytes, but must have at most {}", where,
                                        label.size(), kMaxLabelBytes));
  if (label.find_first_not_of(" \t\r\n") == std::string::npos)
    throw Error(Errc::spec, fmt::format("{}: label is blank", where));
}

void require_sane_text(std::string_view text, const std::string& where) {
  if (text.size() > kMaxSpecBytes)
    throw Error(Errc::spec, fmt::format("{}: has {} bytes, but a spec has at most {}", where,
                                        text.size(), kMaxSpecBytes));
  std::size_t line = 1, parts = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = end_of_string(text, i);
      if (i < text.size() && text[i] == '\n') --i;
    } else if (c == '#') {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
    } else if (c == '.') {
      if (++parts > kMaxKeyParts)
        throw Error(Errc::spec,
                    fmt::format("{}:{}: a key has more than {} parts", where, line, kMaxKeyParts));
    } else if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) {
      parts = 1;
    }
    if (i < text.size() && text[i] == '\n') ++line;
  }
}

}  // namespace hilo
