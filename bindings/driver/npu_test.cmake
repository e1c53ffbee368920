# SPDX-License-Identifier: Apache-2.0
# Runs models through the driver; outputs must equal those of TFLite's reference kernels. One
# model comes with the project.
#   cmake -DMAKER=<test_files.c> -DDRIVER=<npu_test> -DGOLDENS=tflite.json -DSHARED=<folder>
#         -DWORK=<folder> -P npu_test.cmake
cmake_minimum_required(VERSION 3.25)
if(DEFINED ENV{SLUICE_SHARED})
  set(SHARED $ENV{SLUICE_SHARED})
endif()
file(MAKE_DIRECTORY ${WORK})

include(${CMAKE_CURRENT_LIST_DIR}/../../tests/support/run.cmake)

file(READ ${GOLDENS} goldens)
set(models)
foreach(model residual_cnn_int8 kws_ref_model_int8 person_detect_int8 resnet8_cifar10_int8)
  set(file ${CMAKE_CURRENT_LIST_DIR}/../../tests/models/${model}.tflite)
  if(NOT EXISTS ${file})
    set(file ${SHARED}/models/tflite/${model}.tflite)
  endif()
  if(EXISTS ${file})
    file(MAKE_DIRECTORY ${WORK}/${model})
    run(${MAKER} ${file} soma-edge ${WORK}/${model})
    string(JSON hash GET "${goldens}" models ${model} 0 output_fnv1a)
    list(APPEND models ${WORK}/${model}/graph.slg ${hash})
  else()
    message("skipped in part: ${file} is not there")
  endif()
endforeach()
run(${DRIVER} ${WORK}/residual_cnn_int8/hardware.slh 1 ${models})
message("${output}")
