# SPDX-License-Identifier: Apache-2.0
# A program of tests fails when it is asked for a case that it does not have, and does not
# when it is asked for its names.
#   cmake -DPROGRAM=<a program of tests> -P filter.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${PROGRAM} "--test-case=no case is called so"
                OUTPUT_VARIABLE said RESULT_VARIABLE result)
if(NOT result EQUAL 1 OR NOT said MATCHES "no test case was selected by: '--test-case=no ")
  message(FATAL_ERROR "a filter without a match ended with ${result}: ${said}")
endif()
foreach(query --list-test-cases --list-test-suites --count --no-run --version --help)
  execute_process(COMMAND ${PROGRAM} ${query} OUTPUT_VARIABLE said RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${query} ended with ${result}: ${said}")
  endif()
endforeach()
