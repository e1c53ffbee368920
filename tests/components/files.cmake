# SPDX-License-Identifier: Apache-2.0
# A network and a machine.
#   cmake -DTOOL=sluice -DFOLDER=<to write to> -P files.cmake
foreach(arguments "zoo;mobilenet_v1;-o;net.slg" "hw;soma-edge;-o;plain.slh")
  execute_process(COMMAND ${TOOL} ${arguments} WORKING_DIRECTORY ${FOLDER}
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
