# SPDX-License-Identifier: Apache-2.0
# A network and three machines.
#   cmake -DTOOL=sluice -DFOLDER=<to write to> -P files.cmake
foreach(arguments "zoo;mobilenet_v1;-o;net.slg" "hw;soma-edge;-o;plain.slh"
                  "hw;eyeriss-like;-o;mapped.slh" "hw;kapla-4x4;-o;mesh.slh")
  execute_process(COMMAND ${TOOL} ${arguments} WORKING_DIRECTORY ${FOLDER}
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
