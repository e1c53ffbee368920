# SPDX-License-Identifier: Apache-2.0
# run(COMMAND...): sets `output` to its standard output; a command that fails ends the
# test.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\n${result}: ${output}${errors}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()
