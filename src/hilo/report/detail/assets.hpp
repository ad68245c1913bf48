#pragma once

#include <string_view>

// For the sources of report/ only: texts that are built into every page.
namespace hilo {

std::string_view page_css();
std::string_view page_js();
std::string_view chart_js();  // Chart.js, minified, as Debian ships it

}  // namespace hilo
