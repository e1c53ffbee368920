# SPDX-License-Identifier: Apache-2.0
# Runs models through the driver; outputs must equal those of TFLite's reference kernels. One
# model comes with the project.
#   cmake -DSLUICE=<tool> -DDRIVER=<npu_test> -DGOLDENS=tflite.json -DSHARED=<folder>
#         -DWORK=<folder> -P npu_test.cmake
cmake_minimum_required(VERSION 3.25)
if(DEFINED ENV{SLUICE_SHARED})
  set(SHARED $ENV{SLUICE_SHARED})
endif()
file(MAKE_DIRECTORY ${WORK})

include(${CMAKE_CURRENT_LIST_DIR}/../../tests/support/run.cmake)

file(READ ${GOLDENS} goldens)
run(${SLUICE} hw soma-edge -o ${WORK}/hardware.slh)
set(models)
foreach(model residual_cnn_int8 kws_ref_model_int8 person_detect_int8 resnet8_cifar10_int8)
  set(file ${CMAKE_CURRENT_LIST_DIR}/../../tests/models/${model}.tflite)
  if(NOT EXISTS ${file})
    set(file ${SHARED}/models/tflite/${model}.tflite)
  endif()
  if(EXISTS ${file})
    run(${SLUICE} import ${file} -o ${WORK}/${model}.slg)
    string(JSON hash GET "${goldens}" models ${model} 0 output_fnv1a)
    list(APPEND models ${WORK}/${model}.slg ${hash})
  else()
    message("skipped in part: ${file} is not there")
  endif()
endforeach()
run(${DRIVER} ${WORK}/hardware.slh 1 ${models})
message("${output}")
