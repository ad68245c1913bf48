# hilo_own_target(TARGET): how the project's own targets are compiled. Nothing of it reaches a user's
# targets.
function(hilo_own_target target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  # Equal bits on every machine: no fused multiply-add behind our back.
  target_compile_options(${target} PRIVATE -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion
                                           -Wshadow -Wnon-virtual-dtor)
  if(HILO_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(HILO_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${HILO_SANITIZE} -fno-omit-frame-pointer
                                             -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${HILO_SANITIZE})
  endif()
  if(HILO_COVERAGE)
    target_compile_options(${target} PRIVATE --coverage)
    target_link_options(${target} PUBLIC --coverage)
  endif()
endfunction()

# hilo_quick_to_compile(TARGET HEADERS...): for code that is not worth the compiler's time. It is
# optimised little, and headers of others that most of its files need are read once. Bits do not
# depend on it.
function(hilo_quick_to_compile target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  hilo_precompile(${target} ${ARGN})
endfunction()

function(hilo_precompile target)
  if(HILO_PCH)
    target_precompile_headers(${target} PRIVATE <algorithm> <cmath> <filesystem> <functional> <map>
                              <memory> <optional> <set> <span> <string> <vector> ${ARGN})
  endif()
endfunction()
