#pragma once

#include <string>
#include <vector>

namespace hilo {

// A table of a report, for pages and Markdown.
struct Table {
  std::string title;
  std::vector<std::vector<std::string>> rows;  // the first is the header
  std::string note;                            // how to read it

  bool empty() const { return rows.size() < 2; }
};

// "1 234 567", with narrow non-breaking spaces.
std::string group_digits(double value);

}  // namespace hilo
