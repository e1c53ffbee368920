# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts of this folder. Expects SOURCE, WORK, CC, CXX, NM.

# Runs a command and fails the test if it fails. Its output is in step_output.
function(step)
  execute_process(COMMAND ${ARGV} OUTPUT_VARIABLE output ERROR_VARIABLE output
                  RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\nended with ${result}:\n${output}")
  endif()
  set(step_output "${output}" PARENT_SCOPE)
endfunction()

# Builds and runs the consumer project; further arguments go to CMake.
function(consume_project build)
  step(${CMAKE_COMMAND} -S ${SOURCE}/tests/package/consumer -B ${build}
       -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX}
       ${ARGN})
  step(${CMAKE_COMMAND} --build ${build} -j 2)
  step(${CMAKE_CTEST_COMMAND} --test-dir ${build} --output-on-failure)
  if(NOT step_output MATCHES "100% tests passed, 0 tests failed out of [46]\n")
    message(FATAL_ERROR "${step_output}")
  endif()
endfunction()

# Every way to use an installation under a prefix.
function(consume_prefix prefix)
  consume_project(${WORK}/cmake -DCMAKE_PREFIX_PATH=${prefix})
  find_program(PKG_CONFIG NAMES pkg-config pkgconf)
  if(NOT PKG_CONFIG)
    message(FATAL_ERROR "pkg-config is missing")
  endif()
  file(GLOB_RECURSE pc ${prefix}/*/sluice.pc)
  get_filename_component(folder ${pc} DIRECTORY)
  get_filename_component(libraries ${folder} DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  step(${PKG_CONFIG} --cflags sluice)
  separate_arguments(cflags UNIX_COMMAND "${step_output}")
  step(${PKG_CONFIG} --libs sluice)
  separate_arguments(shared UNIX_COMMAND "${step_output}")
  step(${PKG_CONFIG} --static --libs sluice)
  separate_arguments(static UNIX_COMMAND "${step_output}")
  set(main ${SOURCE}/tests/package/consumer/main.c)
  step(${CC} -std=c99 ${cflags} ${main} -o ${WORK}/c_shared ${shared})
  step(${CXX} -x c++ -std=c++17 ${cflags} ${main} -o ${WORK}/cc_shared -x none ${shared})
  step(${CC} -std=c99 ${cflags} ${main} -o ${WORK}/c_static -static ${static})
  step(${CXX} -x c++ -std=c++17 ${cflags} ${main} -o ${WORK}/cc_static -static -x none
       ${static})
  # libsluice_import: the shared library, and the archive with the libraries it names.
  step(${PKG_CONFIG} --cflags --libs sluice-import)
  separate_arguments(import UNIX_COMMAND "${step_output}")
  set(main ${SOURCE}/tests/package/consumer/import.c)
  step(${CC} -std=c99 ${main} -o ${WORK}/c_import ${import})
  step(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${WORK}/c_import)
  # libsluice_experimental, in place of libsluice.
  step(${PKG_CONFIG} --cflags --libs sluice-experimental)
  separate_arguments(experimental UNIX_COMMAND "${step_output}")
  set(main ${SOURCE}/tests/package/consumer/experimental.c)
  step(${CC} -std=c99 ${main} -o ${WORK}/c_experimental ${experimental})
  foreach(program c_shared cc_shared c_static cc_static c_experimental)
    step(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${WORK}/${program})
  endforeach()
endfunction()
