# SPDX-License-Identifier: Apache-2.0
# What the tests of the bindings for Rust and Go work on: a descriptor, the project's own model
# and the plan that the C interface makes of it, and the hash that reference kernels give for its
# outputs and seed 1. A trained model would show nothing more of a binding, and the tests would
# have to run once more without the reference data.
#   Input: MAKER (bindings/test_files.c), GOLDENS, WORK.
#   Output: HARDWARE, GRAPH, PLAN, OUTPUT_HASH
file(MAKE_DIRECTORY ${WORK})

include(${CMAKE_CURRENT_LIST_DIR}/../tests/support/run.cmake)

set(HARDWARE ${WORK}/hardware.slh)
set(GRAPH ${WORK}/graph.slg)
set(PLAN ${WORK}/plan.slp)
set(model residual_cnn_int8)
run(${MAKER} ${CMAKE_CURRENT_LIST_DIR}/../tests/models/${model}.tflite soma-edge ${WORK})
file(READ ${GOLDENS} goldens)
string(JSON OUTPUT_HASH GET "${goldens}" models ${model} 0 output_fnv1a)
