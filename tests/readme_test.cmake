# The first C++ block of the README equals EXAMPLE, and the block that follows "prints" equals what
# PROGRAM prints.
file(READ ${README} readme)
file(READ ${EXAMPLE} example)
string(FIND "${readme}" "```cpp\n${example}```" found)
if(found EQUAL -1)
  message(FATAL_ERROR "README.md does not show ${EXAMPLE} as it is")
endif()
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
string(FIND "${readme}" "```text\n${output}```" found)
if(found EQUAL -1)
  message(FATAL_ERROR "README.md does not show what the program prints:\n${output}")
endif()
