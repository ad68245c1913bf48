#pragma once

#include <string>
#include <vector>

namespace hilo {

// A table for people, on a page, in Markdown or as text.
struct Table {
  std::string title;
  std::vector<std::vector<std::string>> rows;  // the first is the header
  std::string note;                            // how to read it

  bool empty() const { return rows.size() < 2; }
};

// "1 234 567", with narrow spaces that do not break.
std::string group_digits(double value);

}  // namespace hilo
