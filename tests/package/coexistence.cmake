# SPDX-License-Identifier: Apache-2.0
# Hosts that differ only in the libraries beside sluice must print the same stream.
# Reports sizes.
#   cmake -DHOSTS=a;b -DMIMALLOC_HOSTS=c;d -DSTRIP=strip -DSHARED=libsluice.so
#         -DALONE=program -DWITH=program -P coexistence.cmake
cmake_minimum_required(VERSION 3.25)
set(first "")
function(run_host)
  execute_process(COMMAND ${ARGV} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output MATCHES "^stream [0-9a-f]+\n$")
    message(FATAL_ERROR "${ARGV}: ${output}")
  endif()
  if(NOT first STREQUAL "" AND NOT first STREQUAL output)
    message(FATAL_ERROR "${ARGV}: ${output}others: ${first}")
  endif()
  set(first "${output}" PARENT_SCOPE)
endfunction()
foreach(host ${HOSTS})
  run_host(${host})
endforeach()
foreach(host ${MIMALLOC_HOSTS})
  run_host(${host} mimalloc)
endforeach()

foreach(name SHARED ALONE WITH)
  execute_process(COMMAND ${STRIP} -o ${${name}}.stripped ${${name}}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(SIZE ${${name}}.stripped ${name}_bytes)
  file(REMOVE ${${name}}.stripped)
endforeach()
math(EXPR contribution "${WITH_bytes} - ${ALONE_bytes}")
list(LENGTH HOSTS hosts)
list(LENGTH MIMALLOC_HOSTS mimalloc_hosts)
message("${hosts} hosts and ${mimalloc_hosts} with mimalloc: ${first}"
        "shared library ${SHARED_bytes} bytes; the archive adds ${contribution} bytes to a "
        "program that schedules")
if(contribution GREATER 679936)
  message(FATAL_ERROR "the archive adds more than 679936 bytes")
endif()
