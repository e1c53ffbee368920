#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the library again with ThreadSanitizer, and runs many_contexts on it. Parts whose
# functions many_contexts does not call are left out, and at the link what refers to them.
#
#   tsan.sh SOURCE WORK FLATC FLATBUFFERS_INCLUDE GRAPH HARDWARE
#
# Says "skipped" and exits with 77 where there is no ThreadSanitizer.
set -eu
source=$1 work=$2 flatc=$3 flatbuffers=$4 graph=$5 hardware=$6
mkdir -p "$work/include"
ln -sfn "$flatbuffers/flatbuffers" "$work/include/flatbuffers"
: >"$work/include/FlatbuffersConfig.cmake"

echo 'int main(void) { return 0; }' >"$work/probe.c"
# Some kernels place memory where ThreadSanitizer does not expect it.
fixed="setarch $(uname -m) -R"
$fixed true 2>/dev/null || fixed=""
if ! cc -fsanitize=thread "$work/probe.c" -o "$work/probe" 2>/dev/null ||
  ! $fixed "$work/probe" 2>/dev/null; then
  echo "skipped: no ThreadSanitizer"
  exit 77
fi
if ! { cmake -S "$source" -B "$work/build" -G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=Variant \
  -DCMAKE_CXX_COMPILER_LAUNCHER="${SLUICE_LAUNCHER:-}" \
  -DCMAKE_CXX_FLAGS="-O1 -g1 -fsanitize=thread -Wno-error -isystem $work/include" \
  -DCMAKE_C_FLAGS="-O1 -g1 -fsanitize=thread" \
  -DSLUICE_BUILD_CLI=OFF -DSLUICE_BUILD_IMPORT=OFF -DSLUICE_BUILD_TESTS=OFF \
  -DSLUICE_WITH_MESH=OFF -DSLUICE_WITH_MAPPERS=OFF -DSLUICE_WITH_OPERATORS=OFF \
  -DSLUICE_WITH_COSCHEDULE=OFF -DSLUICE_WITH_TOKENS=OFF \
  -DSLUICE_JOINED=ON -DSLUICE_FLATC="$flatc" \
  -DFlatbuffers_DIR="$work/include" &&
  cmake --build "$work/build" --target sluice_static &&
  cc -std=c99 -D_POSIX_C_SOURCE=200809L -O1 -g1 -fsanitize=thread \
    -I"$source/include" "$source/tests/threads/many_contexts.c" \
    -Wl,--gc-sections "$work/build/src/libsluice_rooms.a" -lpthread -o "$work/many_contexts"; } \
  >"$work/log" 2>&1; then
  tail -30 "$work/log"
  exit 6
fi
TSAN_OPTIONS="halt_on_error=1 exitcode=66" $fixed "$work/many_contexts" "$graph" "$hardware"
