#pragma once

#include <map>
#include <string>

#include "hilo/report/page.hpp"

namespace hilo {

// Text that Markdown takes as it is, in a table too.
std::string escape_markdown(const std::string& text);

// The same report as Markdown, for documents under version control: sentences and tables. An
// experiment that has one of the `pictures`, files seen from the document, shows it.
std::string make_markdown(const Store& store, const ReportSource& source,
                          const std::map<std::string, std::string>& pictures);

}  // namespace hilo
