# SPDX-License-Identifier: Apache-2.0
# sluice.spdx.json: what the installed files contain or are linked with, with versions and
# licences, as SPDX 2.3; and `copyright`, the licences' texts. Reproducible: no time and no name
# of a machine.
#
# The libraries are those that the linked files ask the loader for (write_sbom.cmake reads them
# after the build); one that has no row here ends the build. Code of headers is in our files:
# a test compares those packages with the headers that the sources include. Versions are those
# of the build; NOASSERTION where a package does not tell its own.
if(NOT CMAKE_READELF)
  message(STATUS "sluice.spdx.json: not written (readelf not found)")
  return()
endif()

# Rows: NAME|LICENCE|URL|VERSION|SONAMES, sonames as a regular expression.
set(sbom_headers)   # code of their headers is in our files
set(sbom_libraries) # the loader looks for them
function(sbom_row kind name licence url version sonames)
  set(sbom_${kind} ${sbom_${kind}} "${name}|${licence}|${url}|${version}|${sonames}"
      PARENT_SCOPE)
endfunction()

# sbom_version(OUT HEADER MACROS...): the numbers that a header defines, joined by dots.
function(sbom_version out header)
  find_file(path_of_${out} ${header} HINTS ${SLUICE_FLATBUFFERS_INCLUDE}
            ${SLUICE_JSON_INCLUDE} ${SLUICE_CLI11_INCLUDE} NO_CACHE)
  set(version)
  if(path_of_${out})
    foreach(macro ${ARGN})
      file(STRINGS ${path_of_${out}} line REGEX "#define ${macro} +[0-9]+" LIMIT_COUNT 1)
      string(REGEX REPLACE ".*#define ${macro} +([0-9]+).*" "\\1" number "${line}")
      list(APPEND version "${number}")
    endforeach()
  endif()
  string(JOIN "." version ${version})
  if(version STREQUAL "")
    set(version NOASSERTION)
  endif()
  set(${out} ${version} PARENT_SCOPE)
endfunction()

# sbom_known(OUT VERSION): the version, or NOASSERTION for none.
function(sbom_known out version)
  if(version STREQUAL "")
    set(version NOASSERTION)
  endif()
  set(${out} ${version} PARENT_SCOPE)
endfunction()

sbom_version(version flatbuffers/base.h FLATBUFFERS_VERSION_MAJOR FLATBUFFERS_VERSION_MINOR
             FLATBUFFERS_VERSION_REVISION)
sbom_row(headers flatbuffers Apache-2.0 https://github.com/google/flatbuffers ${version} "")
sbom_row(libraries flatbuffers Apache-2.0 https://github.com/google/flatbuffers ${version}
         "libflatbuffers")
if(SLUICE_BUILD_CLI)
  sbom_version(version CLI/Version.hpp CLI11_VERSION_MAJOR CLI11_VERSION_MINOR
               CLI11_VERSION_PATCH)
  sbom_row(headers CLI11 BSD-3-Clause https://github.com/CLIUtils/CLI11 ${version} "")
  sbom_version(version nlohmann/detail/abi_macros.hpp NLOHMANN_JSON_VERSION_MAJOR
               NLOHMANN_JSON_VERSION_MINOR NLOHMANN_JSON_VERSION_PATCH)
  sbom_row(headers nlohmann-json MIT https://github.com/nlohmann/json ${version} "")
endif()
find_package(mimalloc CONFIG QUIET)
sbom_known(version "${mimalloc_VERSION}")
sbom_row(libraries mimalloc MIT https://github.com/microsoft/mimalloc ${version} "libmimalloc")
if(SLUICE_HAVE_ONNX)
  sbom_known(version "${SLUICE_ONNX_VERSION}")
  sbom_row(libraries onnx Apache-2.0 https://github.com/onnx/onnx ${version}
           "libonnx|libonnx_proto")
  sbom_known(version "${SLUICE_PROTOBUF_VERSION}")
  sbom_row(libraries protobuf BSD-3-Clause https://github.com/protocolbuffers/protobuf ${version}
           "libprotobuf")
endif()
set(version "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(version ${CMAKE_CXX_COMPILER_VERSION})
endif()
sbom_known(version "${version}")
set(gcc_licence "GPL-3.0-or-later WITH GCC-exception-3.1")
sbom_row(libraries gcc-runtime "${gcc_licence}" https://gcc.gnu.org ${version}
         "libstdc[+][+]|libgcc_s|libatomic")
# The version of the C library is that of its headers.
execute_process(COMMAND ${CMAKE_C_COMPILER} -dM -E -include features.h -x c /dev/null
                OUTPUT_VARIABLE macros ERROR_QUIET)
set(libc_version)
foreach(macro __GLIBC__ __GLIBC_MINOR__)
  if(macros MATCHES "#define ${macro} ([0-9]+)")
    list(APPEND libc_version ${CMAKE_MATCH_1})
  endif()
endforeach()
string(JOIN "." libc_version ${libc_version})
sbom_known(libc_version "${libc_version}")
sbom_row(libraries libc LGPL-2.1-or-later https://sourceware.org/glibc ${libc_version}
         "libc|libm|libdl|libpthread|librt|ld-linux[-a-z0-9_]*")
sbom_row(libraries musl MIT https://musl.libc.org NOASSERTION "libc[.]musl[-a-z0-9_]*")

# The files that are installed; one that is not built with the others is passed over.
set(sbom_files $<TARGET_FILE:sluice> $<TARGET_FILE:sluice_experimental>)
set(sbom_needs sluice sluice_experimental)
foreach(target sluice_import sluice_cli)
  if(TARGET ${target})
    list(APPEND sbom_files $<TARGET_FILE:${target}>)
    list(APPEND sbom_needs ${target})
  endif()
endforeach()
if(sluice_has_delegate)
  list(APPEND sbom_files $<TARGET_FILE:sluice_delegate>)
  list(APPEND sbom_needs sluice_delegate)
  # It brings the C++ library along, so that it can be loaded into any program.
  sbom_row(headers gcc-runtime "${gcc_licence}" https://gcc.gnu.org ${version} "")
endif()
set(sbom ${CMAKE_CURRENT_BINARY_DIR}/sluice.spdx.json)
set(rows ${CMAKE_CURRENT_BINARY_DIR}/sbom_rows.cmake)
file(CONFIGURE OUTPUT ${rows} CONTENT
"set(version [[${PROJECT_VERSION}]])
set(headers [[${sbom_headers}]])
set(libraries [[${sbom_libraries}]])
" @ONLY)
add_custom_command(
  OUTPUT ${sbom}
  COMMAND ${CMAKE_COMMAND} -DREADELF=${CMAKE_READELF} -DROWS=${rows} -DOUT=${sbom}
          "-DFILES=${sbom_files}" -P ${CMAKE_CURRENT_LIST_DIR}/write_sbom.cmake
  DEPENDS ${rows} ${CMAKE_CURRENT_LIST_DIR}/write_sbom.cmake ${sbom_needs}
  VERBATIM)
add_custom_target(sluice_sbom ALL DEPENDS ${sbom})

# The texts of the licences, as each package has to bring them along.
file(READ ${PROJECT_SOURCE_DIR}/LICENSE SLUICE_LICENCE)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/LICENSE)
configure_file(${CMAKE_CURRENT_LIST_DIR}/copyright.in copyright @ONLY)
set(doc ${CMAKE_INSTALL_DATADIR}/doc)
foreach(pair lib=libsluice1 import=libsluice-import1 dev=libsluice-dev tools=sluice-tools
             firmware=sluice-firmware delegate=sluice-tflite-delegate)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 component)
  list(GET pair 1 package)
  if((component STREQUAL "import" AND NOT TARGET sluice_import) OR
     (component STREQUAL "tools" AND NOT TARGET sluice_cli) OR
     (component STREQUAL "delegate" AND NOT sluice_has_delegate))
    continue()
  endif()
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/copyright DESTINATION ${doc}/${package}
          COMPONENT ${component})
  if(component MATCHES "dev|tools")
    install(FILES ${sbom} DESTINATION ${doc}/${package} COMPONENT ${component})
  endif()
endforeach()
