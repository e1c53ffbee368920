# SPDX-License-Identifier: Apache-2.0
# Which folder may include which. Fails on an include that the table does not allow, whether
# it stands in quotes or in angle brackets.
#   cmake -DROOT=<source tree> -P includes.cmake
#   cmake -DSELF_TEST=<a folder to write to> -P includes.cmake    forbidden ones are found
cmake_minimum_required(VERSION 3.25)

# room -> first folders (or files) of quoted includes it may name, besides "sluice/".
set(base "base")
set(search "search;base")
set(model "model;base")
set(io "io;model;base;flatbuffers")
set(solve_baseline "solve/baseline;search;model;base")
set(solve_mapping "solve/mapping;search;model;base")
set(solve_segments "solve/segments;search;model;base")
set(solve_fusion "solve/fusion;search;model;base")
set(solve_prefetch "solve/prefetch;search;model;base")
set(solve_placement "solve/placement;search;model;base")
set(solve_repair "solve/repair;search;model;base")
set(solve_space "solve/space;search;model;base")
set(solve_partition "solve/partition;search;model;base")
set(verify "verify;base;model/graph.h;model/hardware.h;model/plan.h")
set(emit "emit;model;base")
set(lower "lower;base")
set(plan "plan;emit;verify;io;solve;search;model;base")
set(absent "api;base;plan;solve;verify") # stands in for parts that a build leaves out
set(api "api;lower;plan;emit;verify;io;solve;search;model;base")
set(import "import;flatbuffers")
set(zoo "zoo;import")
set(presets "presets;import;flatbuffers")
set(cli "cli;firmware-sim/sim.h;firmware-sim/scaled.h;firmware-sim/walker.h;bindings/targets")

# Generated headers count as wire code: only these may name them.
set(may_generate "^(src/io|src/import|src/presets|src/cli|firmware-sim|tests|bindings)/")

# An include, however it is spaced. In angle brackets it is looked at if it names a folder of ours.
set(any_include "^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">]+)[\">].*")
string(CONCAT ours "^(base|search|model|io|solve|verify|emit|lower|plan|absent|api|import|zoo"
       "|presets|cli|firmware-sim|bindings)/")

# Each of these must be found, and the last two must not.
if(SELF_TEST)
  set(number 0)
  foreach(planted "src/verify/a.cc|#include <solve/fusion/moves.h>"
          "src/verify/a.cc|# include \"solve/fusion/moves.h\""
          "src/verify/a.h|  #include \"solve/fusion/moves.h\""
          "src/verify/a.cc|#include\"solve/fusion/moves.h\""
          "src/verify/a.hpp|#include \"solve/fusion/moves.h\""
          "src/verify/a.inc|#include \"solve/fusion/moves.h\""
          "tests/plan/a.cc|#include \"cli/failure.h\""
          "tests/cli/a.cc|#include \"cli/failure.h\""
          "src/verify/a.cc|#include <vector>")
    math(EXPR number "${number} + 1")
    string(REGEX REPLACE "\\|.*" "" file "${planted}")
    string(REGEX REPLACE "^[^|]*\\|" "" line "${planted}")
    set(tree ${SELF_TEST}/${number})
    file(REMOVE_RECURSE ${tree})
    foreach(i RANGE 20)
      file(WRITE ${tree}/src/base/${i}.h "")
    endforeach()
    file(WRITE ${tree}/${file} "${line}\n")
    execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${tree} -P ${CMAKE_CURRENT_LIST_FILE}
                    RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE said)
    if(number LESS 8 AND (result EQUAL 0 OR NOT said MATCHES "1 includes against"))
      message(FATAL_ERROR "not found in ${file}: ${line}: ${said}")
    elseif(number GREATER 7 AND NOT result EQUAL 0)
      message(FATAL_ERROR "complained of in ${file}: ${line}: ${said}")
    endif()
  endforeach()
  return()
endif()

set(bad 0)
function(complain file include why)
  message("${file}: \"${include}\": ${why}")
  math(EXPR count "${bad} + 1")
  set(bad ${count} PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/src/*.h ${ROOT}/src/*.cc
     ${ROOT}/src/*.c ${ROOT}/src/*.hpp ${ROOT}/src/*.inc ${ROOT}/firmware-sim/*.hpp
     ${ROOT}/firmware-sim/*.inc ${ROOT}/bindings/*.hpp ${ROOT}/bindings/*.inc
     ${ROOT}/firmware-sim/*.h ${ROOT}/firmware-sim/*.c ${ROOT}/firmware-sim/*.cc
     ${ROOT}/bindings/*.h ${ROOT}/bindings/*.c ${ROOT}/bindings/*.cc)
foreach(file ${files})
  if(file MATCHES "^src/solve/([a-z_]+)/")
    set(room solve_${CMAKE_MATCH_1})
  elseif(file MATCHES "^src/([a-z_]+)/")
    set(room ${CMAKE_MATCH_1})
  else()
    set(room outside)
  endif()
  if(NOT "${room}" STREQUAL "outside" AND NOT DEFINED ${room})
    complain(${file} "" "room ${room} is not in the table")
  endif()
  file(STRINGS ${ROOT}/${file} includes REGEX "${any_include}")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "${any_include}" "\\1" include "${line}")
    if(line MATCHES "include[ \t]*<" AND NOT include MATCHES "${ours}")
      continue()
    endif()
    if(include MATCHES "_generated\\.h$")
      if(NOT file MATCHES "${may_generate}")
        complain(${file} ${include} "wire code stays in io")
      endif()
      continue()
    endif()
    if(include MATCHES "^sluice/")
      continue()
    endif()
    if("${room}" STREQUAL "outside")
      # firmware-sim and bindings may include include/ and their own folder. Drivers may
      # also include the device's and the firmware's headers for them. The delegate is a
      # front end of the TensorFlow Lite importer: it builds the importer's structs from
      # the runtime's. The Python package shows what the tool shows, by the tool's code.
      string(REGEX REPLACE "/.*" "" folder ${file})
      if(NOT include MATCHES "^${folder}/" AND NOT include MATCHES "^flatbuffers/"
         AND NOT (folder STREQUAL "bindings"
                  AND include MATCHES "^firmware-sim/(device|walker)\\.h$")
         AND NOT (file MATCHES "^bindings/python/" 
                  AND include MATCHES
                      "^(firmware-sim/sim|cli/(plan_(page|trace)|segment_notation|failure))\\.h$")
         AND NOT (file MATCHES "^bindings/tflite/"
                  AND include MATCHES
                      "^(import/(error|tflite/(fold_constants|import_tflite|tflite_model))|tensorflow/lite/.*)\\.h$")
         AND include MATCHES "/")
        complain(${file} ${include} "may include include/ and its own folder only")
      endif()
      continue()
    endif()
    set(allowed FALSE)
    foreach(prefix ${${room}})
      if(include STREQUAL prefix OR include MATCHES "^${prefix}/")
        set(allowed TRUE)
      endif()
    endforeach()
    if("${room}" STREQUAL "cli" AND include MATCHES "^flatbuffers/")
      set(allowed TRUE) # JSON <-> binary
    endif()
    if(NOT allowed)
      complain(${file} ${include} "room ${room} may include: ${${room}}")
    endif()
  endforeach()
endforeach()

# The tool is no library: tests of the library do without its code.
file(GLOB_RECURSE tests RELATIVE ${ROOT} ${ROOT}/tests/*.h ${ROOT}/tests/*.c ${ROOT}/tests/*.cc
     ${ROOT}/tests/*.hpp ${ROOT}/tests/*.inc)
foreach(file ${tests})
  if(NOT file MATCHES "^tests/(cli|fuzz|bench|soak)/")
    file(STRINGS ${ROOT}/${file} includes REGEX "${any_include}")
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "${any_include}" "\\1" include "${line}")
      if(include MATCHES "^cli/")
        complain(${file} ${include} "only tests of the tool may include its code")
      endif()
    endforeach()
  endif()
endforeach()
list(LENGTH files n)
if(n LESS 20)
  message(FATAL_ERROR "only ${n} sources found under ${ROOT}")
endif()
if(bad GREATER 0)
  message(FATAL_ERROR "${bad} includes against the table")
endif()
message("${n} sources follow the include table")
