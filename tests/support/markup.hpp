#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

namespace hilo::testing {

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t i = 0; (i = text.find(part, i)) != std::string::npos; i += part.size()) ++n;
  return n;
}

// Why a piece of markup is not well-formed XML whose numbers are numbers; "" if it is. HTML that is
// written for it has an end for every element.
inline std::string fault_of(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '>') return "a > outside of a tag at " + text.substr(i, 40);
    if (text[i] == '&' && text.find(';', i) > i + 6) return "an & at " + text.substr(i, 40);
    if (text[i] != '<') continue;
    bool quoted = false;
    std::size_t end = i + 1;
    for (; end < text.size() && (quoted || text[end] != '>'); ++end) {
      if (text[end] == '"') quoted = !quoted;
      if (text[end] == '<') return "a < in a tag at " + text.substr(i, 80);
    }
    if (end == text.size()) return "a tag without an end: " + text.substr(i, 80);
    std::string tag = text.substr(i + 1, end - i - 1);
    // A text may say that something is no number.
    if (const std::size_t label = tag.find("aria-label=\""); label != std::string::npos)
      tag.erase(label, tag.find('"', label + 12) + 1 - label);
    for (const char* word : {"\"nan", "\"-nan", "\"inf", "\"-inf", ",nan", " nan", "nan,"})
      if (tag.find(word) != std::string::npos) return "no number in " + tag;
    i = end;
    std::size_t length = tag[0] == '/' ? 1 : 0;
    while (length < tag.size() && std::isalnum(static_cast<unsigned char>(tag[length])) != 0)
      ++length;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "an end of " + tag.substr(1);
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, length));
    }
  }
  return open.empty() ? "" : "no end of " + open.back();
}

}  // namespace hilo::testing
