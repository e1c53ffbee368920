# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` and `cpack` make: headers, shared library and one-object archive,
# a CMake package (sluice::sluice, sluice::static), pkg-config, and the tool.
#
# Components: lib (what programs need to run), import (the same of libsluice_import), dev
# (what they need to be built), tools (sluice), firmware (sources that read streams on the
# device: the walker, and lowerings to machines that exist), delegate (that of TensorFlow Lite, and headers for device
# libraries).
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)

set(import_targets)
if(TARGET sluice_import)
  set(import_targets sluice_import sluice_import_archive)
endif()
install(
  TARGETS sluice sluice_experimental sluice_archive
  EXPORT sluiceTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT lib NAMELINK_COMPONENT dev
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
if(import_targets)
  install(FILES ${PROJECT_SOURCE_DIR}/bindings/cpp/import.hpp
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sluice COMPONENT dev)
  install(
    TARGETS ${import_targets}
    EXPORT sluiceTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT import NAMELINK_COMPONENT dev
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sluice
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(FILES ${PROJECT_SOURCE_DIR}/bindings/cpp/sluice.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sluice COMPONENT dev)
set(walker ${PROJECT_SOURCE_DIR}/firmware-sim/walker)
set(firmware_dir ${CMAKE_INSTALL_DATADIR}/sluice/firmware)
install(FILES ${walker}.h ${walker}.c ${walker}_check.c ${walker}_names.c
        DESTINATION ${firmware_dir} COMPONENT firmware)
install(FILES ${PROJECT_SOURCE_DIR}/include/sluice/stream.h
              ${PROJECT_SOURCE_DIR}/include/sluice/ops.h
        DESTINATION ${firmware_dir}/sluice COMPONENT firmware)
# Lowerings to machines that exist, in the folders that their includes name.
set(lowerings ${PROJECT_SOURCE_DIR}/bindings/targets)
install(DIRECTORY ${lowerings}/ DESTINATION ${firmware_dir}/bindings/targets
        COMPONENT firmware FILES_MATCHING PATTERN "*.[ch]" PATTERN "README.md")
install(FILES ${walker}.h DESTINATION ${firmware_dir}/firmware-sim COMPONENT firmware)
install(EXPORT sluiceTargets NAMESPACE sluice:: DESTINATION ${package_dir} COMPONENT dev)
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/sluiceConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/sluiceConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/sluiceConfigVersion.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sluiceConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/sluiceConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT dev)

# Relocatable: the prefix is where the file lies. No private requirements: the library
# needs nothing but the C library.
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" SLUICE_UP "${up}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/sluice.pc.in sluice.pc @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/sluice-experimental.pc.in sluice-experimental.pc @ONLY)
if(import_targets)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/sluice-import.pc.in sluice-import.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sluice-import.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endif()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sluice.pc
              ${CMAKE_CURRENT_BINARY_DIR}/sluice-experimental.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# bindings/tflite, where the headers of TensorFlow Lite are; it stands behind this script.
if(SLUICE_TFLITE_HEADERS)
  set(tflite_headers ${SLUICE_TFLITE_HEADERS})
else()
  set(tflite_headers ${PROJECT_SOURCE_DIR}/build/tflite/headers)
endif()
set(sluice_has_delegate OFF)
if(SLUICE_BUILD_CLI AND EXISTS ${tflite_headers}/tensorflow/lite/c/common.h)
  set(sluice_has_delegate ON)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/sbom.cmake)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sluice)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "the sluice project <sluice@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Schedules neural networks on accelerators")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL lib dev tools firmware)
if(import_targets)
  list(APPEND CPACK_COMPONENTS_ALL import)
endif()
if(sluice_has_delegate)
  list(APPEND CPACK_COMPONENTS_ALL delegate)
  set(CPACK_DEBIAN_DELEGATE_PACKAGE_NAME sluice-tflite-delegate)
  set(CPACK_DEBIAN_DELEGATE_PACKAGE_SECTION libs)
  # The headers for device libraries are here, and those of streams in the other.
  set(CPACK_DEBIAN_DELEGATE_PACKAGE_SUGGESTS libsluice-dev)
endif()
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_LIB_PACKAGE_NAME libsluice1)
set(CPACK_DEBIAN_LIB_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_IMPORT_PACKAGE_NAME libsluice-import1)
set(CPACK_DEBIAN_IMPORT_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libsluice-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libsluice1 (= ${PROJECT_VERSION})")
if(import_targets)
  set(CPACK_DEBIAN_IMPORT_PACKAGE_DEPENDS "libsluice1 (= ${PROJECT_VERSION})")
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
         ", libsluice-import1 (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
endif()
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME sluice-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_FIRMWARE_PACKAGE_NAME sluice-firmware)
set(CPACK_DEBIAN_FIRMWARE_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_FIRMWARE_PACKAGE_ARCHITECTURE all)
find_program(SLUICE_SHLIBDEPS dpkg-shlibdeps)
if(SLUICE_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
include(CPack)
