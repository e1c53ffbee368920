# SPDX-License-Identifier: Apache-2.0
# Which functions the library may need from its host; it has no state and stays small.
#   cmake -DNM=nm -DSTRIP=strip -DSHARED=libsluice.so -DSTATIC=libsluice_rooms.a
#         -DEXPERIMENTAL=libsluice_experimental.so
#         -DMAX_BYTES=n -P symbols.cmake
cmake_minimum_required(VERSION 3.25)

# Everything the shared library may leave undefined. malloc is reached only through the
# default allocator, the clock only through base/budget.
set(allowed memcpy memmove memset memcmp strlen strncmp strcmp posix_memalign free
    clock_gettime __cxa_finalize _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable
    __gmon_start__ __stack_chk_fail)
execute_process(COMMAND ${NM} -D --undefined-only ${SHARED} OUTPUT_VARIABLE undefined
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "\n" ";" undefined "${undefined}")
set(bad "")
foreach(line ${undefined})
  string(REGEX REPLACE ".* ([^ @]+)(@.*)?$" "\\1" symbol "${line}")
  if(NOT symbol IN_LIST allowed)
    list(APPEND bad ${symbol})
  endif()
endforeach()
if(bad)
  message(FATAL_ERROR "the library needs symbols it may not need: ${bad}")
endif()

# Exports: the C functions only.
execute_process(COMMAND ${NM} -D --defined-only ${SHARED} OUTPUT_VARIABLE defined
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "\n" ";" defined "${defined}")
set(exports 0)
foreach(line ${defined})
  string(REGEX REPLACE ".* ([^ @]+)(@.*)?$" "\\1" symbol "${line}")
  if(symbol MATCHES "^SLUICE_(1|EXPERIMENTAL)$")
    continue() # a node of the version script
  endif()
  if(NOT symbol MATCHES "^sluice_")
    message(FATAL_ERROR "the library exports ${symbol}")
  endif()
  math(EXPR exports "${exports} + 1")
endforeach()
if(exports LESS 10)
  message(FATAL_ERROR "only ${exports} functions are exported")
endif()

# No writable data: B, b, D, d, C of our own objects. Relocated read-only tables are fine
# (they are in .data.rel.ro, which nm also calls d).
execute_process(COMMAND ${NM} -C ${STATIC} OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]* [BbC] [^\n]*" writable "${symbols}")
if(writable)
  message(FATAL_ERROR "writable globals: ${writable}")
endif()

# One source reads a clock: all others ask base/budget, which asks the caller's.
execute_process(COMMAND ${NM} -A --undefined-only ${STATIC} OUTPUT_VARIABLE needs
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]* clock_gettime[^\n]*" clocks "${needs}")
list(FILTER clocks EXCLUDE REGEX "budget\\.cc\\.o:")
if(clocks)
  message(FATAL_ERROR "reads a clock, which only base/budget.cc may: ${clocks}")
endif()
function(stripped_size library result)
  execute_process(COMMAND ${STRIP} -o ${library}.stripped ${library}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(SIZE ${library}.stripped bytes)
  file(REMOVE ${library}.stripped)
  set(${result} ${bytes} PARENT_SCOPE)
endfunction()
stripped_size(${SHARED} bytes)
stripped_size(${EXPERIMENTAL} experimental_bytes)
if(bytes GREATER MAX_BYTES)
  message(FATAL_ERROR "the stripped library has ${bytes} bytes, at most ${MAX_BYTES}")
endif()
message("with all of experimental.h: ${experimental_bytes} bytes stripped")
message("${bytes} bytes stripped, ${exports} exports, no writable globals, no symbol beyond the allowed")
