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
execute_process(COMMAND ${WORK}/build/consumer WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE output
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "policy tested in 2 of 20 episodes.*learnt from 100 episodes")
  message(FATAL_ERROR "the consumer printed: ${output}")
endif()
if(NOT WAY STREQUAL find_package)
  return()
endif()

# A hilo with kinds of the stranger's own: from a spec to a store, a report and lists.
set(own ${WORK}/build/own_hilo)
function(own_hilo expected)
  execute_process(COMMAND ${own} ${ARGN} WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE output
                  ERROR_VARIABLE errors RESULT_VARIABLE code)
  if(NOT code EQUAL 0 OR NOT output MATCHES "${expected}")
    message(FATAL_ERROR "own_hilo ${ARGN} gave ${code} and printed: ${output}${errors}")
  endif()
endfunction()
own_hilo("12 of 12 runs done" run ${CONSUMER}/own.toml --store own.db)
own_hilo("nothing to do" run ${CONSUMER}/own.toml --store own.db)
own_hilo("own,last return trust=0.5,2,200,best_value," export own.db)
own_hilo("own,MFMCRL half-way,0,200,test_return," export own.db)
own_hilo("last return trust=0.2" report own.db)
own_hilo("report: own.html" report own.db --out own.html)
own_hilo("walk +a walk on a line" list problems)
own_hilo("last-return +values are the last returns" list agents)
own_hilo("half-way +half high, half low fidelity" list estimators)
own_hilo("best_value +the largest value of any pair" list metrics)
file(READ ${WORK}/own.html page)
if(NOT page MATCHES "last return trust=0.5")
  message(FATAL_ERROR "the page does not show the stranger's agent")
endif()
