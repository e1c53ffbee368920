#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the functional models of Gemmini and VTA that their makers publish, for the tests to
# run streams on them too. Nothing of theirs is part of this project.
#
# Input    SLUICE_GEMMINI_SOURCE: a checkout of github.com/ucb-bar/libgemmini;
#          SLUICE_VTA_SOURCE: one of github.com/apache/tvm-vta. One of them suffices
# Output   FOLDER/gemmini.so, FOLDER/vta.so; what to set for the tests
# Usage    tests/targets/foreign/build.sh FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: build.sh FOLDER}
mkdir -p "$out/include/riscv" "$out/include/tvm/runtime"
out=$(cd "$out" && pwd)
compile="${CXX:-c++} -std=c++17 -O2 -w -shared -fPIC -I$out/include"
if [ -n "${SLUICE_GEMMINI_SOURCE:-}" ]; then
  for header in extension rocc mmu trap; do
    cp "$here/spike.h" "$out/include/riscv/$header.h"
  done
  $compile -I"$SLUICE_GEMMINI_SOURCE" -o "$out/gemmini.so" "$here/gemmini_adapter.cc"
  echo "export SLUICE_FOREIGN_GEMMINI=$out/gemmini.so"
fi
if [ -n "${SLUICE_VTA_SOURCE:-}" ]; then
  cp "$here/tvm.h" "$out/include/tvm/runtime/registry.h"
  # The default configuration (vta_config.json), as its build passes it.
  $compile -I"$SLUICE_VTA_SOURCE" -I"$SLUICE_VTA_SOURCE/include" -DVTA_TARGET_SIM \
    -DVTA_LOG_INP_WIDTH=3 -DVTA_LOG_WGT_WIDTH=3 -DVTA_LOG_ACC_WIDTH=5 \
    -DVTA_LOG_OUT_WIDTH=3 -DVTA_LOG_BATCH=0 -DVTA_LOG_BLOCK=4 -DVTA_LOG_BLOCK_IN=4 \
    -DVTA_LOG_BLOCK_OUT=4 -DVTA_LOG_UOP_BUFF_SIZE=15 -DVTA_LOG_INP_BUFF_SIZE=15 \
    -DVTA_LOG_WGT_BUFF_SIZE=18 -DVTA_LOG_ACC_BUFF_SIZE=17 -DVTA_LOG_OUT_BUFF_SIZE=15 \
    -DVTA_LOG_BUS_WIDTH=6 -o "$out/vta.so" "$here/vta_adapter.cc"
  echo "export SLUICE_FOREIGN_VTA=$out/vta.so"
fi
