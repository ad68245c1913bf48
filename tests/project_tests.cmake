# Tests of the project as a whole: its layers, its README, and its use by a stranger.

# Every test here has the label "project"; sanitizer builds leave them out.
function(hilo_project_test name)
  add_test(NAME project/${name} COMMAND ${ARGN})
  set_tests_properties(project/${name} PROPERTIES LABELS project TIMEOUT 900)
endfunction()

hilo_project_test(layers ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}/src/hilo
                  -P ${PROJECT_SOURCE_DIR}/tools/check_layers.cmake)
# The check itself must be able to fail, on both kinds of include.
foreach(folder IN ITEMS agent exact)
  hilo_project_test(layers_catch_${folder} ${CMAKE_COMMAND}
                    -DSOURCE_DIR=${CMAKE_CURRENT_SOURCE_DIR}/support/bad_layers
                    -P ${PROJECT_SOURCE_DIR}/tools/check_layers.cmake)
  set_tests_properties(project/layers_catch_${folder} PROPERTIES PASS_REGULAR_EXPRESSION
    "core/uses_${folder}.hpp: 'core' comes before '${folder}' and must not include it")
endforeach()

# The README's program is the example, to the letter, and does what the README says.
hilo_project_test(readme_code ${CMAKE_COMMAND} -DREADME=${PROJECT_SOURCE_DIR}/README.md
                  -DEXAMPLE=${PROJECT_SOURCE_DIR}/examples/quickstart.cpp
                  -DPROGRAM=$<TARGET_FILE:quickstart>
                  -P ${CMAKE_CURRENT_SOURCE_DIR}/readme_test.cmake)

if(HILO_BUILD_CLI)
  hilo_project_test(ask_and_tell ${CMAKE_CURRENT_SOURCE_DIR}/ask_and_tell_test.sh
                    ${PROJECT_SOURCE_DIR} $<TARGET_FILE:hilo_cli> $<TARGET_FILE:ask_and_tell>)
  hilo_project_test(ask_and_tell_awk ${CMAKE_CURRENT_SOURCE_DIR}/ask_and_tell_awk_test.sh
                    ${PROJECT_SOURCE_DIR} $<TARGET_FILE:hilo_cli>)
  hilo_project_test(docs_commands ${CMAKE_CURRENT_SOURCE_DIR}/docs_test.sh ${PROJECT_SOURCE_DIR}
                    $<TARGET_FILE:hilo_cli>)
  hilo_project_test(same_bits ${CMAKE_CURRENT_SOURCE_DIR}/same_bits_test.sh
                    ${CMAKE_CURRENT_SOURCE_DIR}/same_bits $<TARGET_FILE:hilo_cli>
                    $<$<BOOL:${HILO_MPI}>:$<TARGET_FILE:hilo_mpi_cli>>)
  hilo_project_test(killed_run /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/killed_run_test.py
                    $<TARGET_FILE:hilo_cli> 6)
  hilo_project_test(killed_learn /usr/bin/python3
                    ${CMAKE_CURRENT_SOURCE_DIR}/killed_learn_test.py $<TARGET_FILE:hilo_cli> 5)
  hilo_project_test(programs /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/programs_test.py
                    $<TARGET_FILE:hilo_cli> ${CMAKE_CURRENT_SOURCE_DIR}/programs/simulator.py 6
                    $<$<BOOL:${HILO_MPI}>:$<TARGET_FILE:hilo_mpi_cli>>)
  hilo_project_test(export_nasbench201 /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/export_test.py
                    ${PROJECT_SOURCE_DIR} $<TARGET_FILE:hilo_cli>)
  # With Debian's own Python, for which Selenium is installed.
  hilo_project_test(report_page /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/report/page_test.py
                    $<TARGET_FILE:hilo_cli>)
endif()

include(compile_fail_tests.cmake)

foreach(way IN ITEMS find_package add_subdirectory)
  hilo_project_test(consumer_${way} ${CMAKE_COMMAND} -DWAY=${way} -DHILO_SOURCE=${PROJECT_SOURCE_DIR}
                    -DHILO_BUILD=${PROJECT_BINARY_DIR} -DCXX=${CMAKE_CXX_COMPILER}
                    -DCONSUMER=${CMAKE_CURRENT_SOURCE_DIR}/consumer
                    -DWORK=${CMAKE_CURRENT_BINARY_DIR}/consumer_${way}
                    -P ${CMAKE_CURRENT_SOURCE_DIR}/consumer_test.cmake)
endforeach()
