#pragma once

#include <string>
#include <string_view>

#include "hilo/report/experiment_report.hpp"

namespace hilo {

// Escapes text for an element or a quoted attribute. Control characters other than newlines become
// spaces.
std::string escape_html(std::string_view text);

// The table in a box that scrolls horizontally, with its note below.
std::string html_table(const Table& table);

// The boxes as one row of inline SVG each, beside the names of the agents.
std::string html_boxes(const std::vector<RatioBox>& boxes, const Results& results);

}  // namespace hilo
