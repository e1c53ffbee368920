# SPDX-License-Identifier: Apache-2.0
# The module on the library of this build: vet, tests under the race detector, and the
# driver example on the simulated device.
#   cmake -DGO=.. -DLIBRARY=<libsluice> -DDEVICE=<libsluice_device> -DROOT=<source tree>
#         -DSLUICE=<tool> -DGOLDENS=.. -DSHARED=.. -DWORK=<folder> -P test.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../models.cmake)
cmake_path(GET LIBRARY PARENT_PATH library_folder)
cmake_path(GET DEVICE PARENT_PATH device_folder)
set(ENV{CGO_ENABLED} 1)
set(ENV{CGO_CFLAGS} "-I${ROOT}/include -I${ROOT}")
set(ENV{CGO_LDFLAGS} "-L${library_folder} -L${device_folder}")
set(ENV{LD_LIBRARY_PATH} ${library_folder}:${device_folder})
set(ENV{SLUICE_TEST_HARDWARE} ${HARDWARE})
set(ENV{SLUICE_TEST_GRAPH} ${GRAPH})
set(ENV{SLUICE_TEST_PLAN} ${PLAN})
# The commands of go that has no -C yet (before 1.20) work where they are started.
set(in ${CMAKE_COMMAND} -E chdir ${ROOT}/bindings/go ${GO})
execute_process(COMMAND ${in} mod download RESULT_VARIABLE no_modules ERROR_VARIABLE why)
if(no_modules)
  message("skipped: go cannot download the modules that this one needs\n${why}")
  return()
endif()

run(${in} vet -tags sluice_env ./...)
run(${in} test -race -count=1 -tags sluice_env ./...)
message("${output}")
run(${in} run -tags sluice_env ./examples/driver ${HARDWARE} ${GRAPH})
message("${output}")
string(REGEX MATCHALL "outputs ${OUTPUT_HASH}" equal "${output}")
list(LENGTH equal runs)
if(NOT runs EQUAL 3)
  message(FATAL_ERROR "the driver example does not give ${OUTPUT_HASH} three times")
endif()
