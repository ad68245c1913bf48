// Any two texts may be given as tables, cut at the first NUL: they are read or refused with an
// Error.
#include <string>

#include "hilo/core/error.hpp"
#include "hilo/env/table_csv.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = text.find('\0');
  const std::string start = cut == std::string::npos ? "" : text.substr(cut + 1);
  try {
    hilo::parse_mdp(text.substr(0, cut), start);
  } catch (const hilo::Error&) {
  }
  return 0;
}
