#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs fuzz targets for a while, from the committed corpus and, when they are there, the
# small models among the shared files:
#   run.sh BUILD_FOLDER [SECONDS_EACH] [TARGET]...     targets: graph hardware plan tflite
#                                                     json onnx notation csv
#   SLUICE_FUZZ_SEED=N      begins with this number (0: another one in each run)
#   run.sh BUILD_FOLDER --merge [TARGET]...
# New inputs are kept in BUILD_FOLDER/fuzz_found; --merge copies those that reach new code
# into tests/fuzz/corpus. A crash leaves its input in BUILD_FOLDER.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
shift
seconds=10
if [ $# -gt 0 ]; then
  seconds=$1
  shift
fi
[ $# -gt 0 ] || set -- graph hardware plan tflite json onnx notation csv
models=${SLUICE_SHARED:-$here/../../../shared}/models/tflite

for target in "$@"; do
  found=$build/fuzz_found/$target
  corpus=$here/corpus/$target
  mkdir -p "$found"
  fuzz="$build/tests/fuzz/fuzz_$target -rss_limit_mb=2048 -timeout=10 -verbosity=0"
  fuzz="$fuzz -seed=${SLUICE_FUZZ_SEED:-0}"
  if [ "$seconds" = --merge ]; then
    $fuzz -merge=1 -max_len=4096 "$corpus" "$found"
    continue
  fi
  seeds=""
  [ "$target" != tflite ] || echo "looks for the reference data"
  if [ "$target" = tflite ] && [ -d "$models" ]; then
    seeds=-seed_inputs=$(find "$models" -name '*.tflite' -size -64k | paste -sd, -)
  fi
  # shellcheck disable=SC2086
  $fuzz -max_total_time="$seconds" -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$build/$target-" $seeds "$found" "$corpus"
done
