# SPDX-License-Identifier: Apache-2.0
# Installs into a fresh prefix and consumes it: CMake package and pkg-config, shared and
# static, C and C++. The prefix is moved after installing: no file may remember it.
#   cmake -DBUILD=... -DSOURCE=... -DWORK=... -DNM=... -DCC=... -DCXX=...
#         -P installed.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

file(REMOVE_RECURSE ${WORK})
foreach(component lib import dev)
  step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first
       --component ${component})
endforeach()
file(RENAME ${WORK}/first ${WORK}/prefix)
consume_prefix(${WORK}/prefix)

# The walker's sources compile without other files of the project.
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/device --component firmware)
set(firmware ${WORK}/device/share/sluice/firmware)
step(${CC} -std=c99 -ffreestanding -Wall -Wextra -Werror -I${firmware} -r -nostdlib
     ${firmware}/walker.c ${firmware}/walker_check.c ${firmware}/walker_names.c
     -o ${WORK}/walker.o)
# So do the lowerings, with the walker; what tiles cost needs the library's header.
foreach(target vta gemmini)
  set(lowering ${firmware}/bindings/targets)
  file(GLOB sources ${lowering}/${target}/*.c)
  file(GLOB costs ${lowering}/${target}/*_cost.c)
  list(REMOVE_ITEM sources ${costs})
  step(${CC} -std=c99 -Wall -Wextra -Werror -I${firmware} -r -nostdlib ${sources}
       ${lowering}/sluice_target.c ${firmware}/walker.c -o ${WORK}/${target}.o)
  step(${CC} -std=c99 -Wall -Wextra -Werror -I${firmware} -I${WORK}/prefix/include -r
       -nostdlib ${costs} -o ${WORK}/${target}_cost.o)
  step(${NM} --defined-only ${WORK}/${target}.o)
  if(NOT step_output MATCHES " T sluice_${target}_lower\n")
    message(FATAL_ERROR "no sluice_${target}_lower in what was installed")
  endif()
endforeach()

# The archive has one object, and every global name in it is sluice's.
file(GLOB_RECURSE archive ${WORK}/prefix/*/libsluice.a)
step(${NM} --defined-only --extern-only ${archive})
string(REGEX MATCHALL "[^\n]+ [A-Za-z] [^\n]+" symbols "${step_output}")
list(LENGTH symbols count)
list(FILTER symbols EXCLUDE REGEX " T sluice_[a-z_]+$")
string(REGEX MATCHALL "\\.o:" objects "${step_output}")
list(LENGTH objects object_count)
if(symbols OR count LESS 20 OR NOT object_count EQUAL 1)
  message(FATAL_ERROR "libsluice.a: ${object_count} objects, ${count} globals, not ours: "
                      "${symbols}")
endif()

# No installed text names the folder in which it was built.
file(GLOB_RECURSE texts ${WORK}/prefix/*.cmake ${WORK}/prefix/*.pc)
foreach(text ${texts})
  file(READ ${text} content)
  string(FIND "${content}" "${BUILD}" at_build)
  string(FIND "${content}" "${WORK}" at_work)
  if(NOT at_build EQUAL -1 OR NOT at_work EQUAL -1)
    message(FATAL_ERROR "${text} names a folder of the build")
  endif()
endforeach()
message("installed, moved and consumed; ${count} globals in libsluice.a")
