# SPDX-License-Identifier: Apache-2.0
# No source has more than 700 lines, every file has a licence line, none has an absolute
# path of one machine.
#   cmake -DROOT=<source tree> -P sizes.cmake
cmake_minimum_required(VERSION 3.25)
# The top level holds only what newcomers expect.
set(bad 0)
file(GLOB entries RELATIVE ${ROOT} ${ROOT}/*)
list(FILTER entries EXCLUDE REGEX "^\\.")
list(REMOVE_ITEM entries build CMakeLists.txt CMakePresets.json LICENSE README.md SECURITY.md
     CHANGELOG.md CONTRIBUTING.md run
     include src bindings firmware-sim tests build.log)
if(entries)
  message("unexpected at the top level: ${entries}")
  math(EXPR bad "${bad} + 1")
endif()
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/src/* ${ROOT}/include/*
     ${ROOT}/firmware-sim/* ${ROOT}/bindings/* ${ROOT}/tests/*)
foreach(file ${files})
  set(is_source OFF)
  if(file MATCHES "\\.(h|c|cc|fbs|cmake|py|sh|rs|go)$|CMakeLists.txt$")
    set(is_source ON)
  elseif(NOT file MATCHES "\\.(abi|json|md|txt|toml|yml|svg)$")
    continue()
  endif()
  file(READ ${ROOT}/${file} text)
  if(text MATCHES "/(home|root|work|tmp)/[A-Za-z0-9]+/" AND NOT file MATCHES "rules/sizes")
    message("${file}: names an absolute path")
    math(EXPR bad "${bad} + 1")
  endif()
  if(NOT is_source)
    continue()
  endif()
  if(NOT text MATCHES "SPDX-License-Identifier: Apache-2.0")
    message("${file}: no SPDX line")
    math(EXPR bad "${bad} + 1")
  endif()
  string(REGEX REPLACE "[^\n]" "" newlines "${text}")
  string(LENGTH "${newlines}" lines)
  if(lines GREATER 700 AND NOT file STREQUAL "bindings/rust/src/sys.rs") # generated
    message("${file}: ${lines} lines; 700 is the limit")
    math(EXPR bad "${bad} + 1")
  endif()
endforeach()
if(bad GREATER 0)
  message(FATAL_ERROR "${bad} complaints")
endif()
