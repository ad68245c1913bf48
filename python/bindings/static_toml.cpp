// Compiles toml++ into the module, by its own switch TOML_IMPLEMENTATION.
#include <toml++/toml.h>
