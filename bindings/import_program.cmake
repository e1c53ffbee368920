# SPDX-License-Identifier: Apache-2.0
# Tests a program that plans a TensorFlow Lite file for mcu-256k: it prints the figures of the
# tool, or of the C interface where MAKER is given, and refuses a file that is not a model with a
# sentence and an exit code. The program gets the file's name, or with STDIN the file as its input.
#   cmake -DSLUICE=<tool> | -DMAKER=<bindings/test_files.c> -DPROGRAM=<command;list>
#         -DMODEL=<file> -DWORK=<folder> [-DSTDIN=ON] -P import_program.cmake
cmake_minimum_required(VERSION 3.25)
file(MAKE_DIRECTORY ${WORK})
if(MAKER)
  execute_process(COMMAND ${MAKER} ${MODEL} mcu-256k ${WORK} OUTPUT_VARIABLE figures
                  COMMAND_ERROR_IS_FATAL ANY)
  list(GET figures 0 cycles)
  list(GET figures 1 read)
  list(GET figures 2 written)
else()
  execute_process(COMMAND ${SLUICE} import ${MODEL} -o ${WORK}/model.slg OUTPUT_QUIET
                  COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${SLUICE} schedule ${WORK}/model.slg --hw mcu-256k --json
                  OUTPUT_VARIABLE json COMMAND_ERROR_IS_FATAL ANY)
  string(JSON cycles GET "${json}" latency_cycles)
  string(JSON read GET "${json}" dram_read_bytes)
  string(JSON written GET "${json}" dram_write_bytes)
endif()
if(STDIN)
  set(good INPUT_FILE ${MODEL})
  set(bad INPUT_FILE ${WORK}/no_model.tflite)
else()
  set(good ${MODEL})
  set(bad ${WORK}/no_model.tflite)
endif()
execute_process(COMMAND ${PROGRAM} ${good} OUTPUT_VARIABLE output
                COMMAND_ERROR_IS_FATAL ANY)
message("${output}")
if(NOT output MATCHES
   "^${cycles} cycles, [0-9]+ pJ, ${read} bytes from DRAM and ${written} to it\n$")
  message(FATAL_ERROR "there are ${cycles} cycles, ${read} bytes read, ${written} written")
endif()
file(WRITE ${WORK}/no_model.tflite "this is no model")
execute_process(COMMAND ${PROGRAM} ${bad} OUTPUT_VARIABLE output
                ERROR_VARIABLE output RESULT_VARIABLE code)
if(NOT code EQUAL 1 OR NOT output MATCHES "bad input|unsupported")
  message(FATAL_ERROR "exit code ${code} for no model: ${output}")
endif()
