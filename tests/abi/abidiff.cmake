# SPDX-License-Identifier: Apache-2.0
# libabigail compares the library's witness with the frozen dump: functions, parameters,
# structs.
#   cmake -DABIDIFF=abidiff -DDUMP=libsluice-1.abi -DSHARED=libabi_witness.so
#         -DIGNORE=abi.abignore -P abidiff.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(
  COMMAND ${ABIDIFF} --no-added-syms --suppressions ${IGNORE} ${DUMP} ${SHARED}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "abidiff ended with ${result}:\n${output}")
endif()
message("no difference to the frozen ABI")
