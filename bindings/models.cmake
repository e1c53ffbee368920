# SPDX-License-Identifier: Apache-2.0
# What the tests of the bindings for Rust and Go work on: a descriptor, the project's own model
# and the plan that the tool makes of it, and the hash that reference kernels give for its
# outputs and seed 1. A trained model would show nothing more of a binding, and the tests would
# have to run once more without the reference data.
#   Input: SLUICE (tool), GOLDENS, WORK. Output: HARDWARE, GRAPH, PLAN, OUTPUT_HASH
file(MAKE_DIRECTORY ${WORK})

include(${CMAKE_CURRENT_LIST_DIR}/../tests/support/run.cmake)

set(HARDWARE ${WORK}/hardware.slh)
set(PLAN ${WORK}/plan.slp)
run(${SLUICE} hw soma-edge -o ${HARDWARE})
set(model residual_cnn_int8)
set(file ${CMAKE_CURRENT_LIST_DIR}/../tests/models/${model}.tflite)
set(GRAPH ${WORK}/${model}.slg)
run(${SLUICE} import ${file} -o ${GRAPH})
file(READ ${GOLDENS} goldens)
string(JSON OUTPUT_HASH GET "${goldens}" models ${model} 0 output_fnv1a)
run(${SLUICE} schedule ${GRAPH} --hw soma-edge --plan-only -o ${PLAN})
run(${SLUICE} simulate ${PLAN} --graph ${GRAPH} --hw soma-edge --functional --seed 1
    --json)
string(JSON simulated GET "${output}" functional output_fnv1a)
if(NOT simulated STREQUAL OUTPUT_HASH)
  message(FATAL_ERROR "${model}: outputs ${simulated}, the reference has ${OUTPUT_HASH}")
endif()
