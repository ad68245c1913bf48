# Builds and runs the project in CONSUMER as a stranger would: against an installed hilo, or with hilo
# as a part of it.
file(REMOVE_RECURSE ${WORK})
set(options -G Ninja -DCMAKE_CXX_COMPILER=${CXX})
if(WAY STREQUAL find_package)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${HILO_BUILD} --prefix ${WORK}/prefix
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND options -DCMAKE_PREFIX_PATH=${WORK}/prefix)
else()
  # Nothing here depends on speed, and unoptimised code compiles fastest.
  list(APPEND options -DHILO_SOURCE=${HILO_SOURCE} -DCMAKE_BUILD_TYPE=Debug)
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build ${options}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/build/consumer OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "learnt from 100 episodes")
  message(FATAL_ERROR "the consumer printed: ${output}")
endif()
