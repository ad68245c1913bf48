# Writes OUT, the source file that knows VERSION and the commit of SOURCE_DIR, where it changed.
set(commit unknown)
find_program(git git)
if(git AND EXISTS ${SOURCE_DIR}/.git)
  execute_process(COMMAND ${git} -C ${SOURCE_DIR} rev-parse --short=12 HEAD
                  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE code)
  execute_process(COMMAND ${git} -C ${SOURCE_DIR} status --porcelain -uno
                  OUTPUT_VARIABLE changes ERROR_QUIET)
  if(code EQUAL 0)
    set(commit ${found})
    if(NOT changes STREQUAL "")
      string(APPEND commit -dirty)
    endif()
  endif()
endif()
set(text "#include \"hilo/core/version.hpp\"

namespace hilo {

std::string_view version() { return \"${VERSION}\"\; }
std::string_view commit() { return \"${commit}\"\; }
std::string program_name() { return \"hilo ${VERSION} (${commit})\"\; }

}  // namespace hilo
")
string(REPLACE "\\;" ";" text "${text}")
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUT} "${text}")
endif()
