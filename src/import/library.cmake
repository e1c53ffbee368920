# SPDX-License-Identifier: Apache-2.0
# libsluice_import: importers, zoo, presets and builders as one library, shared and as an
# archive. It needs libsluice, whose reader checks every graph before it is returned.
get_property(import_rooms GLOBAL PROPERTY SLUICE_IMPORT_ROOMS)
set(import_objects)
foreach(room ${import_rooms})
  list(APPEND import_objects $<TARGET_OBJECTS:${room}>)
endforeach()
set(import_needs)
set(SLUICE_IMPORT_NEEDS) # of the archive, for pkg-config
if(SLUICE_HAVE_ONNX)
  list(APPEND import_needs onnx onnx_proto protobuf::libprotobuf)
  string(APPEND SLUICE_IMPORT_NEEDS " -lonnx -lonnx_proto -lprotobuf")
endif()
set(import_includes
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# For the project's own tests and tools, which use internal functions.
add_library(sluice_import_rooms STATIC ${import_objects})
target_include_directories(
  sluice_import_rooms PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_include_directories(
  sluice_import_rooms SYSTEM PUBLIC ${PROJECT_BINARY_DIR}/src/import/generated)
target_link_libraries(sluice_import_rooms PUBLIC sluice_wire sluice_static
                                          PRIVATE ${import_needs})
set_target_properties(sluice_import_rooms PROPERTIES LINKER_LANGUAGE CXX)

# <sluice/import.hpp>, as it is installed.
configure_file(${PROJECT_SOURCE_DIR}/bindings/cpp/import.hpp
               ${PROJECT_BINARY_DIR}/include/sluice/import.hpp COPYONLY)

# The shared library exports what its headers declare.
set(SLUICE_IMPORT_HEADERS build import presets zoo)
set(import_exports)
foreach(name ${SLUICE_IMPORT_HEADERS})
  set(header ${PROJECT_SOURCE_DIR}/include/sluice/${name}.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(STRINGS ${header} declarations REGEX "^SLUICE_API .*sluice_[a-z0-9_]+\\(")
  list(TRANSFORM declarations REPLACE "^SLUICE_API [^(]*[ *](sluice_[a-z0-9_]+)\\(.*"
                                      "\\1")
  list(APPEND import_exports ${declarations})
endforeach()
list(JOIN import_exports ";\n    " SLUICE_EXPORTS)
set(SLUICE_NODE SLUICE_IMPORT_1)
set(import_map ${PROJECT_BINARY_DIR}/src/import/sluice_import.map)
configure_file(${PROJECT_SOURCE_DIR}/src/sluice.map.in ${import_map} @ONLY)
add_library(sluice_import SHARED ${import_objects})
target_include_directories(sluice_import PUBLIC ${import_includes})
target_link_libraries(sluice_import PUBLIC sluice PRIVATE ${import_needs})
set_target_properties(
  sluice_import
  PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS ${import_map} SOVERSION 1
             VERSION 1.${PROJECT_VERSION_MINOR}.${PROJECT_VERSION_PATCH}
             EXPORT_NAME import)
target_link_options(sluice_import PRIVATE ${sluice_hardened_link}
                                          -Wl,--gc-sections -Wl,--as-needed
                                          -Wl,--version-script=${import_map})
if(NOT SLUICE_SANITIZE)
  target_link_options(sluice_import PRIVATE -Wl,--no-undefined)
endif()
add_library(sluice::import ALIAS sluice_import)

# The archive: one object in which only the C functions are global, as libsluice.a is.
# Programs that link it must also link the libraries of the models' formats and libstdc++.
if(SLUICE_LD AND CMAKE_OBJCOPY AND NOT SLUICE_SANITIZE)
  set(one ${PROJECT_BINARY_DIR}/src/import/sluice_import_one.o)
  add_custom_command(
    OUTPUT ${one}
    COMMAND ${SLUICE_LD} -r --force-group-allocation -o ${one} ${import_objects}
    COMMAND ${CMAKE_OBJCOPY} --strip-debug --wildcard --keep-global-symbol=sluice_* ${one}
    DEPENDS ${import_rooms} ${import_objects}
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${one} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  add_library(sluice_import_archive STATIC ${one})
else()
  add_library(sluice_import_archive STATIC ${import_objects})
endif()
target_include_directories(sluice_import_archive PUBLIC ${import_includes})
target_link_libraries(sluice_import_archive PUBLIC sluice_archive)
if(PROJECT_IS_TOP_LEVEL)
  # Names, not targets: an installed package does not look for their CMake files.
  set(names stdc++ m)
  if(SLUICE_HAVE_ONNX)
    list(PREPEND names onnx onnx_proto protobuf)
  endif()
  target_link_libraries(sluice_import_archive INTERFACE ${names})
else()
  target_link_libraries(sluice_import_archive INTERFACE ${import_needs} stdc++ m)
endif()
set_target_properties(sluice_import_archive PROPERTIES OUTPUT_NAME sluice_import
                                                       EXPORT_NAME import_static
                                                       LINKER_LANGUAGE CXX)
add_library(sluice::import_static ALIAS sluice_import_archive)
