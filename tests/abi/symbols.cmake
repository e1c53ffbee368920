# SPDX-License-Identifier: Apache-2.0
# The library exports exactly the stable symbols of the golden list: none is missing or
# new.
#   cmake -DNM=nm -DSHARED=libsluice.so -DREADELF=readelf -DGOLDEN=symbols-1.txt
#         -P symbols.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${NM} -D --defined-only ${SHARED} OUTPUT_VARIABLE text
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "sluice_[a-z0-9_]+@@SLUICE_1\n" found "${text}")
list(TRANSFORM found REPLACE "@.*" "")
list(SORT found)
file(STRINGS ${GOLDEN} golden)
set(gone ${golden})
set(added ${found})
if(found)
  list(REMOVE_ITEM gone ${found})
endif()
list(REMOVE_ITEM added ${golden})
if(gone)
  message(FATAL_ERROR "ABI 1 has lost functions, which needs a new version: ${gone}")
endif()
if(added)
  message(FATAL_ERROR "new in sluice.h; if they are to stay for good, run "
                      "tests/abi/regenerate.py: ${added}")
endif()
execute_process(COMMAND ${READELF} -d ${SHARED} OUTPUT_VARIABLE text
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT text MATCHES "SONAME[^\n]*\\[libsluice\\.so\\.1\\]")
  message(FATAL_ERROR "the SONAME is not libsluice.so.1")
endif()
list(LENGTH found count)
message("${count} functions, as frozen; SONAME libsluice.so.1")
