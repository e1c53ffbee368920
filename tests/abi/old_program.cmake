# SPDX-License-Identifier: Apache-2.0
#   cmake -DSLUICE=<tool> -DPROGRAM=<old_program> -DWORK=<folder> -P old_program.cmake
cmake_minimum_required(VERSION 3.25)
file(MAKE_DIRECTORY ${WORK})
foreach(command "zoo;mobilenet_v1;-o;${WORK}/graph.slg"
                "hw;mcu-256k;-o;${WORK}/hardware.slh")
  execute_process(COMMAND ${SLUICE} ${command} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ${PROGRAM} ${WORK}/graph.slg ${WORK}/hardware.slh
                COMMAND_ERROR_IS_FATAL ANY)
