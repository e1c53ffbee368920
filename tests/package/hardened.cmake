# SPDX-License-Identifier: Apache-2.0
# The libraries and the tool as they are installed: relocations are read-only once they are
# bound, no stack and no segment is both writable and executable, programs lie at random
# addresses. BINARIES, which read files of users, bind all addresses at the start.
#   cmake -DREADELF=... "-DBINARIES=..." "-DLIBRARIES=..." -P hardened.cmake
cmake_minimum_required(VERSION 3.25)
foreach(binary ${BINARIES} ${LIBRARIES})
  execute_process(COMMAND ${READELF} -hldW ${binary} OUTPUT_VARIABLE told
                  COMMAND_ERROR_IS_FATAL ANY)
  set(wanted "Type: +DYN" "GNU_RELRO")
  if(binary IN_LIST BINARIES)
    list(APPEND wanted "\\(FLAGS(_1)?\\)[^\n]*NOW")
  endif()
  foreach(want ${wanted})
    if(NOT told MATCHES "${want}")
      message(FATAL_ERROR "${binary}: no \"${want}\" in\n${told}")
    endif()
  endforeach()
  foreach(refused "TEXTREL" "GNU_STACK[^\n]*RWE" "LOAD[^\n]*RWE")
    if(told MATCHES "${refused}")
      message(FATAL_ERROR "${binary}: \"${refused}\" in\n${told}")
    endif()
  endforeach()
endforeach()
list(LENGTH BINARIES binaries)
list(LENGTH LIBRARIES libraries)
message("${binaries} programs and ${libraries} libraries are hardened")
