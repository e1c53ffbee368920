# SPDX-License-Identifier: Apache-2.0
# One real model, one chip, from file to executed bytes:
#   import -> schedule -> verify -> simulate --functional with three seeds -> plot
# The output hashes must be those that TFLite's reference kernels gave (tflite.json) and
# the simulated cycles those predicted. Budgets: all of the scratchpad, and with SHRINK
# also quarters of it down to 1 KiB, and the smallest one that the tool says is feasible.
#
# cmake -DSLUICE=... -DMODEL=name -DHARDWARE=name -DGOLDENS=tflite.json
#       -DSHARED=folder -DWORK=folder [-DSHRINK=ON] -P end_to_end.cmake
if(DEFINED ENV{SLUICE_SHARED})
  set(SHARED $ENV{SLUICE_SHARED})
endif()
set(file ${SHARED}/models/tflite/${MODEL}.tflite)
if(NOT EXISTS ${file})
  message("skipped: ${file} is not there")
  return()
endif()
file(MAKE_DIRECTORY ${WORK})
set(graph ${WORK}/${MODEL}.slg)
set(plan ${WORK}/${MODEL}.slp)

# sluice(ARGUMENTS...): runs the tool, its exit code in `code`, its output in `out`.
macro(sluice)
  execute_process(COMMAND ${SLUICE} ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out
                  ERROR_VARIABLE err)
endmacro()

function(expect_done what)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${MODEL} on ${HARDWARE}: ${what} ended with ${code}\n"
                        "${out}${err}")
  endif()
endfunction()

# Everything behind `schedule` for one budget; `seeds` are run.
function(check_budget budget seeds)
  sluice(schedule ${graph} --hw ${HARDWARE} --budget ${budget} -o ${plan} --json)
  expect_done("schedule --budget ${budget}")
  string(JSON peak GET "${out}" peak_buffer_bytes)
  string(JSON latency GET "${out}" latency_cycles)
  if(peak GREATER budget)
    message(FATAL_ERROR "${MODEL}: peak ${peak} above the budget of ${budget}")
  endif()
  sluice(verify ${plan} --graph ${graph} --hw ${HARDWARE} --json)
  expect_done("verify at ${budget}")
  foreach(seed ${seeds})
    sluice(simulate ${plan} --graph ${graph} --hw ${HARDWARE} --functional
           --seed ${seed} --json)
    expect_done("simulate at ${budget}, seed ${seed}")
    string(JSON cycles GET "${out}" cycles)
    string(JSON predicted GET "${out}" predicted_cycles)
    string(JSON hash GET "${out}" functional output_fnv1a)
    string(JSON compared GET "${out}" functional compared_bytes)
    math(EXPR index "${seed} - 1")
    string(JSON want GET "${goldens}" models ${MODEL} ${index} output_fnv1a)
    string(JSON want_bytes GET "${goldens}" models ${MODEL} ${index} bytes)
    if(NOT cycles EQUAL predicted OR NOT cycles EQUAL latency)
      message(FATAL_ERROR "${MODEL} at ${budget}: ${cycles} cycles simulated, "
                          "${predicted} predicted, ${latency} reported")
    endif()
    if(NOT hash STREQUAL want OR NOT compared EQUAL want_bytes)
      message(FATAL_ERROR "${MODEL} at ${budget}, seed ${seed}: ${compared} bytes of "
                          "hash ${hash}; the interpreter gave ${want_bytes} of ${want}")
    endif()
  endforeach()
  message("${MODEL} on ${HARDWARE} in ${budget} bytes: ${latency} cycles, equal bytes")
endfunction()

file(READ ${GOLDENS} goldens)
sluice(import ${file} -o ${graph} --json)
expect_done("import")
sluice(hw ${HARDWARE})
expect_done("hw")
string(JSON level GET "${out}" scratchpad_level)
string(JSON capacity GET "${out}" levels ${level} capacity_bytes)
check_budget(${capacity} "1;2;3")

# Pictures: the same bytes twice; a plan that is no plan is not drawn.
foreach(copy 1 2)
  sluice(plot ${plan} --graph ${graph} --hw ${HARDWARE} -o ${WORK}/${copy}.svg --json)
  expect_done("plot")
  file(SHA256 ${WORK}/${copy}.svg picture_${copy})
endforeach()
if(NOT picture_1 STREQUAL picture_2)
  message(FATAL_ERROR "${MODEL}: two pictures of one plan differ")
endif()
sluice(plot ${graph} --graph ${graph} --hw ${HARDWARE} -o ${WORK}/none.svg)
if(NOT code EQUAL 2 OR EXISTS ${WORK}/none.svg)
  message(FATAL_ERROR "${MODEL}: plotting a graph as a plan gave ${code}")
endif()

if(SHRINK)
  sluice(schedule ${graph} --hw ${HARDWARE} --budget 16 --json)
  if(NOT code EQUAL 1)
    message(FATAL_ERROR "${MODEL}: 16 bytes of scratchpad gave ${code}, not 1\n${out}")
  endif()
  string(JSON smallest GET "${out}" error smallest_scratchpad_bytes)
  string(JSON layer GET "${out}" error layer)
  math(EXPR budget "${capacity} / 4")
  while(budget GREATER smallest AND budget GREATER 1000)
    check_budget(${budget} 1)
    math(EXPR budget "${budget} / 4")
  endwhile()
  check_budget(${smallest} 2)
  math(EXPR below "${smallest} - 1")
  sluice(schedule ${graph} --hw ${HARDWARE} --budget ${below} --json)
  if(NOT code EQUAL 1)
    message(FATAL_ERROR "${MODEL}: ${below} bytes, one below the smallest, gave ${code}")
  endif()
endif()
