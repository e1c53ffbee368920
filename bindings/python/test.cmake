# SPDX-License-Identifier: Apache-2.0
# The package's tests, on the library of this build laid out as an installed package.
#   cmake -DPYTHON=.. -DSITE=<packages> -DSOURCE=bindings/python -DLIBRARY=<_sluice.so>
#         -DDECLARATIONS=<_c.py> -DPACKAGE=<folder> -DSLUICE=<tool> -DROOT=.. -P test.cmake
cmake_minimum_required(VERSION 3.25)
if(NOT EXISTS ${SITE}/pytest)
  message("skipped: without pytest and numpy (bindings/python/fetch.py brings them)")
  return()
endif()
file(REMOVE_RECURSE ${PACKAGE})
file(COPY ${SOURCE}/sluice DESTINATION ${PACKAGE} PATTERN __pycache__ EXCLUDE)
file(COPY ${DECLARATIONS} ${LIBRARY} DESTINATION ${PACKAGE}/sluice)
set(ENV{PYTHONPATH} ${PACKAGE}:${SITE})
set(ENV{PYTHONDONTWRITEBYTECODE} 1)
set(ENV{MPLBACKEND} Agg)
set(ENV{SLUICE_TOOL} ${SLUICE})
set(ENV{SLUICE_ROOT} ${ROOT})
# A test that hangs shows where after two minutes, and what was printed is told.
execute_process(COMMAND ${PYTHON} -m pytest -v -p no:cacheprovider -rs
                        -o faulthandler_timeout=120 ${SOURCE}/tests
                TIMEOUT 560
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(REGEX REPLACE "\nSKIPPED \\[[0-9]+\\] ([^\n]*)" "\nskipped in part: \\1" output
                     "${output}")
message("${output}")
if(result)
  message(FATAL_ERROR "the package's tests fail")
endif()
