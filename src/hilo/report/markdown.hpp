#pragma once

#include <string>

#include "hilo/report/page.hpp"

namespace hilo {

// The same report as Markdown, for documents under version control: sentences and tables. Where
// `figures` is not empty, it is the folder, seen from the document, that has a PNG of each figure.
std::string make_markdown(const Store& store, const ReportSource& source,
                          const std::string& figures);

}  // namespace hilo
