#pragma once

#include <map>
#include <string>

#include "hilo/report/page.hpp"

namespace hilo {

// Escapes text so that Markdown shows it literally, also in a table.
std::string escape_markdown(const std::string& text);

// The report of make_page as Markdown, for documents under version control: sentences and tables.
// `pictures` maps experiments to pictures that they show, as paths relative to the document.
std::string make_markdown(const Store& store, const ReportSource& source,
                          const std::map<std::string, std::string>& pictures);

}  // namespace hilo
