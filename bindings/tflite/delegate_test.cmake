# SPDX-License-Identifier: Apache-2.0
# One part of delegate_test.py, or example.py, in the Python interpreter; with sanitizers the
# delegate's leaks and errors are failures. Python itself is not instrumented and keeps what
# it has: only reports that name the delegate count.
#   cmake -DPART= -DDELEGATE= -DDEVICE= -DPYTHON=<packages> -DROOT= -DSHARED= -DWORK=
#         -DRUNTIME=<shared address sanitizer, or nothing> -P delegate_test.cmake
cmake_minimum_required(VERSION 3.25)
if(NOT EXISTS ${PYTHON}/ai_edge_litert)
  message("skipped: the interpreter of TensorFlow Lite is not there "
          "(bindings/tflite/fetch.py brings it)")
  return()
endif()
find_program(python python3 REQUIRED)
set(ENV{PYTHONPATH} ${PYTHON})
set(ENV{PYTHONDONTWRITEBYTECODE} 1)
execute_process(COMMAND ${python} -c "import ai_edge_litert.interpreter, tflite"
                RESULT_VARIABLE result ERROR_VARIABLE why)
if(result)
  message("skipped: the interpreter of TensorFlow Lite does not load here: ${why}")
  return()
endif()
file(MAKE_DIRECTORY ${WORK})
set(invocations 100)
set(sizes 8)
if(RUNTIME)
  set(invocations 8)
  set(sizes 2)
  set(ENV{LD_PRELOAD} ${RUNTIME})
  # No symbolizer: its process would keep the pipe below open, and module names are enough.
  # The distribution's flatbuffers takes memory by another library's operator new here, which
  # is not the run-time library's and calls malloc.
  set(ENV{ASAN_OPTIONS} detect_leaks=1:symbolize=0:alloc_dealloc_mismatch=0)
  set(ENV{UBSAN_OPTIONS} symbolize=0)
  set(ENV{LSAN_OPTIONS} exitcode=0:symbolize=0)
  set(ENV{PYTHONMALLOC} malloc)
endif()
if(PART STREQUAL "install")
  # Installs into a fresh prefix and moves it, so that no absolute path may remain. The example
  # and a vendor's library use only this prefix.
  set(WORK ${WORK}/installed)
  set(made ${WORK}/made)
  file(REMOVE_RECURSE ${WORK})
  foreach(component delegate dev)
    execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first
                            --component ${component}
                    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  file(RENAME ${WORK}/first ${made})
  file(GLOB_RECURSE DELEGATE ${made}/*/libsluice_delegate.so)
  execute_process(COMMAND ${CC} -std=c99 -Wall -Wextra -Werror -shared -fPIC
                          -I${made}/include -I${made}/include/sluice/device
                          ${ROOT}/bindings/tflite/absent_device.c -o ${WORK}/libabsent.so
                  COMMAND_ERROR_IS_FATAL ANY)
  set(DEVICE ${WORK}/libabsent.so)
endif()
if(PART MATCHES "example|install")
  file(COPY_FILE ${ROOT}/tests/models/residual_cnn_int8.tflite ${WORK}/model.tflite)
  file(COPY_FILE ${DELEGATE} ${WORK}/libsluice_delegate.so)
  execute_process(COMMAND ${python} ${ROOT}/bindings/tflite/example.py
                  WORKING_DIRECTORY ${WORK} RESULT_VARIABLE result
                  ERROR_VARIABLE errors)
  message("${errors}")
  if(NOT result EQUAL 0 OR NOT errors MATCHES "13 of 13 nodes in 1 parts")
    message(FATAL_ERROR "${result}")
  endif()
  if(PART STREQUAL "example")
    return()
  endif()
endif()
execute_process(
  COMMAND ${python} ${ROOT}/bindings/tflite/delegate_test.py ${PART}
          ${ROOT}/tests/models/residual_cnn_int8.tflite --delegate ${DELEGATE}
          --device ${DEVICE} --goldens ${ROOT}/tests/goldens --shared "${SHARED}"
          --table ${ROOT}/bindings/tflite/delegated.txt --work ${WORK}
          --descriptor ${ROOT}/src/presets/mcu-256k.json
          --open-batch ${ROOT}/bindings/tflite/open_batch_int8.tflite
          --invocations ${invocations} --sizes ${sizes}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
message("${output}")
if(NOT result EQUAL 0 OR NOT output MATCHES "all well")
  message(FATAL_ERROR "${result}: ${errors}")
endif()
if(RUNTIME AND errors MATCHES "libsluice_(delegate|faulty)")
  message(FATAL_ERROR "${errors}")
endif()
