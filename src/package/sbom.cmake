# SPDX-License-Identifier: Apache-2.0
# sluice.spdx.json: what the installed files contain or are linked with, with versions and
# licences, as SPDX 2.3. Reproducible: no time and no name of a machine. A test compares it
# with the headers that the sources include and with what the loader is asked for.
#
# Versions are those of the headers that were compiled; NOASSERTION where headers have none.
set(sbom_packages)
set(sbom_relations)

# sbom_package(NAME LICENCE URL RELATION VERSION): RELATION is STATIC_LINK where code of the
# package's headers is in our files, DYNAMIC_LINK where the loader looks for it.
function(sbom_package name licence url relation version)
  set(id SPDXRef-${name})
  string(JOIN "\n" package
    "    {\"name\": \"${name}\", \"SPDXID\": \"${id}\", \"versionInfo\": \"${version}\","
    "     \"licenseConcluded\": \"${licence}\", \"licenseDeclared\": \"${licence}\","
    "     \"copyrightText\": \"NOASSERTION\", \"filesAnalyzed\": false,"
    "     \"downloadLocation\": \"${url}\"}")
  set(sbom_packages "${sbom_packages},\n${package}" PARENT_SCOPE)
  string(JOIN "\n" relation
    "    {\"spdxElementId\": \"SPDXRef-sluice\", \"relationshipType\": \"${relation}\","
    "     \"relatedSpdxElement\": \"${id}\"}")
  set(sbom_relations "${sbom_relations},\n${relation}" PARENT_SCOPE)
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

sbom_version(version flatbuffers/base.h FLATBUFFERS_VERSION_MAJOR FLATBUFFERS_VERSION_MINOR
             FLATBUFFERS_VERSION_REVISION)
sbom_package(flatbuffers Apache-2.0 https://github.com/google/flatbuffers STATIC_LINK
             ${version})
if(SLUICE_BUILD_CLI)
  sbom_version(version CLI/Version.hpp CLI11_VERSION_MAJOR CLI11_VERSION_MINOR
               CLI11_VERSION_PATCH)
  sbom_package(CLI11 BSD-3-Clause https://github.com/CLIUtils/CLI11 STATIC_LINK ${version})
  sbom_version(version nlohmann/detail/abi_macros.hpp NLOHMANN_JSON_VERSION_MAJOR
               NLOHMANN_JSON_VERSION_MINOR NLOHMANN_JSON_VERSION_PATCH)
  sbom_package(nlohmann-json MIT https://github.com/nlohmann/json STATIC_LINK ${version})
  find_package(mimalloc CONFIG QUIET)
  if(mimalloc_FOUND AND NOT SLUICE_SANITIZE)
    sbom_package(mimalloc MIT https://github.com/microsoft/mimalloc DYNAMIC_LINK
                 ${mimalloc_VERSION})
  endif()
endif()
if(SLUICE_HAVE_ONNX)
  sbom_package(onnx Apache-2.0 https://github.com/onnx/onnx DYNAMIC_LINK NOASSERTION)
  sbom_version(version google/protobuf/stubs/common.h GOOGLE_PROTOBUF_VERSION)
  sbom_package(protobuf BSD-3-Clause https://github.com/protocolbuffers/protobuf
               DYNAMIC_LINK ${version})
endif()
sbom_package(gcc-runtime "GPL-3.0-or-later WITH GCC-exception-3.1" https://gcc.gnu.org
             DYNAMIC_LINK NOASSERTION)
sbom_package(libc LGPL-2.1-or-later https://sourceware.org/glibc DYNAMIC_LINK NOASSERTION)
configure_file(${CMAKE_CURRENT_LIST_DIR}/sluice.spdx.json.in sluice.spdx.json @ONLY)
set(doc ${CMAKE_INSTALL_DATADIR}/doc)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sluice.spdx.json DESTINATION ${doc}/libsluice-dev
        COMPONENT dev)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sluice.spdx.json DESTINATION ${doc}/sluice-tools
        COMPONENT tools)
