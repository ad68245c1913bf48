# Writes the files of FOLDER as a source file OUT: every *.toml as a spec, and published.csv.
file(GLOB specs ${FOLDER}/*.toml)
set(text "#include \"hilo/studies/detail/embedded.hpp\"\n\n#include <array>\n\nnamespace hilo {\nnamespace {\n\n")
list(LENGTH specs count)
string(APPEND text "constexpr std::array<ShippedSpec, ${count}> kSpecs = {{\n")
foreach(spec IN LISTS specs)
  get_filename_component(name ${spec} NAME_WE)
  file(READ ${spec} content)
  string(APPEND text "{\"${name}\", R\"__(${content})__\"},\n")
endforeach()
file(READ ${FOLDER}/published.csv content)
string(APPEND text "}};\n\n}  // namespace\n\n"
  "std::span<const ShippedSpec> embedded_specs() { return kSpecs; }\n\n"
  "std::string_view embedded_published() {\n  return R\"__(${content})__\";\n}\n\n}  // namespace hilo\n")
file(WRITE ${OUT} "${text}")
