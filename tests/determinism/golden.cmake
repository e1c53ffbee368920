# SPDX-License-Identifier: Apache-2.0
# Plan hashes against the list that is committed; with WRITE=ON the list is written.
#   cmake -DPROGRAM=plan_hashes -DINPUTS=<folder> -DGRAPHS=<number of them>
#         -DGOLDEN=golden.txt [-DWRITE=ON] -P golden.cmake
cmake_minimum_required(VERSION 3.25)
set(arguments ${INPUTS}/random_machine.slh)
foreach(i RANGE 1 ${GRAPHS})
  list(APPEND arguments ${INPUTS}/random_${i}.slg)
endforeach()
execute_process(COMMAND ${PROGRAM} ${arguments} RESULT_VARIABLE result
                OUTPUT_VARIABLE hashes)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM}: ${result}")
endif()
if(WRITE)
  file(WRITE ${GOLDEN} "${hashes}")
  return()
endif()
file(READ ${GOLDEN} golden)
if(NOT hashes STREQUAL golden)
  string(REGEX REPLACE "\n" ";" ours "${hashes}")
  string(REGEX REPLACE "\n" ";" theirs "${golden}")
  foreach(line ${ours})
    if(NOT line IN_LIST theirs)
      message("not in the list: ${line}")
    endif()
  endforeach()
  message(FATAL_ERROR "Plans differ from ${GOLDEN}. On another machine or with another "
                      "compiler that is a defect. Where a change was meant to make other "
                      "plans: cmake --build build/release --target golden_plan_hashes")
endif()
