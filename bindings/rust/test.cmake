# SPDX-License-Identifier: Apache-2.0
# The crate on the library of this build: tests, documentation examples, clippy, and the
# driver example on the simulated device.
#   cmake -DCARGO=.. -DLIBRARY=<libsluice> -DDEVICE=<libsluice_device> -DCRATE=<folder>
#         -DSLUICE=<tool> -DGOLDENS=.. -DSHARED=.. -DWORK=<folder> -P test.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../models.cmake)
cmake_path(GET LIBRARY PARENT_PATH library_folder)
cmake_path(GET DEVICE PARENT_PATH device_folder)
set(ENV{SLUICE_LIB_DIR} ${library_folder})
set(ENV{SLUICE_DEVICE_LIB_DIR} ${device_folder})
set(ENV{LD_LIBRARY_PATH} ${library_folder}:${device_folder})
set(ENV{CARGO_TARGET_DIR} ${WORK}/target)
set(ENV{SLUICE_TEST_HARDWARE} ${HARDWARE})
set(ENV{SLUICE_TEST_GRAPH} ${GRAPH})
set(ENV{SLUICE_TEST_PLAN} ${PLAN})
execute_process(COMMAND ${CARGO} fetch -q --manifest-path ${CRATE}/Cargo.toml
                RESULT_VARIABLE no_crates ERROR_VARIABLE why)
if(no_crates)
  message("skipped: cargo cannot fetch the crates that this one needs\n${why}")
  return()
endif()
set(at --manifest-path ${CRATE}/Cargo.toml --features device)

run(${CARGO} test -q ${at})
message("${output}")
execute_process(COMMAND ${CARGO} clippy --version RESULT_VARIABLE no_clippy
                OUTPUT_QUIET ERROR_QUIET)
if(no_clippy)
  message("skipped in part: cargo clippy is not installed")
else()
  run(${CARGO} clippy -q --all-targets ${at} -- -D warnings)
endif()
run(${CARGO} run -q ${at} --example driver -- ${HARDWARE} ${GRAPH})
message("${output}")
string(REGEX MATCHALL "outputs ${OUTPUT_HASH}" equal "${output}")
list(LENGTH equal runs)
if(NOT runs EQUAL 3)
  message(FATAL_ERROR "the driver example does not give ${OUTPUT_HASH} three times")
endif()
