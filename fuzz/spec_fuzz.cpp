// Any text may be given as a spec: it is parsed or refused with an Error, nothing else.
#include "hilo/core/error.hpp"
#include "hilo/experiment/spec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  try {
    hilo::parse_spec({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const hilo::Error&) {
  }
  return 0;
}
