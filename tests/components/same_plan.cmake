# SPDX-License-Identifier: Apache-2.0
# Two programs must print the same.
#   cmake -DCORE=<program> -DWHOLE=<program> -DARGUMENTS=<list> -P same_plan.cmake
foreach(program CORE WHOLE)
  execute_process(COMMAND ${${program}} ${ARGUMENTS} OUTPUT_VARIABLE ${program}_says
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
if(NOT CORE_says STREQUAL WHOLE_says OR CORE_says STREQUAL "")
  message(FATAL_ERROR "the core says\n${CORE_says}the whole library\n${WHOLE_says}")
endif()
message("${CORE_says}")
