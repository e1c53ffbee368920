# SPDX-License-Identifier: Apache-2.0
# The documentation as a site, with the docstrings of this build's package.
#   cmake -DPYTHON=.. -DSITE=<packages> -DSOURCE=bindings/python -DLIBRARY=<_sluice.so>
#         -DDECLARATIONS=<_c.py> -DPACKAGE=<folder> -DROOT=.. -DOUTPUT=<folder> -P site.cmake
cmake_minimum_required(VERSION 3.25)
if(NOT EXISTS ${SITE}/sphinx OR NOT EXISTS ${SITE}/myst_parser)
  message("skipped: without sphinx and myst-parser (bindings/python/fetch.py brings them)")
  return()
endif()
file(REMOVE_RECURSE ${PACKAGE})
file(COPY ${SOURCE}/sluice DESTINATION ${PACKAGE} PATTERN __pycache__ EXCLUDE)
file(COPY ${DECLARATIONS} ${LIBRARY} DESTINATION ${PACKAGE}/sluice)
set(ENV{PYTHONPATH} ${PACKAGE}:${SITE})
set(ENV{PYTHONDONTWRITEBYTECODE} 1)
execute_process(COMMAND ${PYTHON} ${ROOT}/bindings/guides/site.py ${OUTPUT}
                RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "the site is not in order")
endif()
