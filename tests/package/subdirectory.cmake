# SPDX-License-Identifier: Apache-2.0
# The source tree inside another project, by FetchContent (which is add_subdirectory). Debug
# leaves out all optimisation; the library as it is shipped is consumed by installed.cmake.
#   cmake -DSOURCE=... -DWORK=... -DCC=... -DCXX=... -DLAUNCHER=... -P subdirectory.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
file(REMOVE_RECURSE ${WORK})
consume_project(${WORK}/build -DSLUICE_SOURCE_DIR=${SOURCE}
                -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DSLUICE_JOINED=ON
                -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
message("built and used inside another project")
