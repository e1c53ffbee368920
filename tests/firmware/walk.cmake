# SPDX-License-Identifier: Apache-2.0
# The walker on cores that firmware runs on: its size, and the same walk everywhere.
#   cmake -DSLUICE=<tool> -DSTREAM_OF=<program> -DCC=<host compiler> -DROOT=<source tree>
#         -DWORK=<folder> -P walk.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

include(${CMAKE_CURRENT_LIST_DIR}/../support/run.cmake)

set(sources ${ROOT}/firmware-sim/walker.c ${ROOT}/firmware-sim/walker_check.c)
set(flags -Os -std=c99 -ffreestanding -Wall -Wextra -Werror -I${ROOT}/firmware-sim
          -I${ROOT}/include)

# The text of both sources together, without the names of errors.
function(text_bytes prefix limit)
  set(objects)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    run(${prefix}gcc ${ARGN} ${flags} -c ${source} -o ${WORK}/${name}.o)
    list(APPEND objects ${WORK}/${name}.o)
  endforeach()
  run(${prefix}size ${objects})
  set(sum 0)
  string(REGEX MATCHALL "\n *([0-9]+)" rows "${output}")
  foreach(row ${rows})
    string(STRIP "${row}" bytes)
    math(EXPR sum "${sum} + ${bytes}")
  endforeach()
  list(JOIN ARGN " " core)
  message("${prefix}gcc ${core}: ${sum} bytes of text")
  if(sum GREATER limit OR sum LESS 1000)
    message(FATAL_ERROR "the walker is to have at most ${limit} bytes of text")
  endif()
endfunction()

# Streams to walk: a repeated body with KV patches, and one without repetition.
foreach(network gpt2_small_decode mobilenet_v1)
  run(${SLUICE} zoo ${network} -o ${WORK}/${network}.slg)
  run(${SLUICE} schedule ${WORK}/${network}.slg --hw soma-edge --solver baseline
      -o ${WORK}/${network}.slp)
  run(${STREAM_OF} ${WORK}/${network}.slp ${WORK}/${network}.sls)
  file(SIZE ${WORK}/${network}.sls bytes)
  set(${network}_image -DSLUICE_IMAGE="${WORK}/${network}.sls"
                       -DSLUICE_IMAGE_BYTES=${bytes})
  run(${CC} ${flags} ${${network}_image} -DSLUICE_HOSTED
      ${ROOT}/tests/firmware/walk_image.c ${sources} -o ${WORK}/${network}_host)
  run(${WORK}/${network}_host)
  set(${network}_walk "${output}")
  message("${network}, ${bytes} bytes of stream: ${output}")
endforeach()

function(walk_on name compiler emulator)
  foreach(network gpt2_small_decode mobilenet_v1)
    run(${compiler} ${ARGN} ${flags} ${${network}_image} -nostdlib -static
        -Wl,--build-id=none,--no-relax ${ROOT}/tests/firmware/walk_image.c ${sources} -lgcc
        -o ${WORK}/${network}_${name})
    run(${emulator} ${WORK}/${network}_${name})
    if(NOT output STREQUAL ${network}_walk)
      message(FATAL_ERROR "${network} on ${name} walked another way: ${output}")
    endif()
  endforeach()
  message("${name}: the same walks")
endfunction()

set(missing)
foreach(program arm-none-eabi-gcc riscv64-unknown-elf-gcc qemu-arm qemu-riscv32)
  find_program(found_${program} ${program})
  if(NOT found_${program})
    list(APPEND missing ${program})
  endif()
endforeach()
if(missing)
  message("skipped: ${missing} not installed (./run installs them)")
  return()
endif()
text_bytes(arm-none-eabi- 5376 -mcpu=cortex-m4 -mthumb)
text_bytes(arm-none-eabi- 5376 -mcpu=cortex-m0plus -mthumb)
text_bytes(riscv64-unknown-elf- 6272 -march=rv32imc -mabi=ilp32)
text_bytes("" 9728)
# qemu 7 runs no M-profile core in user mode; a Cortex-A15 executes their code, too.
set(arm "qemu-arm;-cpu;cortex-a15")
walk_on(cortex-m4 arm-none-eabi-gcc "${arm}" -mcpu=cortex-m4 -mthumb)
walk_on(cortex-m0 arm-none-eabi-gcc "${arm}" -mcpu=cortex-m0 -mthumb)
walk_on(rv32imc riscv64-unknown-elf-gcc qemu-riscv32 -march=rv32imc -mabi=ilp32)
