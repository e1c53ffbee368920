# SPDX-License-Identifier: Apache-2.0
# Runs the example on a real model: from the same graph and descriptor the tool must make a
# plan with the same bytes.
#   cmake -DSLUICE=<tool> -DEXAMPLE=<example> -DSHARED=<folder> -DWORK=<folder>
#         -P example.cmake
cmake_minimum_required(VERSION 3.25)
if(DEFINED ENV{SLUICE_SHARED})
  set(SHARED $ENV{SLUICE_SHARED})
endif()
file(MAKE_DIRECTORY ${WORK})

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(model ${SHARED}/models/tflite/kws_ref_model_int8.tflite)
if(NOT EXISTS ${model})
  set(model ${CMAKE_CURRENT_LIST_DIR}/../../tests/models/residual_cnn_int8.tflite)
endif()
run(${SLUICE} import ${model} -o ${WORK}/model.slg)
run(${EXAMPLE} ${WORK}/model.slg ${WORK}/machine.slh ${WORK}/plan.slp)
run(${SLUICE} verify ${WORK}/plan.slp --graph ${WORK}/model.slg --hw ${WORK}/machine.slh)
run(${SLUICE} simulate ${WORK}/plan.slp --graph ${WORK}/model.slg
    --hw ${WORK}/machine.slh --functional)
run(${SLUICE} schedule ${WORK}/model.slg --hw ${WORK}/machine.slh --iterations 50
    --seed 7 --plan-only -o ${WORK}/tool.slp)
run(${CMAKE_COMMAND} -E compare_files ${WORK}/plan.slp ${WORK}/tool.slp)
