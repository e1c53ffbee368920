# SPDX-License-Identifier: Apache-2.0
# Writes the bill of materials of linked files: see sbom.cmake.
#   cmake -DREADELF=... -DROWS=sbom_rows.cmake "-DFILES=..." -DOUT=... -P write_sbom.cmake
cmake_minimum_required(VERSION 3.25)
include(${ROWS})
set(packages)
set(relations)

function(add_relation from relation to)
  string(JOIN "\n" text
    "    {\"spdxElementId\": \"SPDXRef-${from}\", \"relationshipType\": \"${relation}\","
    "     \"relatedSpdxElement\": \"SPDXRef-${to}\"}")
  set(relations "${relations}${relations_end}${text}" PARENT_SCOPE)
  set(relations_end ",\n" PARENT_SCOPE)
endfunction()

function(add_package name licence url version)
  if("${name}" IN_LIST known)
    return()
  endif()
  string(JOIN "\n" text
    "    {\"name\": \"${name}\", \"SPDXID\": \"SPDXRef-${name}\", \"versionInfo\": \"${version}\","
    "     \"licenseConcluded\": \"${licence}\", \"licenseDeclared\": \"${licence}\","
    "     \"copyrightText\": \"NOASSERTION\", \"filesAnalyzed\": false,"
    "     \"downloadLocation\": \"${url}\"}")
  set(packages "${packages}${packages_end}${text}" PARENT_SCOPE)
  set(packages_end ",\n" PARENT_SCOPE)
  set(known ${known} ${name} PARENT_SCOPE)
endfunction()

# The sonames that the files ask for, without those that are files themselves.
set(needed)
set(own)
foreach(file ${FILES})
  execute_process(COMMAND ${READELF} -dW ${file} OUTPUT_VARIABLE told
                  COMMAND_ERROR_IS_FATAL ANY)
  if(told MATCHES "\\(SONAME\\)[^\n]*\\[([^]\n]+)\\]")
    list(APPEND own ${CMAKE_MATCH_1})
  endif()
  string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*" lines "${told}")
  foreach(line ${lines})
    string(REGEX REPLACE ".*\\[([^]]+)\\]?.*" "\\1" soname "${line}")
    list(APPEND needed ${soname})
  endforeach()
endforeach()
list(REMOVE_DUPLICATES needed)
list(REMOVE_ITEM needed ${own})

add_package(sluice Apache-2.0 NOASSERTION ${version})
add_relation(DOCUMENT DESCRIBES sluice)
foreach(row ${headers})
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 name)
  list(GET row 1 licence)
  list(GET row 2 url)
  list(GET row 3 package_version)
  add_package(${name} "${licence}" ${url} ${package_version})
  add_relation(sluice STATIC_LINK ${name})
endforeach()
foreach(row ${libraries})
  string(REGEX MATCH "^([^|]*)\\|([^|]*)\\|([^|]*)\\|([^|]*)\\|(.*)$" row "${row}")
  set(name ${CMAKE_MATCH_1})
  set(licence "${CMAKE_MATCH_2}")
  set(url ${CMAKE_MATCH_3})
  set(package_version ${CMAKE_MATCH_4})
  set(of_row ${needed})
  list(FILTER of_row INCLUDE REGEX "^(${CMAKE_MATCH_5})\\.so")
  if(of_row)
    list(REMOVE_ITEM needed ${of_row})
    add_package(${name} "${licence}" ${url} ${package_version})
    add_relation(sluice DYNAMIC_LINK ${name})
  endif()
endforeach()
if(needed)
  message(FATAL_ERROR "of no package that src/package/sbom.cmake knows: ${needed}")
endif()

file(WRITE ${OUT} "{
  \"spdxVersion\": \"SPDX-2.3\",
  \"dataLicense\": \"CC0-1.0\",
  \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"sluice-${version}\",
  \"documentNamespace\": \"https://spdx.org/spdxdocs/sluice-${version}\",
  \"creationInfo\": {\"created\": \"1970-01-01T00:00:00Z\", \"creators\": [\"Tool: sluice's build\"]},
  \"packages\": [
${packages}
  ],
  \"relationships\": [
${relations}
  ]
}
")
