#pragma once

#include <string>
#include <string_view>

#include "hilo/report/experiment_report.hpp"

namespace hilo {

// Text as it may stand in an element or in a quoted attribute; control characters become spaces.
std::string escape_html(std::string_view text);

// The table in a box that scrolls by itself, with its note below.
std::string html_table(const Table& table);

// The boxes as one row of inline SVG each, beside the names of the agents.
std::string html_boxes(const std::vector<RatioBox>& boxes, const Results& results);

}  // namespace hilo
