# SPDX-License-Identifier: Apache-2.0
# What the tests of the bindings work on: a descriptor, a real model and the plan the tool
# (C and C++) makes of it, the hash of its outputs for seed 1 by reference kernels. Without
# the model, a network with seeded weights and the simulator's untiled run.
#   Input: SLUICE (tool), GOLDENS, SHARED, WORK. Output: HARDWARE, GRAPH, PLAN, OUTPUT_HASH
if(DEFINED ENV{SLUICE_SHARED})
  set(SHARED $ENV{SLUICE_SHARED})
endif()
file(MAKE_DIRECTORY ${WORK})

include(${CMAKE_CURRENT_LIST_DIR}/../tests/support/run.cmake)

set(HARDWARE ${WORK}/hardware.slh)
set(PLAN ${WORK}/plan.slp)
run(${SLUICE} hw soma-edge -o ${HARDWARE})
set(model resnet8_cifar10_int8)
set(file ${SHARED}/models/tflite/${model}.tflite)
if(EXISTS ${file})
  set(GRAPH ${WORK}/${model}.slg)
  run(${SLUICE} import ${file} -o ${GRAPH})
  file(READ ${GOLDENS} goldens)
  string(JSON OUTPUT_HASH GET "${goldens}" models ${model} 0 output_fnv1a)
else()
  message("skipped: ${file} is not there; mobilenet_v1 with seeded weights instead")
  set(GRAPH ${WORK}/mobilenet_v1.slg)
  run(${SLUICE} zoo mobilenet_v1 -o ${GRAPH})
endif()
run(${SLUICE} schedule ${GRAPH} --hw soma-edge -o ${PLAN})
run(${SLUICE} simulate ${PLAN} --graph ${GRAPH} --hw soma-edge --functional --seed 1
    --json)
string(JSON simulated GET "${output}" functional output_fnv1a)
if(NOT DEFINED OUTPUT_HASH)
  set(OUTPUT_HASH ${simulated})
elseif(NOT simulated STREQUAL OUTPUT_HASH)
  message(FATAL_ERROR "${model}: outputs ${simulated}, the reference has ${OUTPUT_HASH}")
endif()
