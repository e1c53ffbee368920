# SPDX-License-Identifier: Apache-2.0
# Draws the demo's plan and compares it with the picture of the README.
#   cmake -DSLUICE=<tool> -DMODEL=<tflite> -DPICTURE=<svg> -DWORK=<folder> -P picture.cmake
cmake_minimum_required(VERSION 3.25)
file(MAKE_DIRECTORY ${WORK})
get_filename_component(name ${MODEL} NAME_WE)
set(graph ${WORK}/${name}.slg)
set(plan ${WORK}/${name}.slp)
foreach(command "import;${MODEL};-o;${graph}"
                "schedule;${graph};--hw;mcu-256k;-o;${plan}"
                "plot;${plan};--graph;${graph};--hw;mcu-256k;--width;960;-o;${WORK}/plan.svg")
  execute_process(COMMAND ${SLUICE} ${command} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${WORK}/plan.svg ${PICTURE}
                RESULT_VARIABLE different)
if(different)
  message(FATAL_ERROR "the demo's plan looks different now; if it is meant to, copy "
                      "${WORK}/plan.svg to ${PICTURE}")
endif()
