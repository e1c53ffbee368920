# SPDX-License-Identifier: Apache-2.0
# The crate's tests and its driver example on a library with sanitizers, which detect memory
# errors that the safe interface should prevent. The programs are not instrumented, so the
# sanitizer's run-time library is preloaded.
#   as test.cmake, with RUNTIME=<shared address sanitizer>
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../models.cmake)
cmake_path(GET LIBRARY PARENT_PATH library_folder)
cmake_path(GET DEVICE PARENT_PATH device_folder)
# Without the archive, whose undefined symbols no linker would accept.
file(MAKE_DIRECTORY ${WORK}/shared)
file(CREATE_LINK ${LIBRARY} ${WORK}/shared/libsluice.so SYMBOLIC)
set(ENV{SLUICE_LIB_DIR} ${WORK}/shared)
set(ENV{SLUICE_DEVICE_LIB_DIR} ${device_folder})
set(ENV{CARGO_TARGET_DIR} ${WORK}/target)
set(ENV{SLUICE_TEST_HARDWARE} ${HARDWARE})
set(ENV{SLUICE_TEST_GRAPH} ${GRAPH})
set(ENV{SLUICE_TEST_PLAN} ${PLAN})
# Undefined sanitizer symbols of the libraries come with the run-time library.
set(ENV{RUSTFLAGS} "-Clink-arg=-Wl,--allow-shlib-undefined")
string(JOIN " " runner env LD_PRELOAD=${RUNTIME}
       LD_LIBRARY_PATH=${library_folder}:${device_folder}
       ASAN_OPTIONS=detect_leaks=0)
set(ENV{CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER} ${runner})
set(ENV{CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER} ${runner})
execute_process(COMMAND ${CARGO} fetch -q --manifest-path ${CRATE}/Cargo.toml
                RESULT_VARIABLE no_crates ERROR_VARIABLE why)
if(no_crates)
  message("skipped: cargo cannot fetch the crates that this one needs\n${why}")
  return()
endif()
set(at --manifest-path ${CRATE}/Cargo.toml --features device)
run(${CARGO} test -q ${at} --tests)
message("${output}")
run(${CARGO} run -q ${at} --example driver -- ${HARDWARE} ${GRAPH})
message("${output}")
